package app

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/config"
)

// defaultEnvFile is read when no other is named; it need not exist.
const defaultEnvFile = "secrets.env"

// environ is the environment of a session: that of the process, with the values of
// the environment file for variables that the process does not have, and over them
// those of the task. The process's own environment is never changed.
type environ struct{ over map[string]string }

func loadEnviron(path, workdir string) (environ, error) {
	required := path != ""
	if !required {
		path = filepath.Join(workdir, defaultEnvFile)
	}
	values, err := config.LoadEnvFile(path, required)
	if err != nil && required {
		err = fmt.Errorf("--env-file: %w", err)
	}
	maps.DeleteFunc(values, func(name, _ string) bool { return os.Getenv(name) != "" })
	return environ{values}, err
}

// with lays more values over the environment.
func (e environ) with(values map[string]string) environ {
	if len(values) == 0 {
		return e
	}
	over := maps.Clone(e.over)
	if over == nil {
		over = map[string]string{}
	}
	maps.Copy(over, values)
	return environ{over}
}

// get looks a variable up.
func (e environ) get(name string) string {
	if v, ok := e.over[name]; ok {
		return v
	}
	return os.Getenv(name)
}

// list is the environment for child processes.
func (e environ) list() []string {
	if len(e.over) == 0 {
		return os.Environ()
	}
	out := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, over := e.over[name]
		return over
	})
	for _, name := range slices.Sorted(maps.Keys(e.over)) {
		out = append(out, name+"="+e.over[name])
	}
	return out
}
