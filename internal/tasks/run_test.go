package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/schedule"
	"github.com/idelchi/aura/internal/tasks"
)

// session is a session that only writes down what it is asked.
type session struct {
	log []string
	err map[string]error // By line.
	out map[string]string
}

func (s *session) do(ctx context.Context, line string) (string, error) {
	s.log = append(s.log, line)
	if line == "hang" {
		<-ctx.Done()
		return "", ctx.Err()
	}
	if err, ok := s.err[line]; ok {
		return "", err
	}
	return s.out[line], ctx.Err()
}

func (s *session) Submit(ctx context.Context, line string) (string, error) { return s.do(ctx, line) }
func (s *session) Shell(ctx context.Context, script string) (string, error) {
	return s.do(ctx, "sh "+script)
}

// one loads a file with the one task x.
func one(t *testing.T, text string) tasks.Task {
	t.Helper()
	list, _, err := load(t, map[string]string{"tasks/x.yaml": text})
	if err != nil {
		t.Fatal(err)
	}
	x, err := tasks.Find(list, "x")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"b.txt", "a.txt", "sub/c.txt", ".hidden.txt", "d.md"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	full := &tasks.MaxStepsError{Err: errors.New("maximum steps exceeded")}
	failed := errors.New("no")
	for _, tt := range []struct {
		name, task string
		start      tasks.Start
		errs       map[string]error
		out        map[string]string
		log        string
		err        string
	}{
		{
			name: "in order", task: `{finally: [f], post: [q], pre: ["!p"], commands: [a, /b, "!c"]}`,
			log: "sh p|a|/b|sh c|q|f",
		},
		{
			name: "pre fails", task: `{pre: [p, p2], commands: [a], post: [q], finally: [f]}`,
			errs: map[string]error{"p": failed},
			log:  "p|f", err: "pre 1 (p): no",
		},
		{
			name: "command fails", task: `{commands: [a, b, c], post: [q], finally: [f, f2]}`,
			errs: map[string]error{"b": failed},
			log:  "a|b|f|f2", err: "command 2 (b): no",
		},
		{
			name: "finally fails too", task: `{commands: [a], finally: [f, f2]}`,
			errs: map[string]error{"a": failed, "f": failed},
			log:  "a|f", err: "command 1 (a): no\nfinally 1 (f): no",
		},
		{
			name: "it ends itself", task: `{commands: [a, b], post: [q], finally: [f]}`,
			errs: map[string]error{"a": tasks.ErrStop}, log: "a|f",
		},
		{
			name: "items", task: `{foreach: {items: [x, "{{ .Vars.v }}"]}, vars: {v: "$[[ y"}, commands: ["$[[ .Item ]] $[[ .Index ]]/$[[ .Total ]]"], pre: [p], post: [q]}`,
			log: "p|x 1/2|$[[ y 2/2|q",
		},
		{
			name: "files", task: `{foreach: {files: "**/*.txt"}, commands: ["$[[ .Item ]]"]}`,
			log: strings.Join([]string{"a.txt", "b.txt", filepath.Join("sub", "c.txt")}, "|"),
		},
		{
			name: "shell", task: `{foreach: {shell: list}, commands: ["!cat $[[ quote .Item ]]"]}`,
			out: map[string]string{"sh list": "a b\n\nit's\n"},
			log: `sh list|sh cat 'a b'|sh cat 'it'\''s'`,
		},
		{
			name: "shell fails", task: `{foreach: {shell: list}, commands: [a], finally: [f]}`,
			errs: map[string]error{"sh list": failed}, log: "sh list|f", err: "foreach: no",
		},
		{name: "no items", task: `{foreach: {files: "*.none"}, commands: [a], post: [q]}`, log: "q"},
		{
			name: "an item fails", task: `{foreach: {items: [x, y, z]}, commands: ["$[[ .Item ]]", next], post: [q]}`,
			errs: map[string]error{"y": failed},
			log:  "x|next|y", err: "item 2 (y): command 1 ($[[ .Item ]]): no",
		},
		{
			name: "last", task: `{commands: ["!a", "it said: $[[ .Last ]]", "and then: $[[ .Last ]]"]}`,
			out: map[string]string{"sh a": "{{ 1 }} $[[ .Item ]]"},
			log: "sh a|it said: {{ 1 }} $[[ .Item ]]|and then: ",
		},
		{
			name: "prepend and append", task: `{commands: [a]}`,
			start: tasks.Start{Prepend: []string{"0"}, Append: []string{"!z"}}, log: "0|a|sh z",
		},
		{
			name: "start with a command", task: `{pre: [p], commands: [a, b, c]}`, start: tasks.Start{First: 2},
			log: "p|b|c",
		},
		{
			name: "start with an item", task: `{foreach: {items: [x, y, z]}, commands: ["$[[ .Item ]]", n]}`,
			start: tasks.Start{First: 3}, log: "z|n",
		},
		{
			name: "start too late", task: `{foreach: {items: [x]}, commands: [a], finally: [f]}`,
			start: tasks.Start{First: 2}, log: "f", err: "cannot start with item 2: there are 1",
		},
		{
			name: "steps used up", task: `{commands: [a, b]}`, errs: map[string]error{"a": full}, log: "a",
			err: "command 1 (a): maximum steps exceeded",
		},
		{
			name: "and what then", task: `{commands: [a, b], on_max_steps: [m]}`, errs: map[string]error{"a": full},
			log: "a|m|b",
		},
		{
			name: "and again", task: `{commands: [a, b], on_max_steps: [m]}`,
			errs: map[string]error{"a": full, "m": full}, log: "a|m",
			err: "command 1 (a): maximum steps exceeded, after: maximum steps exceeded",
		},
		{name: "vars", task: `{vars: {a: "1", b: "2"}, commands: ["{{ .Vars.a }}{{ .Vars.b }}{{ .Vars.none }} {{ .Date }} {{ .Date.Format \"15\" }} {{ .Env.HERE }}{{ .Env.OWN }}"], env: {OWN: "{{ .Env.HERE }}!"}}`, start: tasks.Start{Vars: map[string]string{"b": "3"}},
			log: "13 2026-01-02 15 hereh" + "ere!"},
		{
			name: "empty line", task: `{commands: ["{{ .Vars.x }}"]}`, log: "",
			err: "command 1 (): the line is empty once its template is expanded",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := one(t, "x: "+tt.task+"\n")
			tt.start.Workdir, tt.start.Now, tt.start.Env = dir, time.Date(
				2026,
				1,
				2,
				15,
				4,
				5,
				0,
				time.UTC,
			), []string{
				"HERE=here",
			}
			plan, err := x.Plan(tt.start)
			if err != nil {
				t.Fatal(err)
			}
			s := &session{err: tt.errs, out: tt.out}
			err = plan.Run(t.Context(), s, tasks.Watch{})
			if log := strings.Join(s.log, "|"); log != tt.log {
				t.Errorf("ran %q, want %q", log, tt.log)
			}
			if text := fmt.Sprint(err); text != tt.err && (err != nil || tt.err != "") {
				t.Errorf("error %q, want %q", text, tt.err)
			}
		})
	}
}

// A task that takes too long is stopped; finally still runs.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	x := one(t, "x: {commands: [a, hang, b], post: [q], finally: [f]}\n")
	plan, err := x.Plan(tasks.Start{Workdir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	late := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, late)
	defer cancel()
	var s session
	if err := plan.Run(ctx, &s, tasks.Watch{}); !errors.Is(err, late) {
		t.Error(err)
	}
	if !slices.Contains(s.log, "f") || slices.Contains(s.log, "b") || slices.Contains(s.log, "q") {
		t.Errorf("ran %q", s.log)
	}
}

// Over the environment stand the files, over them env. EV-11
func TestPlanEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"one.env": "A=one\nB=one\nC=one\n", "two.env": "B=two\nC=two\n"} {
		if err := os.WriteFile(filepath.Join(dir, "sub", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	x := one(
		t,
		`x: {workdir: "{{ .Vars.dir }}", env_file: [one.env, "{{ .Env.N }}.env"], env: {C: "{{ .Env.A }}"}, session: "s {{ .Env.C }}", commands: [a]}
`,
	)
	plan, err := x.Plan(
		tasks.Start{Workdir: dir, Env: []string{"A=process", "N=two"}, Vars: map[string]string{"dir": "sub"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"A": "one", "B": "two", "C": "process"}; !maps.Equal(plan.Env, want) {
		t.Errorf("%v, want %v", plan.Env, want)
	}
	if plan.Workdir != filepath.Join(dir, "sub") || plan.Session != "s process" ||
		plan.Timeout != tasks.DefaultTimeout {
		t.Errorf("%+v", plan)
	}
	x = one(t, "x: {env_file: none.env, commands: [a]}\n")
	if _, err := x.Plan(tasks.Start{Workdir: dir}); err == nil || !strings.Contains(err.Error(), "none.env") {
		t.Error(err)
	}
	x = one(t, "x: {commands: [a, '{{ index .Vars 1 }}']}\n")
	if _, err := x.Plan(tasks.Start{Workdir: dir}); err == nil || !strings.Contains(err.Error(), "commands[1]") {
		t.Error(err)
	}
	x = one(t, "x: {commands: [a]}\n")
	if _, err := x.Plan(
		tasks.Start{Workdir: dir, First: 3},
	); err == nil ||
		err.Error() != "cannot start with command 3: there are 1" {
		t.Error(err)
	}
}

// A served task runs again and again, never beside itself, and a failure does not
// end the others.
func TestServe(t *testing.T) {
	t.Parallel()
	list, _, err := load(t, map[string]string{"tasks/x.yaml": `often: {schedule: {every: 10ms}, commands: [a]}
slow: {schedule: {every: 10ms}, commands: [a]}
never: {commands: [a]}
past: {schedule: {once: 2020-01-01T00:00}, commands: [a]}
`})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var often, slow, beside, ended atomic.Int32
	var skipped string
	err = tasks.Serve(ctx, list, tasks.Service{Run: func(ctx context.Context, x tasks.Task) {
		switch x.Name {
		case "slow":
			if slow.Add(1) > 1 {
				beside.Add(1)
			}
			<-ctx.Done() // Until the others have run often enough.
			ended.Add(1)
		case "often":
			if often.Add(1) >= 5 && slow.Load() > 0 {
				stop()
			}
		default:
			t.Errorf("%s ran", x.Name)
		}
	}, Skip: func(x tasks.Task, err error) { skipped = fmt.Sprint(x.Name, err) }})
	if err != nil || beside.Load() != 0 || ended.Load() != 1 || !strings.HasPrefix(skipped, "past") {
		t.Errorf("%v; %d beside itself, %d ended, skipped %q", err, beside.Load(), ended.Load(), skipped)
	}
}

// Where nothing is left to run, serving ends.
func TestServeOnce(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(50 * time.Millisecond)
	once, err := schedule.Parse("once: " + at.Format(time.RFC3339Nano))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	err = tasks.Serve(
		t.Context(),
		[]tasks.Task{{Name: "x", Schedule: once}},
		tasks.Service{Run: func(context.Context, tasks.Task) { ran++ }},
	)
	if err != nil || ran != 1 {
		t.Errorf("ran %d times, %v", ran, err)
	}
}
