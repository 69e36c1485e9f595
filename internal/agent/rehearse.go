package agent

import "github.com/idelchi/aura/internal/lifecycle"

// Rehearse makes the profile of an agent in a mode and renders its prompt, as a session
// in the given place would. No server is asked and no handler runs.
func Rehearse(resolve func(agent, mode string) (Profile, error), name, mode string, place Place) error {
	a, err := New(Options{
		Pipeline: lifecycle.New(lifecycle.Options{}), Resolve: resolve, Agent: name, Mode: mode, Place: place,
	})
	if err == nil {
		_, err = a.profile.Prompt.Render(promptData(a))
	}
	return err
}
