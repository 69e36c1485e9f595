package sh

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// kind is what a command does with its words behind the options.
type kind int

const (
	runs    kind = iota // They are a command.
	scripts             // Together they are a script.
	first               // The first is a script.
	shell               // With -c the first is a script; else it is a file with one, or the input is one.
	marked              // Behind certain words there are commands.
	names               // They are name=script.
)

// wrapper describes a command that runs others. Options that are not listed take no
// argument; an unlisted one that does makes its argument look like the command, which
// no rule is likely to allow.
type wrapper struct {
	kind     kind
	takes    string // Options with an argument.
	attached string // Options whose argument, if any, is in the same word.
	script   string // Options whose argument is a script.
	replace  string // Options whose argument stands for words that come from elsewhere.
	never    string // Options with which it runs nothing.
	starts   string // Options with which it starts a shell if there is no command; * is always.
	marks    string // Of marked: the words before commands.
	operands int    // Words between the options and the command.
	direct   string // Options with which there are no such words.
	assigns  bool   // Variables may be set before the command.
	appends  bool   // Words from elsewhere follow the command.
}

// anyNumber of operands is more than a script can have.
const anyNumber = maxScript

// wrapperOf returns the wrapper of that name. It is what decides which commands are
// seen inside others: programs that start others in ways of their own (git, make, ssh,
// docker, editors) and other languages (python -c, awk) are not among them.
func wrapperOf(name string) (wrapper, bool) {
	switch name = path.Base(name); name {
	case "command":
		return wrapper{never: "-v -V"}, true
	case "builtin", "nohup", "setsid", "busybox", "toybox", "unbuffer":
		return wrapper{}, true
	case "exec":
		return wrapper{takes: "-a"}, true
	case "eval":
		return wrapper{kind: scripts}, true
	case "trap":
		return wrapper{kind: first, never: "-l -p"}, true
	case "alias":
		return wrapper{kind: names}, true
	case "sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh":
		return wrapper{kind: shell, takes: "--rcfile --init-file", script: "--command"}, true
	case "watch":
		return wrapper{kind: scripts, takes: "-n -q -s --equexit --interval --shotsdir"}, true
	case "xargs", "gxargs":
		return wrapper{
			takes: "-a -d -E -I -J -L -n -P -R -s -S --arg-file --delimiter --max-args --max-chars " +
				"--max-procs --process-slot-var",
			attached: "-e -i -l --eof --max-lines --replace",
			replace:  "-I -i -J --replace",
			appends:  true,
		}, true
	case "parallel":
		return wrapper{
			kind: scripts,
			takes: "-a -d -E -I -j -L -n -N -P -s -S --arg-file --arg-sep --colsep --delay --delimiter --jobs " +
				"--joblog --load --max-args --max-procs --memfree --results --retries --sshlogin --tagstring " +
				"--timeout --tmpdir --workdir",
			replace: "-I",
			appends: true,
		}, true
	case "find", "gfind":
		return wrapper{kind: marked, marks: "-exec -execdir -ok -okdir"}, true
	case "fd", "fdfind":
		return wrapper{kind: marked, marks: "-x -X --exec --exec-batch", appends: true}, true
	}
	return placeOf(name)
}

// placeOf returns the wrapper of a program that runs another one in other surroundings:
// as another user, somewhere else, with other limits.
func placeOf(name string) (wrapper, bool) {
	switch name {
	case "sudo":
		return wrapper{
			takes: "-C -D -g -h -p -R -r -T -t -U -u --chdir --chroot --close-from --command-timeout --group " +
				"--host --other-user --prompt --role --type --user",
			never:   "-e -l -v -V -K --edit --list --validate --version --remove-timestamp",
			starts:  "-i -s --login --shell",
			assigns: true,
		}, true
	case "doas":
		return wrapper{takes: "-a -C -u", never: "-L", starts: "-s"}, true
	case "pkexec":
		return wrapper{takes: "--user"}, true
	case "su":
		return wrapper{
			takes:    "-g -G -s -w --group --supp-group --shell --whitelist-environment",
			script:   "-c --command --session-command",
			starts:   "*",
			operands: anyNumber,
		}, true
	case "chroot":
		return wrapper{takes: "--userspec --groups", starts: "*", operands: 1}, true
	case "env":
		return wrapper{takes: "-a -C -P -u --argv0 --chdir --unset", script: "-S --split-string", assigns: true}, true
	case "nice":
		return wrapper{takes: "-n --adjustment"}, true
	case "ionice":
		return wrapper{takes: "-c -n --class --classdata", never: "-p -P -u --pid --pgid --uid"}, true
	case "chrt":
		return wrapper{
			takes:    "-D -P -T --sched-deadline --sched-period --sched-runtime",
			never:    "-m -p --max --pid",
			operands: 1,
		}, true
	case "taskset":
		return wrapper{never: "-p --pid", operands: 1}, true
	case "time", "gtime":
		return wrapper{takes: "-f -o --format --output"}, true
	case "timeout", "gtimeout":
		return wrapper{takes: "-k -s --kill-after --signal", operands: 1}, true
	case "stdbuf", "gstdbuf":
		return wrapper{takes: "-e -i -o --error --input --output"}, true
	case "caffeinate":
		return wrapper{takes: "-t -w"}, true
	case "strace":
		return wrapper{
			takes: "-a -b -e -E -I -o -O -p -P -s -S -u -U -X --attach --env --output --string-limit --trace --user",
		}, true
	case "flock":
		return wrapper{takes: "-E -w --conflict-exit-code --timeout --wait", script: "-c --command", operands: 1}, true
	case "script":
		return wrapper{
			takes: "-B -E -I -m -o -O -T --echo --log-in --log-io --log-out --log-timing --logging-format " +
				"--output-limit",
			script:   "-c --command",
			operands: 1,
		}, true

	case "fakeroot":
		return wrapper{takes: "-b -f -i -l -s --faked --fd-base --lib", starts: "*"}, true
	case "fakechroot":
		return wrapper{takes: "-b -c -d -e -l --bindir --config-dir --elfloader --environment --lib", starts: "*"}, true
	case "proot":
		return wrapper{
			takes: "-b -i -k -m -q -r -R -S -v -w --bind --change-id --cwd --kernel-release --mount --pwd " +
				"--qemu --rootfs --verbose",
			starts: "*",
		}, true
	case "unshare":
		return wrapper{
			takes: "-G -R -S -w --boottime --map-group --map-groups --map-user --map-users --monotonic " +
				"--propagation --root --setgid --setgroups --setuid --wd",
			attached: "-C -T -U -i -m -n -p -u --cgroup --ipc --kill-child --mount --mount-proc --net --pid " +
				"--time --user --uts",
			starts: "*",
		}, true
	case "nsenter":
		return wrapper{
			takes: "-G -S -t --setgid --setuid --target",
			attached: "-C -T -U -i -m -n -p -r -u -w --cgroup --ipc --mount --net --pid --root --time --user " +
				"--uts --wd --wdns",
			starts: "*",
		}, true
	case "setpriv":
		return wrapper{
			takes: "--ambient-caps --apparmor-profile --bounding-set --egid --euid --groups --inh-caps " +
				"--pdeathsig --regid --reuid --rgid --ruid --securebits --selinux-label",
		}, true
	case "prlimit":
		return wrapper{takes: "-o -p --output --pid", never: "-p --pid"}, true
	case "systemd-run":
		return wrapper{
			takes: "-E -H -M -p -u --background --description --gid --host --job-mode --json --machine --nice " +
				"--on-active --on-boot --on-calendar --on-startup --on-unit-active --on-unit-inactive " +
				"--path-property --property --service-type --setenv --slice --socket-property --timer-property " +
				"--uid --unit --working-directory",
			starts: "-S --shell",
		}, true
	case "runuser": // With -u a command follows, else a user and options for a shell.
		return wrapper{
			takes:  "-g -G -s -u -w --group --shell --supp-group --user --whitelist-environment",
			script: "-c --command --session-command", starts: "*", operands: anyNumber, direct: "-u --user",
		}, true
	}
	return wrapper{}, false
}

// unwrap looks at the commands that c runs. It reports whether some of them cannot be
// known.
func (s *scan) unwrap(c command) (unknown bool) {
	w, ok := wrapperOf(c.words[0].literal)
	if !ok {
		return s.sourced(c)
	}
	switch w.kind {
	case shell:
		return s.shell(w, c)
	case marked:
		return s.marked(w, c)
	case names:
		return s.alias(c)
	}
	o := w.options(c.words)
	rest := c.words[o.end:]
	unknown = o.unknown || slices.ContainsFunc(c.words[1:o.end], term.shifts)
	if o.never {
		return unknown
	}
	if o.script != nil {
		unknown = unknown || o.script.open
		text := o.script.literal
		if w.assigns { // Of env: the words that follow belong to it.
			text += " " + quoted(rest)
		}
		s.nest(text, c.in, c.depth+1)
		return unknown
	}
	switch {
	case w.kind == scripts:
		return s.joined(w, rest, c) || unknown
	case w.kind == first:
		if len(rest) > 1 && rest[0].literal != "-" {
			s.nest(rest[0].literal, c.in, c.depth+1)
			return unknown || rest[0].open
		}
		return unknown
	case len(rest) == 0:
		if w.starts == "*" || o.starts {
			return !s.read(c.in, c.depth) || unknown
		}
		return unknown
	}
	s.inside(c, o.end, len(c.words), w.appends, o.replace)
	return unknown
}

// inside looks at words[from:to] of c as a command. Its arguments may come from
// elsewhere: in the place of a word, or behind the others.
func (s *scan) inside(c command, from, to int, appends bool, replace string) {
	in := c
	in.words, in.at, in.depth = c.words[from:to], c.at+from, c.depth+1
	switch {
	case replace != "":
		in.words = slices.Clone(in.words)
		for i, w := range in.words {
			if at := strings.Index(w.literal, replace); at >= 0 {
				w.sure = min(at, len(w.known()))
				w.open, w.loose = true, w.loose || w.literal == replace
				w.fixed = strings.ReplaceAll(w.fixed, replace, "")
				in.words[i] = w
			}
		}
	case appends:
		in.words = append(slices.Clone(in.words), term{text: "{}", literal: "{}", open: true, loose: true})
	}
	s.command(in)
}

// joined looks at words that are a script together.
func (s *scan) joined(w wrapper, rest []term, c command) (unknown bool) {
	if w.appends { // Of parallel: behind ::: there are arguments.
		if i := slices.IndexFunc(rest, func(w term) bool { return strings.HasPrefix(w.literal, ":::") }); i >= 0 {
			rest = rest[:i]
		}
		if len(rest) == 0 {
			return true
		}
	}
	text := join(rest, literal)
	if w.appends && !strings.Contains(text, "{}") {
		text += " {}"
	}
	s.nest(text, c.in, c.depth+1)
	return slices.ContainsFunc(rest, func(w term) bool { return w.open })
}

// options is how a command line begins.
type options struct {
	end     int    // Where the command begins.
	script  *term  // The argument of an option that takes a script.
	replace string // That of an option that names a word to be replaced.
	never   bool   // Nothing runs.
	direct  bool   // The command follows the options.
	starts  bool   // A shell runs if there is no command.
	unknown bool   // A word may be an option or not.
}

// options skips the options, variables and operands before a command.
func (w wrapper) options(words []term) (o options) {
	operands := w.operands
	for o.end = 1; o.end < len(words); o.end++ {
		if o.direct {
			operands = 0
		}
		next := words[o.end]
		text := next.literal
		switch {
		case next.lead():
			// It may be an option, or nothing; not if more than a variable is in it.
			o.unknown = true
			if w.kind != runs || next.fixed != "" && operands == 0 {
				return o
			}
			operands = max(operands-1, 0)
		case text == "--":
			o.end = min(o.end+1+operands, len(words))
			return o
		case len(text) > 1 && text[0] == '-':
			w.option(next, words, &o)
			if o.never {
				return o
			}
		case text == "-": // env -, su -
		case w.assigns && strings.Index(next.fixed, "=") > 0:
		case operands > 0:
			operands--
		default:
			return o
		}
	}
	o.end = min(o.end, len(words))
	return o
}

// option reads one word with options, as far as it is known, and its argument.
func (w wrapper) option(next term, words []term, o *options) {
	known := next.known()
	if strings.HasPrefix(known, "--") {
		name, _, has := strings.Cut(known, "=")
		value := next.literal[min(len(name)+1, len(next.literal)):]
		w.apply(name, term{literal: value, open: next.open}, has, words, o)
		return
	}
	for i := 1; i < len(known); i++ {
		name, value := "-"+known[i:i+1], next.literal[i+1:]
		if w.apply(name, term{literal: value, open: next.open}, value != "", words, o) {
			return
		}
	}
}

// apply notes an option; value is what follows it in the same word. It reports whether
// the option has used that up.
func (w wrapper) apply(name string, value term, has bool, words []term, o *options) (used bool) {
	script, replace := lists(w.script, name), lists(w.replace, name)
	o.direct = o.direct || lists(w.direct, name)
	switch {
	case lists(w.never, name):
		o.never = true
	case lists(w.starts, name):
		o.starts = true
	case lists(w.attached, name):
		if replace {
			o.replace = "{}"
			if has {
				o.replace = value.literal
			}
		}
		return true
	case script || lists(w.takes, name):
		if !has && o.end+1 < len(words) {
			o.end++
			value = words[o.end]
		}
		if script {
			o.script = &value
		}
		if replace {
			o.replace = value.literal
		}
		return true
	}
	return false
}

// lists reports whether a list of options has this one. Long ones may be shortened.
func lists(list, name string) bool {
	for option := range strings.FieldsSeq(list) {
		if option == name || len(name) > 3 && name[1] == '-' && strings.HasPrefix(option, name) {
			return true
		}
	}
	return false
}

// shell looks at the script that a shell is to run.
func (s *scan) shell(w wrapper, c command) (unknown bool) {
	var o options
	takesScript, reads := false, false
	for o.end = 1; o.end < len(c.words); o.end++ {
		next := c.words[o.end]
		text := next.literal
		if next.lead() && takesScript {
			break
		}
		if next.lead() {
			unknown = true
			continue
		}
		if text == "-" || text == "--" {
			o.end++
			break
		}
		if len(text) < 2 || text[0] != '-' && text[0] != '+' {
			break
		}
		if strings.HasPrefix(text, "--") {
			w.option(next, c.words, &o)
			continue
		}
		for _, letter := range next.known()[1:] {
			switch letter {
			case 'c':
				takesScript = true
			case 's':
				reads = true
			case 'o', 'O':
				o.end++
			}
		}
	}
	o.end = min(o.end, len(c.words))
	rest := c.words[o.end:]
	unknown = unknown || slices.ContainsFunc(c.words[1:o.end], term.shifts)
	if takesScript && o.script == nil && len(rest) > 0 {
		o.script = &rest[0]
	}
	switch {
	case o.script != nil:
		s.nest(o.script.literal, c.in, c.depth+1)
		return unknown || o.script.open
	case takesScript:
		return unknown
	case reads || len(rest) == 0 || isInput(rest[0].literal):
		return !s.read(c.in, c.depth) || unknown
	}
	return unknown // A file, like any program.
}

// sourced looks at `source`, if it does not read a file.
func (s *scan) sourced(c command) (unknown bool) {
	if name := c.words[0].literal; name != "." && name != "source" || len(c.words) < 2 {
		return false
	}
	if isInput(c.words[1].literal) {
		return !s.read(c.in, c.depth)
	}
	return c.words[1].lead()
}

// isInput reports whether a file is what somebody writes at the moment.
func isInput(file string) bool {
	return strings.HasPrefix(file, "/dev/") || strings.HasPrefix(file, "/proc/")
}

// marked looks at the commands of find. There may be one that cannot be known if words
// made at run time are enough for a mark and, where commands have one, an end.
func (s *scan) marked(w wrapper, c command) (unknown bool) {
	free, ends := 0, w.appends
	for _, w := range c.words[1:] {
		switch {
		case w.loose:
			free += 2
		case w.lead() || w.open && w.literal[0] == '-':
			free++
		case w.literal == ";" || w.literal == "+":
			ends = true
		}
	}
	for i := 1; i < len(c.words); i++ {
		if !lists(w.marks, c.words[i].literal) {
			continue
		}
		from := i + 1
		for i = from; i < len(c.words); i++ {
			if t := c.words[i].literal; t == ";" || t == "+" && c.words[i-1].literal == "{}" {
				break
			}
		}
		if from < i {
			replace := ""
			if slices.ContainsFunc(c.words[from:i], func(w term) bool { return strings.Contains(w.literal, "{}") }) {
				replace = "{}"
			}
			s.inside(c, from, i, w.appends, replace)
		}
	}
	return free > 1 || free == 1 && ends
}

// alias looks at the scripts behind the names, and keeps them for when they are used.
func (s *scan) alias(c command) (unknown bool) {
	for _, w := range c.words[1:] {
		name, value, ok := strings.Cut(w.literal, "=")
		if !ok {
			continue
		}
		if s.aliases == nil {
			s.aliases = make(map[string]string)
		}
		s.aliases[name] = value
		s.nest(value, c.in, c.depth+1)
		unknown = unknown || w.open
	}
	return unknown
}

// quoted writes words so that a shell reads them as they are.
func quoted(words []term) string {
	return join(words, func(w term) string {
		q, err := syntax.Quote(w.literal, syntax.LangBash)
		if err != nil {
			return w.literal
		}
		return q
	})
}
