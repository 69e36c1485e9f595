//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// deploy is the guide's tool that needs approval. It leaves a mark for each run.
const deploy = `
from agent.tools.schema import SideEffect

def register(api):
    @api.tool(
        name="deploy",
        description="Deploy to production",
        input_schema={"type": "object", "properties": {}, "additionalProperties": False},
        side_effects=[SideEffect.NETWORK],
        requires_approval=True,
    )
    async def deploy(ctx: ExtensionContext) -> str:
        with open("deployed", "a") as f: f.write("x")
        return "it is out"
`

// file is what a file of the project holds.
func (p *terminalUser) file(name string) string {
	data, _ := os.ReadFile(filepath.Join(p.cmd.Dir, name))
	return string(data)
}

// expectFile waits until a file of the project holds text.
func (p *terminalUser) expectFile(name, text string) {
	p.t.Helper()
	for !strings.Contains(p.file(name), text) {
		p.mu.Lock()
		gone := p.gone
		p.mu.Unlock()
		if gone {
			p.t.Fatalf("%s never had %q but %q; the screen had %q", name, text, p.file(name), p.screen())
		}
		time.Sleep(time.Millisecond)
	}
}

// AX-15 AX-57: a user is asked before a tool that requires approval runs. Refused, it does
// not run and the model hears why; allowed for the session, it is not asked about again.
func TestTerminalExtensionApproval(t *testing.T) {
	t.Parallel()
	p := startTerminal(t, map[string]string{
		".aura/config/providers/p.yaml": scripted, ".agent/extensions/ops.py": deploy,
		"turns.yaml": `
turns:
  - calls: [{name: deploy}]
  - expect: {last: ["it is out"]}
    calls: [{name: deploy}]
  - expect: {last: ["denied by the user: too risky"]}
    calls: [{name: deploy}]
  - expect: {last: ["it is out"]}
    calls: [{name: deploy}]
  - expect: {last: ["it is out"]}
    text: All asked.
`}, "--plain")
	p.expect("code> ")
	p.send("go\r")
	p.expect(`extension "ops" wants approval for deploy`)
	p.expect("[y] once")
	if got := p.file("deployed"); got != "" {
		t.Errorf("it ran before the user agreed: %q", got)
	}
	p.send("y")
	p.expect("[y] once")
	p.send("n")
	p.expect("Enter for none")
	p.send("too risky\r")
	p.expect("[y] once")
	if got := p.file("deployed"); got != "x" {
		t.Errorf("after one yes and one no it ran: %q", got)
	}
	p.send("s")
	p.expect("All asked.")
	p.expect("code> ")
	p.send("\x04")
	p.waitExit(0)
	if got := p.file("deployed"); got != "xxx" {
		t.Errorf("it ran: %q", got)
	}
	if n := strings.Count(
		p.screen(),
		"[y] once",
	); n < 3 ||
		strings.Count(p.screen(), "wants approval for deploy") != 3 {
		t.Errorf("asked %d times: %s", n, p.screen())
	}
}

// waitingExtension waits until its signal is set, in every kind of function.
const waitingExtension = `
import time

def note(text):
    with open("notes", "a") as f: f.write(text + "\n")

def register(api):
    def wait(name, ctx):
        ctx.logger.info("%s has begun", name)
        while not ctx.signal.is_set(): time.sleep(0.005)
        note(name + " heard it")

    @api.tool(name="sync", description="", input_schema={"type": "object"})
    def sync(ctx): wait("sync tool", ctx)

    @api.tool(name="async", description="", input_schema={"type": "object"})
    async def coroutine(ctx):
        ctx.logger.info("async tool has begun")
        await ctx.signal.wait()
        note("async tool heard it")

    @api.on("tool_call")
    def before(event, ctx):
        if event.tool_name == "Glob": wait("handler", ctx)

    @api.on("assistant_message")
    async def after(event, ctx):
        if event.content == "Wait.":
            ctx.logger.info("async handler has begun")
            await ctx.signal.wait()
            note("async handler heard it")

    @api.command("wait")
    def command(args, ctx): wait("command", ctx)

    @api.command("alive")
    def alive(args, ctx): return "still the same" if api.kept == 1 else "another one"
    api.kept = 0

    @api.on("session_start")
    def start(event, ctx): api.kept += 1

    @api.on("session_end")
    def end(event, ctx): note("end: " + event.reason)
`

const waitingTurns = `
turns:
  - {when: first, calls: [{name: sync}]}
  - {when: second, calls: [{name: async}]}
  - {when: third, calls: [{name: Glob, arguments: {pattern: "*.md"}}]}
  - {when: fourth, text: Wait.}
`

// AX-30 AX-36 HO-64: Ctrl+C reaches the signal of whatever runs, sync or async. The process
// goes on with what it kept, and the session ends once.
func TestTerminalExtensionInterrupt(t *testing.T) {
	t.Parallel()
	p := startTerminal(t, map[string]string{
		".aura/config/providers/p.yaml": scripted,
		".agent/extensions/waiting.py":  waitingExtension,
		"turns.yaml":                    waitingTurns,
	}, "--plain")
	p.expect("code> ")
	for _, c := range []struct{ line, runs string }{
		{"first", "sync tool"},
		{"second", "async tool"},
		{"third", "handler"},
		{"fourth", "async handler"},
		{"/wait", "command"},
	} {
		p.send(c.line + "\r")
		p.expect(c.runs + " has begun")
		p.send("\x03")
		p.expectFile("notes", c.runs+" heard it\n")
		p.expect("code> ")
	}
	p.send("/alive\r")
	p.expect("still the same")
	p.expect("code> ")
	if strings.Contains(p.file("notes"), "end") {
		t.Error("the session ended with a turn")
	}
	p.send("\x04")
	p.waitExit(0)
	if want := "sync tool heard it\nasync tool heard it\nhandler heard it\nasync handler heard it\n" +
		"command heard it\nend: exit\n"; p.file(
		"notes",
	) != want {
		t.Errorf("notes %q", p.file("notes"))
	}
}

// AX-36: a run that is interrupted ends its session, once, as every other does.
func TestTerminalExtensionRunInterrupted(t *testing.T) {
	t.Parallel()
	p := startTerminal(t, map[string]string{
		".aura/config/providers/p.yaml": scripted,
		".agent/extensions/waiting.py":  waitingExtension,
		"turns.yaml":                    waitingTurns,
	}, "run", "first")
	p.expect("sync tool has begun")
	p.send("\x03")
	p.waitExit(130)
	if got := p.file("notes"); !strings.Contains(got, "sync tool heard it\n") || strings.Count(got, "end: ") != 1 {
		t.Errorf("notes %q", got)
	}
}

// AX-17 AX-33: commands of extensions and what they say, in the full-screen interface.
func TestTerminalExtensionCommand(t *testing.T) {
	t.Parallel()
	p := startTerminal(t, map[string]string{
		".aura/config/providers/p.yaml": scripted,
		"turns.yaml":                    "turns: [{text: Hello}]\n",
		".agent/extensions/anatomy.py": "def register(api):\n    @api.command('ping', description='Pong!')\n" +
			"    async def ping(args, ctx): ctx.logger.info('Pong to %s', args)\n",
	})
	p.expect("say something")
	p.send("/ping you\r")
	p.expect("Pong to you")
	p.send("\x04")
	p.waitExit(0)
}
