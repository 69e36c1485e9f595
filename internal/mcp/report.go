package mcp

import "fmt"

// Report is the state of a server for scripts.
type Report struct {
	Name      string     `json:"name"`
	Type      string     `json:"type"`
	Target    string     `json:"target"`
	File      string     `json:"file"`
	State     State      `json:"state"`
	Error     string     `json:"error,omitempty"`
	Program   string     `json:"program,omitempty"`
	Protocol  string     `json:"protocol,omitempty"`
	Tools     []ToolInfo `json:"tools"`
	Skipped   []string   `json:"skipped,omitempty"`
	Prompts   []Prompt   `json:"prompts,omitempty"`
	Resources []Resource `json:"resources,omitempty"`
}

// Report makes the report of one server.
func (s Status) Report() Report {
	return Report{
		Name:      s.Server.Name,
		Type:      s.Server.Type,
		Target:    s.Server.Target(),
		File:      fmt.Sprintf("%s:%d", s.Server.File, s.Server.Line),
		State:     s.State,
		Error:     s.Error,
		Program:   s.Program,
		Protocol:  s.Protocol,
		Tools:     append([]ToolInfo{}, s.Tools...),
		Skipped:   s.Skipped,
		Prompts:   s.Prompts,
		Resources: s.Resources,
	}
}

// Reports makes the reports of all servers; the list is never nil.
func (h *Hub) Reports() []Report {
	list := h.Status()
	out := make([]Report, len(list))
	for i, s := range list {
		out[i] = s.Report()
	}
	return out
}

// Unreachable reports whether a server should answer and does not.
func (s Status) Unreachable() bool { return s.State != Connected && s.State != Disabled }
