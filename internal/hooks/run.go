package hooks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/sh"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
)

// What one hook may tell the model; the middle of longer texts is left out. The
// tool's own result is never cut for it.
const (
	keepHead = 8 << 10
	keepTail = 4 << 10
)

// job is one run of a hook.
type job struct {
	payload []byte   // Standard input.
	paths   []string // Those that the files glob matches.
	dir     string
	env     []string // nil: that of the process.
	tool    string   // Name of the tool; empty at other moments.
}

// start runs the command until it ends or its time is over.
func (e Entry) start(ctx context.Context, j job) (sh.Result, error) {
	limited, cancel := context.WithTimeout(ctx, cmp.Or(e.Timeout, DefaultTimeout))
	defer cancel()
	limit := 0
	if e.Silent {
		limit = -1
	}
	return sh.Run(limited, sh.Command{
		Script: e.Command, Dir: j.dir, Env: e.environ(j), Stdin: bytes.NewReader(j.payload), Limit: limit,
	})
}

// The variables that a hook gets from the host. Those of the process are hidden.
const (
	envFile  = "FILE"           // Matched paths with blanks between them.
	envFiles = "AURA_FILES"     // The same, one per line.
	envHook  = "AURA_HOOK"      // Name of the hook.
	envTool  = "AURA_TOOL_NAME" // Name of the tool.
)

// environ is the environment of the command.
func (e Entry) environ(j job) []string {
	from := j.env
	if from == nil {
		from = os.Environ()
	}
	out := make([]string, 0, len(from)+5)
	for _, kv := range from {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case envFile, envFiles, envHook, envTool:
		default:
			if e.passes(name) {
				out = append(out, kv)
			}
		}
	}
	out = append(out, envHook+"="+e.Name)
	if j.tool != "" {
		out = append(out, envTool+"="+j.tool)
	}
	if len(j.paths) > 0 {
		out = append(out, envFile+"="+strings.Join(j.paths, " "), envFiles+"="+strings.Join(j.paths, "\n"))
	}
	if e.hook != nil && e.hook.Foreign != "" {
		out = append(out, "CLAUDE_PROJECT_DIR="+j.dir)
	}
	return out
}

// passes reports whether the hook's env list lets a variable through.
func (e Entry) passes(name string) bool {
	if e.hook == nil || e.hook.Env == nil {
		return true
	}
	basic := []string{"PATH", "HOME"}
	if runtime.GOOS == "windows" { // Nothing starts there without these.
		name = strings.ToUpper(name)
		basic = append(basic, "PATHEXT", "SYSTEMROOT", "USERPROFILE", "TEMP", "TMP")
	}
	return slices.Contains(basic, name) ||
		slices.ContainsFunc(e.hook.Env, func(p string) bool { return tool.Match(p, name) })
}

// gate reports whether a failure of the hook blocks.
func (e Entry) gate() bool { return e.hook != nil && e.hook.OnFailure == string(lifecycle.Deny) }

// judge reads the verdict out of a finished run. An error means that the hook
// gave none: a *lifecycle.Fault if it crashed, took too long or could not start.
func (e Entry) judge(res sh.Result, err error) (answer, error) {
	if e.Silent {
		return answer{}, e.failed(res, err)
	}
	if err := e.failed(res, err); err != nil {
		verdict := lifecycle.Failed
		switch {
		case res.TimedOut:
			verdict = lifecycle.TimedOut
		case res.Signal != "":
			verdict = lifecycle.Panicked
		}
		text := words(res)
		if text == "" {
			text = fmt.Sprintf("hook %q %v", e.Name, err)
		} else {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return answer{}, &lifecycle.Fault{Verdict: verdict, Err: err, Feedback: e.prefix() + text}
	}
	switch res.ExitCode {
	case 0:
		return e.read(res)
	case 2:
		return answer{deny: true, reason: cmp.Or(words(res), "hook blocked: "+e.Command), mute: words(res) == ""}, nil
	}
	text := words(res)
	if e.gate() { // Whatever it was, it was neither yes nor no.
		return answer{}, fmt.Errorf("exit code %d: %s", res.ExitCode, cmp.Or(text, "no output"))
	}
	a := answer{failed: true}
	a.Message = text
	return a, nil
}

// failed is the error of a hook that did not come to its end.
func (e Entry) failed(res sh.Result, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("could not run: %w", err)
	case res.TimedOut:
		return fmt.Errorf("timed out after %s", cmp.Or(e.Timeout, DefaultTimeout))
	case res.Signal != "":
		return fmt.Errorf("died of a signal (%s)", res.Signal)
	case res.NotFound:
		return errors.New("could not find its command")
	}
	return nil
}

// read takes the verdict from the output of a hook that ended well.
func (e Entry) read(res sh.Result) (answer, error) {
	a, err := parse(res.Stdout)
	brace := bytes.HasPrefix(bytes.TrimLeft(res.Stdout, " \t\r\n"), []byte("{"))
	switch {
	case err != nil:
		return answer{}, fmt.Errorf("standard output: %w", err)
	case a.plain && brace && (e.gate() || res.DroppedStdout > 0):
		// Perhaps it was meant to be a no.
		return answer{}, fmt.Errorf(
			"standard output begins like JSON and is not (%d bytes)",
			int64(len(res.Stdout))+res.DroppedStdout,
		)
	}
	a.Message = cut(a.Message)
	a.reason = cut(a.reason)
	return a, nil
}

// plainly is the verdict as a Runner tells it.
func (e Entry) plainly(pre bool, res sh.Result, err error) (message string, blocked bool) {
	a, err := e.judge(res, err)
	if f, ok := errors.AsType[*lifecycle.Fault](err); ok {
		return strings.TrimPrefix(f.Feedback, e.prefix()), pre && e.gate()
	}
	switch {
	case err != nil:
		return fmt.Sprintf("hook %q failed: %v", e.Name, err), pre && e.gate()
	case pre && (a.deny || a.stop || a.ask):
		return a.why(), true
	}
	return a.feedback(), false
}

// words is what a run has to say when it did not end well.
func words(res sh.Result) string {
	if text := strings.TrimSpace(string(res.Stderr)); text != "" {
		return cut(text)
	}
	return cut(strings.TrimSpace(string(res.Stdout)))
}

// cut makes text valid UTF-8 and leaves out its middle if it is too long.
func cut(text string) string {
	if len(text) > keepHead+keepTail {
		text = fmt.Sprintf(
			"%s\n[… %d bytes left out]\n%s",
			wording.Head(text, keepHead),
			len(text)-keepHead-keepTail,
			wording.Tail(text, keepTail),
		)
	}
	return strings.ToValidUTF8(text, "�")
}
