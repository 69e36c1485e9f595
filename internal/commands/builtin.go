package commands

import (
	"context"
	"fmt"
)

// The headings of /help, in order.
const (
	general      = "General"
	agents       = "Agent"
	switches     = "Switches"
	conversation = "Conversation"
	sessions     = "Sessions"
	automation   = "Automation"
)

// Builtin returns the commands that are always there, grouped as /help shows
// them.
func Builtin() []Command {
	return []Command{
		{Name: "help", Group: general, Hints: []string{"[command]"}, Run: help,
			Description: "List the commands, or explain one"},
		{Name: "info", Group: general, Run: bare("info", info),
			Description: "Show agent, model, session, counts and switches"},
		{Name: "context", Group: general, Run: bare("context", contextState),
			Description: "Show how full the context window is, and with what"},
		{Name: "ctx", Group: general, Run: bare("ctx", contextState), Description: "Same as /context"},
		{Name: "trace", Group: general, Hints: []string{"[count]"}, Run: trace, Details: traceDetails,
			Description: "Show what guards, hooks, plugins and extensions did lately"},
		{Name: "why", Group: general, Run: bare("why", why), Details: whyDetails,
			Description: "Explain the last refusal or change by a guard, hook, plugin or extension"},
		{Name: "reload", Group: general, Run: bare("reload", reload),
			Description: "Read the configuration and all extensions anew"},
		{Name: "exit", Group: general, Run: bare("exit", exit), Description: "End the session"},
		{Name: "quit", Group: general, Run: bare("quit", exit), Description: "Same as /exit"},

		{Name: "agent", Group: agents, Hints: []string{"[name]"}, Run: switchAgent,
			Description: "List the agents, or make one active"},
		{Name: "mode", Group: agents, Hints: []string{"[name|none]"}, Run: switchMode,
			Description: "List the modes, make one active, or leave the mode"},
		{Name: "model", Group: agents, Hints: []string{"[name]"}, Run: switchModel,
			Description: "List the models of the provider, or use another one"},
		{Name: "think", Group: agents, Hints: []string{"[off|on|low|medium|high]"}, Run: think, Details: thinkDetails,
			Description: "Show or set how much the model thinks"},
		{Name: "tools", Group: agents, Run: bare("tools", listTools), Details: toolsDetails,
			Description: "List all tools, where they come from, and which are available"},
		{Name: "hooks", Group: agents, Run: bare("hooks", listHooks), Details: hooksDetails,
			Description: "List the shell hooks of the current agent and mode, in running order"},
		{Name: "plugins", Group: agents, Run: bare("plugins", listPlugins), Details: pluginsDetails,
			Description: "List what the loaded plugins do, by moment"},
		{Name: "extensions", Group: agents, Run: bare("extensions", listExtensions), Details: extensionsDetails,
			Description: "List everything that extends the session, kind by kind"},
		{
			Name:        "skills",
			Group:       agents,
			Hints:       []string{"[show|use]", "[name]", "[request]"},
			Run:         manageSkills,
			Details:     skillsDetails,
			Description: "List the skills, show one, or send one to the model",
		},
		{Name: "mcp", Group: agents, Hints: []string{"[name]", "[reconnect name]"}, Run: manageMCP, Details: mcpDetails,
			Description: "List the MCP servers, show one, or connect one anew"},
		{Name: "policy", Group: agents, Run: bare("policy", policy),
			Description: "Show which tool calls are denied, asked about and approved"},

		{Name: "auto", Group: switches, Hints: []string{"[on|off]"}, Run: auto, Details: autoDetails,
			Description: "Switch auto mode"},
		{Name: "done", Group: switches, Hints: []string{"[on|off]"}, Run: done, Details: doneDetails,
			Description: "Switch the Done tool"},
		{Name: "verbose", Group: switches, Hints: []string{"[on|off]"}, Run: verbose,
			Description: "Switch the display of thinking"},
		{Name: "sandbox", Group: switches, Hints: []string{"[on|off]"}, Run: sandbox, Details: sandboxDetails,
			Description: "Show or switch the sandbox"},
		{
			Name:        "readbefore",
			Group:       switches,
			Hints:       []string{"[write|delete|all]", "[on|off]"},
			Run:         readBefore,
			Details:     readBeforeDetails,
			Description: "Show or switch the rule that files are read before they are changed",
		},

		{Name: "clear", Group: conversation, Run: bare("clear", clearAll), Details: clearDetails,
			Description: "Begin a new conversation"},
		{Name: "compact", Group: conversation, Run: bare("compact", compact),
			Description: "Replace the older part of the conversation by a summary"},
		{Name: "undo", Group: conversation, Run: bare("undo", undo), Details: undoDetails,
			Description: "Take back the latest input and the answer to it"},
		{Name: "todo", Group: conversation, Run: bare("todo", showTodo), Description: "Show the todo list"},

		{Name: "save", Group: sessions, Hints: []string{"[title]"}, Run: save,
			Description: "Write the session to disk now, under a title if one is given"},
		{Name: "name", Group: sessions, Hints: []string{"[name]"}, Run: name,
			Description: "Show the session's name, or give it one to resume it by"},
		{Name: "sessions", Group: sessions, Hints: []string{"[all]"}, Run: listSessions,
			Description: "List the saved sessions, the latest 20 or all"},
		{Name: "resume", Group: sessions, Hints: []string{"[id|name]"}, Run: resume, Details: resumeDetails,
			Description: "List the saved sessions, or continue one"},
		{Name: "fork", Group: sessions, Run: bare("fork", fork), Details: forkDetails,
			Description: "Copy the session and continue in the copy"},
		{Name: "export", Group: sessions, Hints: []string{"[file.md|file.json]"}, Run: export, Details: exportDetails,
			Description: "Write the conversation to a new file, or print it"},

		{
			Name:        "assert",
			Group:       automation,
			Hints:       []string{"[not]", "<condition>", `"action"...`},
			Run:         assert,
			Details:     assertDetails,
			Description: "Run actions if a condition is true",
		},
		{
			Name:        "until",
			Group:       automation,
			Hints:       []string{"[--max N]", "[not]", "<condition>", `"action"...`},
			Run:         until,
			Details:     untilDetails,
			Description: "Repeat actions until a condition is true",
		},
	}
}

// bare makes a Run of a command that takes no arguments.
func bare(name string, run func(context.Context, *Session) error) func(context.Context, *Session, string) error {
	return func(ctx context.Context, s *Session, args string) error {
		if args != "" {
			return fmt.Errorf("%s takes no arguments, got %q", name, clip(args, 40))
		}
		return run(ctx, s)
	}
}
