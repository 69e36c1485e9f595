// Package todo is the list of steps the model keeps while it works. It is state
// only; the tools that change it are in package tools.
package todo

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Status of an item.
type Status string

// The states an item can be in.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
)

// Item is one step.
type Item struct {
	Content string `json:"content"`
	Status  Status `json:"status"`
}

// List is a todo list. The zero value is empty and ready for use; a List may be
// used by several goroutines.
type List struct {
	mu      sync.Mutex
	summary string
	items   []Item
}

// Counts is how many items a list has, by state.
type Counts struct{ Pending, InProgress, Completed, Total int }

// Replace sets the whole list.
func (l *List) Replace(summary string, items []Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.summary, l.items = summary, slices.Clone(items)
}

// Snapshot returns a copy of the summary and the items.
func (l *List) Snapshot() (string, []Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.summary, slices.Clone(l.items)
}

// Update sets the status of the item with the given index, counted from 1.
func (l *List) Update(index int, status Status) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if index < 1 || index > len(l.items) {
		return fmt.Errorf("todo %d does not exist: the list has %d items, numbered from 1", index, len(l.items))
	}
	if !slices.Contains([]Status{Pending, InProgress, Completed}, status) {
		return fmt.Errorf("todo %d: status %q is not one of pending, in_progress, completed", index, status)
	}
	l.items[index-1].Status = status
	return nil
}

// Counts counts the items.
func (l *List) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := Counts{Total: len(l.items)}
	for _, it := range l.items {
		switch it.Status {
		case Completed:
			c.Completed++
		case InProgress:
			c.InProgress++
		default:
			c.Pending++
		}
	}
	return c
}

// String renders the list for the model and the user; empty for an empty list.
func (l *List) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.items) == 0 {
		return ""
	}
	mark := map[Status]string{Pending: "[ ]", InProgress: "[>]", Completed: "[x]"}
	var b strings.Builder
	if l.summary != "" {
		b.WriteString(l.summary + "\n")
	}
	for i, it := range l.items {
		fmt.Fprintf(&b, "%d. %s %s\n", i+1, mark[it.Status], it.Content)
	}
	return strings.TrimRight(b.String(), "\n")
}
