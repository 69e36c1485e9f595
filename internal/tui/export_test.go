package tui

import tea "charm.land/bubbletea/v2"

// SetHook lets a test see every message before the model does.
func SetHook(u *UI, f func(tea.Msg)) { u.hook = f }

// Keys lists the keys and what they do.
func Keys() (list [][2]string) {
	for _, k := range keys {
		list = append(list, [2]string{k.key, k.does})
	}
	return list
}
