package hooks

import (
	"cmp"
	"maps"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

// reply is what a hook's answer means at the moment of the event.
func (h *bound) reply(ev *lifecycle.Event, a answer) lifecycle.Reply {
	r := lifecycle.Reply{Result: a.Result}
	r.Message = ""
	refuse := a.deny || a.stop
	switch d := ev.Data.(type) {
	case *sdk.BeforeToolContext:
		h.onCall(&r, d, a)
		return r
	case *sdk.AfterToolContext:
		h.advise(&r, a.feedback(), a)
		return r
	case *sdk.UserMessageContext:
		r.Text = a.text
		if r.Block = refuse; refuse {
			r.Reason = a.why()
		}
	case *sdk.BeforeChatContext:
		r.Eject = true // Said anew before every call.
		if refuse {
			r.Request = &sdk.RequestModification{Skip: true}
			r.Notice = cmp.Or(r.Notice, a.why())
		}
	case *sdk.BeforeCompactionContext:
		if refuse {
			r.Compaction = &sdk.CompactionModification{Skip: true}
		}
	case *sdk.AfterResponseContext:
		if a.plain {
			a.Message = "" // Whatever is said here makes the model go on: it must be meant.
		}
		if a.deny && !a.mute {
			a.Message = a.feedback()
		}
	default:
		if refuse && !a.mute {
			r.Notice = cmp.Or(r.Notice, a.why())
		}
	}
	switch {
	case a.failed: // Outside tool calls this is for the user, not for the model.
		r.Notice = cmp.Or(r.Notice, a.Message)
	case a.Message != "":
		r.Message, r.Prefix = a.Message, h.prefix()
		r.Role = cmp.Or(a.Role, sdk.RoleUser)
	}
	return r
}

// onCall judges a tool call that is about to happen.
func (h *bound) onCall(r *lifecycle.Reply, d *sdk.BeforeToolContext, a answer) {
	if a.deny || a.stop {
		r.Block, r.Reason = true, a.why()
		return
	}
	if a.ask {
		r.Ask = a.why()
	}
	if len(a.input) > 0 {
		r.Arguments = maps.Clone(d.Arguments)
		if r.Arguments == nil {
			r.Arguments = map[string]any{}
		}
		maps.Copy(r.Arguments, h.ownKeys(d.Arguments, a.input))
	}
	h.advise(r, a.Message, a)
}

// advise gives the model text with the result of the tool. Imported hooks
// reach the model only on purpose, as where they come from.
func (h *bound) advise(r *lifecycle.Reply, text string, a answer) {
	switch {
	case text == "":
	case h.hook.Foreign != "" && a.failed:
		r.Notice = cmp.Or(r.Notice, text)
	case h.hook.Foreign != "" && a.plain:
	default:
		r.Feedback = h.prefix() + text
	}
}
