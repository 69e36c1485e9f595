package google

import (
	"encoding/json"
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

// request is the body of :streamGenerateContent.
type request struct {
	System     *content  `json:"systemInstruction,omitempty"`
	Contents   []content `json:"contents"`
	Tools      []tools   `json:"tools,omitempty"`
	Generation config    `json:"generationConfig"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// part is any part of a content; exactly one of its data fields is set.
type part struct {
	Text      *string   `json:"text,omitempty"`
	Inline    *inline   `json:"inlineData,omitempty"`
	Call      *call     `json:"functionCall,omitempty"`
	Response  *response `json:"functionResponse,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
}

type inline struct {
	MimeType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

type call struct {
	ID   string         `json:"id,omitempty"`
	Name string         `json:"name"`
	Args map[string]any `json:"args"`
}

type response struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type config struct {
	Temperature      *float64  `json:"temperature,omitempty"`
	TopP             *float64  `json:"topP,omitempty"`
	TopK             *int      `json:"topK,omitempty"`
	FrequencyPenalty *float64  `json:"frequencyPenalty,omitempty"`
	PresencePenalty  *float64  `json:"presencePenalty,omitempty"`
	MaxOutputTokens  int       `json:"maxOutputTokens,omitempty"`
	Stop             []string  `json:"stopSequences,omitempty"`
	Seed             *int      `json:"seed,omitempty"`
	Thinking         *thinking `json:"thinkingConfig,omitempty"`
}

const (
	user  = "user"
	model = "model"

	// unsigned stands for the signature of a call that another model made, or an
	// injection. Gemini 3 refuses calls of the running turn that have none.
	unsigned = "skip_thought_signature_validator"
)

// encode translates a request.
func encode(req *provider.Request) *request {
	g := &req.Generation
	out := &request{
		Contents: contents(req.Messages, generation(req.Model) >= 3),
		Generation: config{
			Temperature: g.Temperature, TopP: g.TopP, TopK: g.TopK,
			FrequencyPenalty: g.FrequencyPenalty, PresencePenalty: g.PresencePenalty,
			MaxOutputTokens: g.MaxOutputTokens, Stop: g.Stop, Seed: g.Seed,
			Thinking: think(req),
		},
	}
	if strings.TrimSpace(req.System) != "" {
		out.System = &content{Parts: []part{text(req.System)}}
	}
	if len(req.Tools) > 0 {
		list := make([]function, len(req.Tools))
		for i, t := range req.Tools {
			list[i] = function(t)
		}
		out.Tools = []tools{{list}}
	}
	return out
}

// contents translates the history. Neighbours of one role become one content, but
// the results of tools stay by themselves: the API counts them against the calls
// before. Pictures of tools therefore follow in a content of their own.
func contents(history []provider.Message, signed bool) []content {
	out := make([]content, 0, len(history)+1)
	var pictures []part
	var results bool // The last content holds results of tools.
	add := func(role string, isResult bool, parts ...part) {
		if len(parts) == 0 {
			return
		}
		if len(out) == 0 && role == model {
			out = append(out, content{user, []part{text(provider.Opening)}})
		}
		n := len(out)
		if n > 0 && out[n-1].Role == role && results == isResult {
			out[n-1].Parts = append(out[n-1].Parts, parts...)
		} else {
			out = append(out, content{role, parts})
		}
		results = isResult
	}
	for i := range history {
		m := &history[i]
		if m.Role == provider.RoleTool {
			add(user, true, result(m))
			pictures = images(pictures, m.Images)
			continue
		}
		add(user, false, pictures...)
		pictures = nil
		if note, ok := provider.Note(history, i); ok {
			add(user, false, text(note))
			continue
		}
		if m.Role == provider.RoleAssistant {
			add(model, false, answered(m, signed)...)
			continue
		}
		parts := images(nil, m.Images)
		if m.Content != "" {
			parts = append(parts, text(m.Content))
		}
		add(user, false, parts...)
	}
	add(user, false, pictures...)
	if n := len(out); n == 0 || out[n-1].Role == model {
		add(user, false, text(provider.Resume))
	}
	return out
}

func text(s string) part { return part{Text: &s} }

func images(parts []part, list []provider.Image) []part {
	for i := range list {
		parts = append(parts, part{Inline: &inline{list[i].MediaType, list[i].Data}})
	}
	return parts
}

// answered gives an answer of the model, with the signatures where they were.
func answered(m *provider.Message, signed bool) []part {
	var own string // The signature that belongs to no call.
	calls := map[string]string{}
	for i := range m.Thoughts {
		t := &m.Thoughts[i]
		switch {
		case t.Provider != format || t.Signature == "":
		case t.CallID == "":
			own = t.Signature
		default:
			calls[t.CallID] = t.Signature
		}
	}
	parts := make([]part, 0, len(m.ToolCalls)+1)
	if m.Content != "" || own != "" {
		parts = append(parts, part{Text: &m.Content, Signature: own})
	}
	for i, c := range m.ToolCalls {
		p := part{Call: &call{ID: callID(c.ID), Name: c.Name, Args: c.Arguments}, Signature: calls[c.ID]}
		if p.Call.Args == nil {
			p.Call.Args = map[string]any{}
		}
		// Of calls made together only the first is signed.
		if i == 0 && p.Signature == "" && signed {
			p.Signature = unsigned
		}
		parts = append(parts, p)
	}
	return parts
}

func result(m *provider.Message) part {
	key := "output"
	if m.Failed {
		key = "error"
	}
	return part{
		Response: &response{ID: callID(m.ToolCallID), Name: m.ToolName, Response: map[string]string{key: m.Content}},
	}
}

// callID leaves out IDs that the server does not know.
func callID(id string) string {
	if provider.MadeUp(id) {
		return ""
	}
	return id
}
