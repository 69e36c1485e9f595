package agent

import "context"

// Keeper remembers what a user has allowed.
type Keeper struct {
	Allow func(pattern string)             // For the session.
	Save  func(home, pattern string) error // For good, in a home.
	Homes map[Remember]string              // Where ForProject and ForAlways are kept; empty: nowhere.
}

// Remembering makes an Options.Approve that puts a call to the user through ask and
// remembers the decision for as long as they say. notice tells what could not be kept.
func Remembering(
	ask func(context.Context, Approval) Decision, k Keeper, notice func(source, text string),
) func(context.Context, Approval) Decision {
	return func(ctx context.Context, q Approval) Decision {
		q.Keep = []Remember{ForSession}
		for _, r := range []Remember{ForProject, ForAlways} {
			if k.Homes[r] != "" {
				q.Keep = append(q.Keep, r)
			}
		}
		d := ask(ctx, q)
		if !d.Allow || d.Pattern == "" || d.Remember == "" {
			return d
		}
		if !q.Keeps(d.Remember) {
			notice("approvals", "there is no home to keep that in: it holds for this session "+
				"(aura init makes one for the project)")
			d.Remember = ForSession
		}
		if d.Remember == ForSession {
			k.Allow(d.Pattern)
		} else if err := k.Save(k.Homes[d.Remember], d.Pattern); err != nil {
			notice("approvals", err.Error())
		}
		return d
	}
}
