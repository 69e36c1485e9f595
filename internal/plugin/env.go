package plugin

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// environment is what one plugin sees of the environment: nothing, the variables it
// declares, or all ("*"). It is private: a change in it never reaches the program
// or another plugin.
type environment struct {
	all     bool
	allowed map[string]bool

	mu   sync.Mutex
	vars map[string]string
	task map[string]string // Values of the running task, over vars.
}

// newEnvironment takes the declared variables out of the environment.
func newEnvironment(declared []string, environ []string) *environment {
	e := &environment{all: slices.Contains(declared, "*"), allowed: map[string]bool{}, vars: map[string]string{}}
	for _, name := range declared {
		e.allowed[name] = true
	}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && e.visible(name) {
			e.vars[name] = value
		}
	}
	return e
}

func (e *environment) visible(name string) bool { return name != "" && (e.all || e.allowed[name]) }

// inject lays the values of a task over the others until the next call of inject.
func (e *environment) inject(task map[string]string) {
	var visible map[string]string
	for name, value := range task {
		if e.visible(name) {
			if visible == nil {
				visible = map[string]string{}
			}
			visible[name] = value
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.task = visible
}

// current is what inject was given last, as far as it is visible. It is not changed
// any more.
func (e *environment) current() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.task
}

func (e *environment) lookup(name string) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if v, ok := e.task[name]; ok {
		return v, true
	}
	v, ok := e.vars[name]
	return v, ok
}

func (e *environment) get(name string) string {
	v, _ := e.lookup(name)
	return v
}

func (e *environment) set(name, value string) error {
	if name == "" || strings.ContainsAny(name, "=\x00") {
		return os.NewSyscallError("setenv", os.ErrInvalid)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.task, name)
	e.vars[name] = value
	return nil
}

func (e *environment) unset(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.task, name)
	delete(e.vars, name)
	return nil
}

func (e *environment) clear() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.task = nil
	clear(e.vars)
}

func (e *environment) list() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	merged := maps.Clone(e.vars)
	maps.Copy(merged, e.task)
	out := make([]string, 0, len(merged))
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		out = append(out, name+"="+merged[name])
	}
	return out
}
