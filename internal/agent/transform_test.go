package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// transforms is a handler that replaces the messages of every call.
func transforms(name string, f func([]sdk.Message) ([]sdk.Message, error)) lifecycle.Binding {
	return lifecycle.Binding{
		Source: lifecycle.Source{Kind: lifecycle.Plugin, Name: name}, Moment: lifecycle.TransformMessages,
		Handler: lifecycle.HandlerFunc(func(_ context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
			msgs, err := f(ev.Data.(*sdk.TransformContext).Messages)
			return lifecycle.Reply{Messages: msgs}, err
		}),
	}
}

// painting is a history with everything a transform could damage: thinking with a
// signature, a call, an image.
const painting = `
turns:
  - {thinking: hmm, text: I look, calls: [{name: Look, id: c1, arguments: {}}]}
  - {text: seen}
  - {text: end}
`

// eye is a tool that answers with an image.
func eye() tool.Tool {
	return fake("Look", func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: "a cat", Images: []message.Image{{MediaType: "image/png", Data: []byte("cat")}}}, nil
	})
}

// HO-55: what
// transforms may do to a request, and what they cannot.
func TestTransforms(t *testing.T) {
	type list = []sdk.Message
	for _, c := range []struct {
		name string
		f    func(list) (list, error)
		want string // The third request, in short.
	}{
		{"identity", func(m list) (list, error) { return m, nil }, "user:go assistant:I look+c1 tool:a cat " +
			"assistant:seen user:on"},
		{"nil", func(list) (list, error) { return nil, nil }, "user:go assistant:I look+c1 tool:a cat " +
			"assistant:seen user:on"},
		{"empty", func(list) (list, error) { return list{}, nil }, "user:go assistant:I look+c1 tool:a cat " +
			"assistant:seen user:on"},
		{"error", func(m list) (list, error) { return m[:1], errors.New("no") }, "user:go assistant:I look+c1 " +
			"tool:a cat assistant:seen user:on"},
		{"panic", func(m list) (list, error) { panic("no") }, "user:go assistant:I look+c1 tool:a cat " +
			"assistant:seen user:on"},
		{"no system", func(m list) (list, error) { return m[1:], nil }, "user:go assistant:I look+c1 tool:a cat " +
			"assistant:seen user:on"},
		{"orphan", func(m list) (list, error) {
			return slices.DeleteFunc(m, func(x sdk.Message) bool { return len(x.ToolCalls) > 0 }), nil
		}, "user:go assistant:I look+c1 tool:a cat assistant:seen user:on"},
		{"remove", func(m list) (list, error) {
			return slices.DeleteFunc(m, func(x sdk.Message) bool { return x.Content == "seen" }), nil
		}, "user:go assistant:I look+c1 tool:a cat user:on"},
		{"remove result", func(m list) (list, error) {
			return slices.DeleteFunc(m, func(x sdk.Message) bool { return x.Role == "tool" }), nil
		}, "user:go assistant:I look assistant:seen user:on"},
		{"remove pair", func(m list) (list, error) {
			return slices.DeleteFunc(m, func(x sdk.Message) bool { return x.Role == "tool" || len(x.ToolCalls) > 0 }), nil
		}, "user:go assistant:seen user:on"},
		{"insert", func(m list) (list, error) {
			return append(m, sdk.Message{ID: "x1", Role: "user", Content: "psst"}), nil
		}, "user:go assistant:I look+c1 tool:a cat assistant:seen user:on user:psst"},
		{"change", func(m list) (list, error) {
			for i := range m[1:] {
				m[i+1].Content += "!"
			}
			return m, nil
		}, "user:go! assistant:I look!+c1 tool:a cat! assistant:seen! user:on!"},
		{"damage", func(m list) (list, error) {
			for i := range m[1:] {
				m[i+1].Role, m[i+1].ToolCalls, m[i+1].ToolName = "user", nil, "x"
			}
			return m, nil
		}, "user:go assistant:I look+c1 tool:a cat assistant:seen user:on"},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			r := newRig(
				t,
				painting,
				setup{
					tools: []tool.Tool{eye()},
					handlers: []lifecycle.Binding{transforms("a", func(m []sdk.Message) ([]sdk.Message, error) {
						calls++
						return c.f(m)
					})},
				},
			)
			r.send("go")
			r.send("on")
			if got := brief(r.model.request(3).Messages); got != c.want {
				t.Errorf("sent %s\nwant %s", got, c.want)
			}
			if got, want := brief(
				r.Messages(),
			), "user:go assistant:I look+c1 tool:a cat assistant:seen user:on assistant:end"; got != want &&
				c.name != "panic" {
				t.Errorf("history %s", got)
			}
			if calls != 3 {
				t.Errorf("called %d times", calls)
			}
			images, thoughts := 0, 0
			for _, m := range r.model.request(3).Messages {
				images, thoughts = images+len(m.Images), thoughts+len(m.Thoughts)
			}
			if strings.Contains(c.want, "+c1") && (images != 1 || thoughts != 1) {
				t.Errorf("%d images, %d thoughts", images, thoughts)
			}
		})
	}
}

// PT-111: a transform may change thinking too, for one request; the signature of what
// it replaced goes with it.
func TestTransformThinking(t *testing.T) {
	r := newRig(
		t,
		painting,
		setup{
			tools: []tool.Tool{eye()},
			handlers: []lifecycle.Binding{transforms("a", func(m []sdk.Message) ([]sdk.Message, error) {
				for i := range m {
					if m[i].Thinking == "hmm" {
						m[i].Thinking = "aha"
					}
				}
				return m, nil
			})},
		},
	)
	r.send("go")
	if m := r.model.request(2).Messages[1]; m.Thinking != "aha" || len(m.Thoughts) != 0 {
		t.Errorf("sent %q with %d signatures", m.Thinking, len(m.Thoughts))
	}
	if m := r.Messages()[1]; m.Thinking != "hmm" || len(m.Thoughts) != 1 {
		t.Errorf("kept %q with %d signatures", m.Thinking, len(m.Thoughts))
	}
}

// brief renders what was said in one line.
func brief(msgs []message.Message) string {
	var out []string
	for _, m := range msgs {
		text := m.Role + ":" + m.Content
		for _, c := range m.ToolCalls {
			text += "+" + c.ID
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// What a transform is given.: transforms
// form a chain; if one fails, the original is sent.
func TestTransformInput(t *testing.T) {
	var seen [][]sdk.Message
	add := "EXTRA"
	r := newRig(t, painting, setup{tools: []tool.Tool{eye()}, handlers: []lifecycle.Binding{
		on(lifecycle.BeforeChat, "nag", func(d *sdk.BeforeChatContext) lifecycle.Reply {
			return lifecycle.Reply{
				Result: sdk.Result{
					Message: "nag",
					Role:    sdk.RoleUser,
					Request: &sdk.RequestModification{AppendSystem: &add},
				},
			}
		}),
		on(lifecycle.AfterToolExecution, "n", func(*sdk.AfterToolContext) lifecycle.Reply {
			return lifecycle.Reply{Result: sdk.Result{Notice: "hidden"}}
		}),
		transforms("a", func(m []sdk.Message) ([]sdk.Message, error) {
			seen = append(seen, slices.Clone(m))
			m[0].Content += " a"
			return m, nil
		}),
		transforms("b", func(m []sdk.Message) ([]sdk.Message, error) {
			if m[0].Content += " b"; len(seen) == 2 {
				return m, errors.New("tired")
			}
			return m, nil
		}),
	}})
	r.send("go")
	if got := r.model.request(1).System; got != "You are main.\n\nEXTRA a b" {
		t.Errorf("system %q", got)
	}
	if got := r.model.request(2).System; got != "You are main.\n\nEXTRA" {
		t.Errorf("after a failure the system prompt is %q", got)
	}
	m := seen[1]
	var got []string
	for _, x := range m {
		got = append(got, x.ID+" "+x.Role+" "+x.Type)
	}
	want := "m0001 system normal|m0002 user normal|m0003 user synthetic|m0004 assistant normal|m0005 tool " +
		"normal|m0006 user synthetic"
	if strings.Join(got, "|") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "|"), want)
	}
	if m[3].Thinking != "hmm" || m[3].ToolCalls[0].Name != "Look" || m[4].ToolName != "Look" ||
		m[4].ToolCallID != "c1" ||
		m[4].Tokens <= 0 ||
		m[4].CreatedAt.IsZero() {
		t.Errorf("fields: %+v\n%+v", m[3], m[4])
	}
}

// An image of the user stays with its message in every later request. HO-55
func TestImages(t *testing.T) {
	r := newRig(t, "turns: [{text: a cat, expect: {images: 1}}, {text: still, expect: {images: 1}}]\n", setup{})
	if _, err := r.Send(
		t.Context(),
		agent.Input{Text: "what is it?", Images: []message.Image{{MediaType: "image/png", Data: []byte("x")}}},
	); err != nil {
		t.Fatal(err)
	}
	r.send("sure?")
}
