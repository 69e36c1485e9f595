// Package environ is the environment of a session: that of the process, with what an
// environment file and a task add. It never changes the environment of the process.
package environ

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// defaultEnvFile is read when no other is named; it need not exist.
const defaultEnvFile = "secrets.env"

// Environ is the environment of a session: that of the process, with the values of
// the environment file for variables that the process does not have, and over them
// those of the task. The zero value is that of the process.
type Environ struct{ over map[string]string }

// Reader reads the variables of an environment file. A missing file is an error only when
// it is required. config.LoadEnvFile is one.
type Reader func(path string, required bool) (map[string]string, error)

// Load reads an environment file. An empty path is the usual one in workdir, which need
// not exist.
func Load(read Reader, path, workdir string) (Environ, error) {
	required := path != ""
	if !required {
		path = filepath.Join(workdir, defaultEnvFile)
	}
	values, err := read(path, required)
	if err != nil && required {
		err = fmt.Errorf("--env-file: %w", err)
	}
	maps.DeleteFunc(values, func(name, _ string) bool { return os.Getenv(name) != "" })
	return Environ{values}, err
}

// With lays more values over the environment.
func (e Environ) With(values map[string]string) Environ {
	if len(values) == 0 {
		return e
	}
	over := maps.Clone(e.over)
	if over == nil {
		over = map[string]string{}
	}
	maps.Copy(over, values)
	return Environ{over}
}

// Get looks a variable up.
func (e Environ) Get(name string) string {
	if v, ok := e.over[name]; ok {
		return v
	}
	return os.Getenv(name)
}

// List is the environment for child processes.
func (e Environ) List() []string {
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
