package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// program is something that is started again and again.
type program struct {
	path string
	args []string
	dir  string
	env  []string // In addition to that of this process.
}

// sample is what one run cost.
type sample struct {
	Wall time.Duration `json:"wall"`
	CPU  time.Duration `json:"cpu"`
	RSS  int64         `json:"rss"` // Peak in bytes; 0 where the system does not tell.
}

// run starts the program once through the launcher and waits for it.
func (p program) run(launcher string) (s sample, err error) {
	cmd := exec.Command(launcher, append([]string{p.path}, p.args...)...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr, cmd.Env = p.dir, &stderr, append(clean(os.Environ()), p.env...)
	out, err := cmd.Output()
	if err != nil {
		return s, fmt.Errorf("%s %s: %w\n%s", p.path, strings.Join(p.args, " "), err, &stderr)
	}
	return s, json.Unmarshal(out, &s)
}

// clean removes what could make a run talk to a real server.
func clean(env []string) []string {
	return slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "AURA_") || strings.HasSuffix(name, "_API_KEY") ||
			strings.HasSuffix(strings.ToLower(name), "_proxy")
	})
}

// compare runs two programs in turns, so that whatever else the machine does
// meets both, and returns the median of each cost.
func (b *bed) compare(n int, p, q program) (x, y sample, err error) {
	var ps, qs []sample
	for range n {
		for _, side := range []struct {
			p    program
			list *[]sample
		}{{p, &ps}, {q, &qs}} {
			s, err := side.p.run(b.launcher)
			if err != nil {
				return x, y, err
			}
			*side.list = append(*side.list, s)
		}
	}
	return medians(ps), medians(qs), nil
}

func medians(list []sample) sample {
	return sample{
		Wall: median(list, func(s sample) time.Duration { return s.Wall }),
		CPU:  median(list, func(s sample) time.Duration { return s.CPU }),
		RSS:  median(list, func(s sample) int64 { return s.RSS }),
	}
}

// median returns the middle of what get finds in list.
func median[T any, N time.Duration | int64](list []T, get func(T) N) N {
	var values []N
	for _, item := range list {
		values = append(values, get(item))
	}
	slices.Sort(values)
	if len(values) == 0 {
		return 0
	}
	return values[len(values)/2]
}
