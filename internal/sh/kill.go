package sh

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// The interpreter runs background jobs as goroutines and lacks kill: its $! is
// "g1", "g2" and so on. To make `server & ...; kill $!` work, scripts that use
// kill have every `job &` replaced by `{ jobBegin; job & jobEnd $!; }`. The first
// command marks the environment that the job inherits, the last one learns
// which number the interpreter gave it.
const (
	jobBegin = "__job_begin"
	jobEnd   = "__job_end"
	jobMark  = "__job"
)

// markJobs rewrites the background jobs of a script that mentions kill.
func markJobs(script string, file *syntax.File) {
	if !strings.Contains(script, "kill") || !strings.Contains(script, "&") {
		return
	}
	var found []*syntax.Stmt
	syntax.Walk(file, func(n syntax.Node) bool {
		if st, ok := n.(*syntax.Stmt); ok && st.Background && st.Cmd != nil {
			found = append(found, st)
		}
		return true
	})
	for _, st := range found {
		job := *st
		last := &syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "!"}}
		*st = syntax.Stmt{Position: st.Position, Cmd: &syntax.Block{Stmts: []*syntax.Stmt{
			{Cmd: &syntax.CallExpr{Args: []*syntax.Word{word(&syntax.Lit{Value: jobBegin})}}},
			&job,
			{Cmd: &syntax.CallExpr{Args: []*syntax.Word{word(&syntax.Lit{Value: jobEnd}), word(last)}}},
		}}}
	}
}

func word(part syntax.WordPart) *syntax.Word { return &syntax.Word{Parts: []syntax.WordPart{part}} }

// beginJob marks the environment for the job that comes next.
func (j *jobs) beginJob() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.marks++
	return []string{"eval", jobMark + "=" + strconv.Itoa(j.marks)}
}

// endJob learns the interpreter's number of the job that was marked last.
func (j *jobs) endJob(ctx context.Context, args []string) []string {
	mark := interp.HandlerCtx(ctx).Env.Get(jobMark).String()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.names == nil {
		j.names = make(map[string]string)
	}
	if len(args) > 1 {
		j.names[args[1]] = mark
	}
	return []string{"true"}
}

// kill hands the builtin to the program of the same name, with the processes
// of the jobs it names.
func (j *jobs) kill(ctx context.Context, args []string) []string {
	hc := interp.HandlerCtx(ctx)
	targets := []string{"kill"}
	for _, arg := range args[1:] {
		if !isJobName(arg) {
			targets = append(targets, arg)
			continue
		}
		pids := j.processes(ctx, arg)
		if len(pids) == 0 {
			fmt.Fprintf(hc.Stderr, "kill: (%s) - no such process\n", arg)
			return []string{"false"}
		}
		targets = append(targets, pids...)
	}
	// The script's own number, $$, is that of the whole program.
	if len(args) > 1 && args[1] != "-0" && slices.Contains(args[1:], strconv.Itoa(os.Getpid())) {
		return []string{"exit", "143"}
	}
	path, err := interp.LookPathDir(hc.Dir, hc.Env, "kill")
	if err != nil {
		return args
	}
	targets[0] = path
	return targets
}

// isJobName reports whether s is a number as the interpreter gives it to a job.
func isJobName(s string) bool {
	number, ok := strings.CutPrefix(s, "g")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// processes returns the running commands of a job. One that was started just
// now gets a moment to begin.
func (j *jobs) processes(ctx context.Context, name string) []string {
	const patience = 100 * time.Millisecond
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		var pids []string
		j.mu.Lock()
		mark, known := j.names[name]
		for leader, m := range j.running {
			if known && m == mark {
				pids = append(pids, strconv.Itoa(leader.Pid))
			}
		}
		j.mu.Unlock()
		if len(pids) > 0 || !known || ctx.Err() != nil || time.Now().After(end) {
			return pids
		}
	}
}
