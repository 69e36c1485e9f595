package tui

import tea "charm.land/bubbletea/v2"

// SetFilter lets a test see every message before the model does.
func SetFilter(u *UI, f func(tea.Model, tea.Msg) tea.Msg) { u.filter = f }
