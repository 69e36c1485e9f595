package conversation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// messages makes messages of a line of words:
//
//	u:text a:text user and assistant; a:text+x+y with calls x and y
//	t:x    the result of call x; e:x the same, ephemeral
//	d:text display-only; s:text synthetic; j:text ejected
func messages(t testing.TB, line string) []message.Message {
	t.Helper()
	var list []message.Message
	for word := range strings.FieldsSeq(line) {
		kind, text, _ := strings.Cut(word, ":")
		parts := strings.Split(text, "+")
		m := message.Message{Message: sdk.Message{Type: sdk.TypeNormal, Content: parts[0]}}
		for _, id := range parts[1:] {
			m.ToolCalls = append(m.ToolCalls, sdk.MessageToolCall{ID: id, Name: "T"})
			m.Thoughts = append(m.Thoughts, message.Thought{Provider: "p", CallID: id})
		}
		switch kind {
		case "u":
			m.Role = message.User
		case "a":
			m.Role = message.Assistant
		case "t", "e":
			m.Role, m.ToolCallID = message.Tool, text
			if kind == "e" {
				m.Type = message.Ephemeral
			}
		case "d":
			m.Role, m.Type = message.Assistant, message.DisplayOnly
		case "s":
			m.Role, m.Type = message.Assistant, sdk.TypeSynthetic
		case "j":
			m.Role, m.Type, m.Eject = message.User, sdk.TypeSynthetic, true
		default:
			t.Fatalf("unknown word %q", word)
		}
		list = append(list, m)
	}
	return list
}

// line is the opposite of messages.
func line(msgs []message.Message) string {
	var words []string
	for _, m := range msgs {
		kind := map[string]string{message.User: "u", message.Assistant: "a", message.Tool: "t"}[m.Role]
		switch {
		case m.Type == message.Ephemeral:
			kind = "e"
		case m.Type == message.DisplayOnly:
			kind = "d"
		case m.Eject:
			kind = "j"
		case m.Type == sdk.TypeSynthetic:
			kind = "s"
		}
		word := kind + ":" + m.Content
		for _, c := range m.ToolCalls {
			word += "+" + c.ID
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// historyOf is a history of messages.
func historyOf(msgs []message.Message) *History {
	h := &History{}
	h.Replace(msgs)
	return h
}

func TestWellFormed(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"u:hi a:ok", "u:hi a:ok"},
		{"u:hi a:+x t:x a:ok", "u:hi a:+x t:x a:ok"},
		{"a:+x+y t:y t:x", "a:+x+y t:x t:y"},                             // in order
		{"a:+x d:note s:psst t:x", "a:+x t:x s:psst"},                    // directly after
		{"a:+x u:hi t:x", "a:+x t:x u:hi"},                               //
		{"a:+x t:x t:x", "a:+x t:x"},                                     // exactly once
		{"t:x u:hi", "u:hi"},                                             // an answer to nothing
		{"u:hi a:+x", "u:hi"},                                            // a call without an answer
		{"u:hi a:so+x u:on", "u:hi a:so u:on"},                           // its text stays
		{"a:+x+y t:y", "a:+y t:y"},                                       // the answered call stays
		{"a:+x a:+x t:x", "a:+x t:x"},                                    // the answer belongs to the later one
		{"a:+x t:x a:+x t:x", "a:+x t:x a:+x t:x"},                       // the same ID again
		{"d:a u:hi d:b", "u:hi"},                                         // display-only
		{"a:+x e:x j:psst", "a:+x e:x j:psst"},                           // to be sent once
		{"a:+x d:n a:+y t:x t:y", "a:+y t:y"},                            // too late for x
		{"a:one+x t:x a:two+y u:hi", "a:one+x t:x a:two u:hi"},           //
		{"u:hi a:+x+y e:x t:y s:s a:ok", "u:hi a:+x+y e:x t:y s:s a:ok"}, //
	} {
		if got := line(wellFormed(messages(t, c.in))); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestPrune(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"u:hi a:ok", "u:hi a:ok"},
		{"u:hi a:+x e:x", "u:hi"},
		{"u:hi a:so+x e:x", "u:hi a:so"},
		{"u:hi a:+x+y e:x t:y", "u:hi a:+y t:y"},
		{"u:hi a:+x+y t:x e:y", "u:hi a:+x t:x"},
		{"u:hi a:+x+y+z t:x e:y t:z d:note s:psst", "u:hi a:+x+z t:x t:z d:note s:psst"},
		{"u:hi j:psst a:ok", "u:hi a:ok"},
		{"u:hi j:psst a:+x e:x s:s", "u:hi s:s"},
		{"a:+x t:x a:+x e:x", "a:+x t:x"}, // The same ID in an earlier message is another call.
		{"a:+x+y e:x e:y u:on", "u:on"},
	} {
		h := historyOf(messages(t, c.in))
		h.Sent()
		h.Prune()
		if got := line(h.msgs); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.in, got, c.want)
		}
		if fresh := historyOf(h.msgs); fresh.rough != h.rough {
			t.Errorf("%s: size %d, want %d", c.in, h.rough, fresh.rough)
		}
		for _, m := range h.msgs {
			if len(m.Thoughts) != len(m.ToolCalls) {
				t.Errorf("%s: %d thoughts of %d calls", c.in, len(m.Thoughts), len(m.ToolCalls))
			}
		}
	}
}

func TestMergeTransformed(t *testing.T) {
	original := messages(t, "u:hi a:look+x t:x")
	original[0].Images = []message.Image{{MediaType: "image/png", Data: []byte("x")}}
	original[1].Thinking = "hmm"
	sent := Transformable("sys", original)
	if got := fmt.Sprint(
		sent[0].ID,
		sent[0].Role,
		sent[0].Content,
		sent[1].ID,
		sent[3].ID,
	); got != "m0001systemsysm0002m0004" {
		t.Errorf("%s", got)
	}
	sent[0].Content = "other"
	sent[1].Content = "changed"
	sent[2].ToolCalls, sent[2].Role = nil, "user"
	sent[2].Thinking = "rewritten"
	system, msgs := MergeTransformed(append(sent, sdk.Message{ID: "new", Role: "user", Content: "more"}), original)
	if system != "other" || line(msgs[:3]) != "u:changed a:look+x t:x" || msgs[3].Content != "more" {
		t.Errorf("%s: %s", system, line(msgs))
	}
	if len(msgs[0].Images) != 1 || msgs[1].Thinking != "rewritten" || msgs[1].Thoughts != nil {
		t.Errorf("%+v", msgs[:2])
	}
	if original[0].Content != "hi" || original[1].Thinking != "hmm" {
		t.Error("the original was changed")
	}
}

func TestCheckTransformed(t *testing.T) {
	system, call, result := sdk.Message{
		Role: "system",
	}, sdk.Message{
		Role:      "assistant",
		ToolCalls: []sdk.MessageToolCall{{ID: "x"}},
	}, sdk.Message{
		Role:       "tool",
		ToolCallID: "x",
	}
	for _, c := range []struct {
		msgs []sdk.Message
		want string
	}{
		{nil, "the array is empty"},
		{[]sdk.Message{call, system}, "must be the system prompt"},
		{[]sdk.Message{system, result, call}, `result of call "x" has no call before it`},
		{[]sdk.Message{system, call, result}, ""},
		{[]sdk.Message{system, call}, ""},
	} {
		err := CheckTransformed(c.msgs)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.msgs, err, c.want)
		}
	}
}

// unsound says in which way messages break the contract of provider.Request.
func unsound(msgs []message.Message) string {
	for i := 0; i < len(msgs); i++ {
		switch m := msgs[i]; {
		case m.Role == message.Tool:
			return fmt.Sprintf("message %d answers nothing", i)
		case m.Type == message.DisplayOnly:
			return fmt.Sprintf("message %d is not for the model", i)
		}
		for _, c := range msgs[i].ToolCalls {
			if i++; i >= len(msgs) || msgs[i].Role != message.Tool || msgs[i].ToolCallID != c.ID {
				return fmt.Sprintf("call %s is not answered by message %d", c.ID, i)
			}
		}
	}
	return ""
}

// play grows a history by what the bytes say and holds every request on the way to
// the contract, to what the rule gives for the whole history, and to not changing
// after it was handed out.
func play(t *testing.T, script []byte) {
	h := historyOf(nil)
	open := map[string]bool{} // An answer comes only while its call is the latest.
	words := []string{
		"u:hi",
		"a:ok",
		"a:+x",
		"a:so+x+y",
		"a:+z+x+y",
		"t:x",
		"t:y",
		"t:z",
		"e:x",
		"e:y",
		"d:note",
		"s:psst",
		"j:once",
	}
	var wild []message.Message // In any order at all.
	var past [][]message.Message
	var lines []string
	for _, b := range script {
		switch n := int(b) % (len(words) + 3); {
		case n < len(words):
			m := messages(t, words[n])[0]
			if wild = append(wild, m); m.Role == message.Tool && !open[m.ToolCallID] {
				continue
			}
			delete(open, m.ToolCallID)
			if m.Role == message.Assistant && m.Type == sdk.TypeNormal { // An answer has seen what was to be sent once.
				h.Prune()
				clear(open)
			}
			for _, c := range m.ToolCalls {
				open[c.ID] = true
			}
			h.Add(m)
			continue
		case n == len(words):
			clear(open)
			h.Prune()
			continue
		case n == len(words)+1:
			clear(open)
			h.Replace(slices.Clone(h.msgs[len(h.msgs)/2:]))
			continue
		}
		sent := h.Sent()
		if why := unsound(sent); why != "" {
			t.Fatalf("%s\nhistory %s\nsent %s", why, line(h.msgs), line(sent))
		}
		if got, want := line(sent), line(wellFormed(h.msgs)); got != want {
			t.Fatalf("history %s\nsent %s\nwant %s", line(h.msgs), got, want)
		}
		if fresh := historyOf(
			h.msgs,
		); fresh.rough != h.rough ||
			!slices.Equal(fresh.turns, h.turns) && !strings.Contains(line(h.msgs), "x") {
			t.Fatalf("size %d, want %d", h.rough, fresh.rough)
		}
		if why := unsound(wellFormed(wild)); why != "" {
			t.Fatalf("%s\nmessages %s\nsent %s", why, line(wild), line(wellFormed(wild)))
		}
		past, lines = append(past, sent), append(lines, line(sent))
		for i := range past {
			if got := line(past[i]); got != lines[i] {
				t.Fatalf("request %d changed after it was handed out\nfrom %s\nto   %s", i, lines[i], got)
			}
		}
	}
}

// For any history, what is sent satisfies the contract of provider.Request.
func TestSentIsWellFormed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 800 {
		script := make([]byte, 1+rng.IntN(60))
		for i := range script {
			script[i] = byte(rng.UintN(256))
		}
		play(t, append(script, 15))
	}
}

func FuzzHistory(f *testing.F) {
	f.Add([]byte{0, 3, 15, 5, 15, 9, 15, 13, 15})
	f.Add([]byte{0, 12, 15, 13, 2, 8, 15, 13, 11, 15})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 200 {
			script = script[:200]
		}
		play(t, append(script, 15))
	})
}
