package hooks

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/idelchi/aura/sdk"
)

// answer is what a hook wants.
type answer struct {
	sdk.Result // Message is the text for the model, Notice the one for the user.

	deny   bool
	ask    bool           // A user shall decide.
	stop   bool           // The turn shall end.
	reason string         // Why it denies, asks or stops.
	input  map[string]any // Arguments to replace.
	text   *string        // What the user said, rewritten.
	plain  bool           // Standard output was no JSON object.
	failed bool           // Message is the complaint of a hook that ended with some other exit code.
	mute   bool           // The reason is not the hook's own.
}

// why is the reason of a refusal.
func (a answer) why() string {
	switch {
	case a.reason != "":
		return a.reason
	case a.stop:
		return "stopped by hook"
	case a.ask && !a.deny:
		return cmp.Or(a.Message, "a hook asks for approval")
	}
	return "denied by hook"
}

// feedback is what the model reads where nothing can be refused any more.
func (a answer) feedback() string {
	if !a.deny && !a.stop || a.reason == "" || a.mute {
		return a.Message
	}
	return strings.TrimPrefix(a.Message+"\n"+a.reason, "\n")
}

// fields is a JSON object whose values have not been looked at.
type fields map[string]json.RawMessage

// parse reads the standard output of a hook that ended well: its own dialect and
// the one most other agents use, both at once. Text that is no JSON object is a
// plain message. Unknown keys are ignored; a key that decides something and has a
// value that means nothing is an error.
func parse(stdout []byte) (answer, error) {
	text := strings.TrimSpace(string(stdout))
	var f fields
	if text == "" {
		return answer{}, nil
	}
	if text[0] != '{' || json.Unmarshal([]byte(text), &f) != nil {
		a := answer{plain: true}
		a.Message = text
		return a, nil
	}
	var a answer
	var special fields
	err := errors.Join(
		decode(f, "hookSpecificOutput", "an object", &special),
		f.flag(&a.deny, "deny", "block"), f.flag(&a.ask, "ask"),
		f.decision(&a, "decision"), special.decision(&a, "permissionDecision"),
		decode(f, "updated_input", "an object", &a.input), decode(f, "arguments", "an object", &a.input),
		decode(f, "updatedInput", "an object", &a.input), decode(special, "updatedInput", "an object", &a.input),
		decode(f, "updated_output", "a string", &a.Output), decode(f, "output", "a string", &a.Output),
		decode(f, "text", "a string", &a.text),
	)
	goOn := true
	if raw, ok := f["continue"]; ok && string(raw) != "null" {
		err = errors.Join(err, f.flag(&goOn, "continue"))
	}
	if err != nil {
		return answer{}, err
	}
	a.stop = !goOn
	a.Message = strings.TrimPrefix(
		f.text("message")+"\n"+cmp.Or(special.text("additionalContext"), f.text("additionalContext")),
		"\n",
	)
	a.Message = strings.TrimSuffix(a.Message, "\n")
	a.Notice = cmp.Or(f.text("system_message"), f.text("systemMessage"), f.text("notice"))
	a.reason = cmp.Or(special.text("permissionDecisionReason"), f.text("reason"), f.text("permissionDecisionReason"))
	if a.stop && !a.deny {
		a.reason = cmp.Or(f.text("stopReason"), a.reason)
	}
	f.steer(&a.Result)
	return a, nil
}

// steer reads the keys of sdk.Result that only concern certain moments. They
// decide nothing about a gate: what cannot be read is left out.
func (f fields) steer(r *sdk.Result) {
	_ = decode(f, "role", "", &r.Role)
	_ = decode(f, "eject", "", &r.Eject)
	_ = decode(f, "disable_tools", "", &r.DisableTools)
	_ = decode(f, "response", "", &r.Response)
	_ = decode(f, "error", "", &r.Error)
	_ = decode(f, "request", "", &r.Request)
	_ = decode(f, "compaction", "", &r.Compaction)
}

// decode reads one key into what v points to; a value of another type leaves it
// as it was.
func decode[T any](f fields, key, want string, v *T) error {
	raw, ok := f[key]
	if !ok || string(raw) == "null" {
		return nil
	}
	var t T
	if err := json.Unmarshal(raw, &t); err != nil {
		return fmt.Errorf("%s: want %s, got %s", key, want, cut(string(raw)))
	}
	*v = t
	return nil
}

// text is a string, empty if the key has none.
func (f fields) text(key string) string {
	var s string
	if json.Unmarshal(f[key], &s) != nil {
		return ""
	}
	return s
}

// flag reads a switch; "true" and "false" as text are understood too.
func (f fields) flag(v *bool, keys ...string) error {
	for _, key := range keys {
		raw, ok := f[key]
		switch {
		case !ok:
			continue
		case string(raw) == "true" || strings.EqualFold(string(raw), `"true"`):
			*v = true
		case string(raw) == "false" || strings.EqualFold(string(raw), `"false"`):
			if key == "continue" {
				*v = false
			}
		case string(raw) != "null":
			return fmt.Errorf("%s: want true or false, got %s", key, cut(string(raw)))
		}
	}
	return nil
}

// decision reads a verdict in one word.
func (f fields) decision(a *answer, key string) error {
	raw, ok := f[key]
	if !ok || string(raw) == "null" {
		return nil
	}
	switch word := f.text(key); word {
	case "block", "deny":
		a.deny = true
	case "ask":
		a.ask = true
	case "approve", "allow":
	default:
		if string(raw) != `""` {
			return fmt.Errorf("%s: %s is not one of allow, approve, ask, block, deny", key, cut(string(raw)))
		}
	}
	return nil
}
