package sh

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// look is what a script runs: the commands with " | " between them, unknown ones behind "? ".
func look(t testing.TB, script string) string {
	t.Helper()
	calls, _, err := Commands(script)
	if err != nil {
		t.Fatalf("%q: %v", script, err)
	}
	var list []string
	for _, c := range calls {
		if c.Unknown {
			list = append(list, "? "+c.Literal)
			continue
		}
		list = append(list, c.Literal)
	}
	return strings.Join(list, " | ")
}

// HO-35: commands inside of commands are seen.
func TestCommands(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		// Nothing inside.
		{"ls -l", "ls -l"},
		{"echo sudo rm", "echo sudo rm"},
		{"[ -f x ]", "[ -f x ]"},
		{"sh build.sh -c 'rm x'", "sh build.sh -c rm x"},
		{"command -v rm", "command -v rm"},
		{"sudo -l rm", "sudo -l rm"},
		{"env", "env"},
		{"xargs", "xargs"},
		{"trap - EXIT", "trap - EXIT"},
		{"python -c 'import os'", "python -c import os"},
		{"ssh host rm -rf x", "ssh host rm -rf x"},
		{"find . -name rm -delete", "find . -name rm -delete"},

		// Arguments that are a command.
		{"sudo rm -rf x", "sudo rm -rf x | rm -rf x"},
		{"fakeroot -s y rm x", "fakeroot -s y rm x | rm x"},
		{"unshare -rm --map-user 1 rm x", "unshare -rm --map-user 1 rm x | rm x"},
		{"unshare --mount-proc -S 0 rm x", "unshare --mount-proc -S 0 rm x | rm x"},
		{"nsenter -t 1 -m rm x", "nsenter -t 1 -m rm x | rm x"},
		{"setpriv --reuid 1 --clear-groups rm x", "setpriv --reuid 1 --clear-groups rm x | rm x"},
		{"prlimit --nofile=9 rm x", "prlimit --nofile=9 rm x | rm x"},
		{"prlimit --pid 7 --nofile=9", "prlimit --pid 7 --nofile=9"},
		{"systemd-run --user -p A=1 --scope rm x", "systemd-run --user -p A=1 --scope rm x | rm x"},
		{"systemd-run -t rm x", "systemd-run -t rm x | rm x"},
		{"fakechroot -s rm x", "fakechroot -s rm x | rm x"},
		{"proot -r / -w /tmp rm x", "proot -r / -w /tmp rm x | rm x"},
		{"runuser -u bob -- rm x", "runuser -u bob -- rm x | rm x"},
		{"runuser -u bob rm x", "runuser -u bob rm x | rm x"},
		{"runuser bob -c 'rm x'", "runuser bob -c rm x | rm x"},
		{"runuser - bob -c 'rm x'", "runuser - bob -c rm x | rm x"},
		{"sudo -u bob -- rm x", "sudo -u bob -- rm x | rm x"},
		{"sudo -nu bob A=1 rm x", "sudo -nu bob A=1 rm x | rm x"},
		{"sudo -ubob --prompt=x --gr wheel rm x", "sudo -ubob --prompt=x --gr wheel rm x | rm x"},
		{"/usr/bin/sudo rm x", "/usr/bin/sudo rm x | rm x"},
		{"doas -u bob rm x", "doas -u bob rm x | rm x"},
		{`env -i FOO=1 BAR="$X" rm x`, "env -i FOO=1 BAR=$X rm x | rm x"},
		{`sudo -u "$U" --group="$G" rm x`, "sudo -u $U --group=$G rm x | rm x"},
		{"env -u A --chdir=/ rm x", "env -u A --chdir=/ rm x | rm x"},
		{"env -S 'rm -rf' x", "env -S rm -rf x | rm -rf x"},
		{"env -S'sh -c' 'rm x'", "env -Ssh -c rm x | sh -c rm x | rm x"},
		{"command rm x", "command rm x | rm x"},
		{"command -p rm x", "command -p rm x | rm x"},
		{"builtin eval 'rm x'", "builtin eval rm x | eval rm x | rm x"},
		{"exec -a ls rm x", "exec -a ls rm x | rm x"},
		{"nohup rm x", "nohup rm x | rm x"},
		{"nice rm x", "nice rm x | rm x"},
		{"nice -n 5 rm x", "nice -n 5 rm x | rm x"},
		{"nice -5 rm x", "nice -5 rm x | rm x"},
		{"time -p rm x", "rm x"}, // A word of the shell.
		{"/usr/bin/time -f %e rm x", "/usr/bin/time -f %e rm x | rm x"},
		{"timeout -k 1 -s KILL 5 rm x", "timeout -k 1 -s KILL 5 rm x | rm x"},
		{"timeout --signal=9 5 rm x", "timeout --signal=9 5 rm x | rm x"},
		{"stdbuf -oL -e 0 rm x", "stdbuf -oL -e 0 rm x | rm x"},
		{"setsid -w rm x", "setsid -w rm x | rm x"},
		{"ionice -c2 -n 7 rm x", "ionice -c2 -n 7 rm x | rm x"},
		{"ionice -p 1", "ionice -p 1"},
		{"taskset -c 0,1 rm x", "taskset -c 0,1 rm x | rm x"},
		{"flock /tmp/l rm x", "flock /tmp/l rm x | rm x"},
		{"flock /tmp/l -c 'rm x'", "flock /tmp/l -c rm x | rm x"},
		{"busybox rm x", "busybox rm x | rm x"},
		{"chroot /srv rm x", "chroot /srv rm x | rm x"},
		{"sudo env A=1 nice timeout 5 rm x", "sudo env A=1 nice timeout 5 rm x | env A=1 nice timeout 5 rm x | " +
			"nice timeout 5 rm x | timeout 5 rm x | rm x"},

		// Arguments that come from elsewhere.
		{"xargs rm -rf", "xargs rm -rf | rm -rf {}"},
		{"xargs -0 -n 1 -P4 rm", "xargs -0 -n 1 -P4 rm | rm {}"},
		{"xargs -I{} rm {}.o", "xargs -I{} rm {}.o | rm {}.o"},
		{"xargs -I % % x", "xargs -I % % x | ? % x | x"},
		{"xargs -i sh -c 'rm {}'", "xargs -i sh -c rm {} | ? sh -c rm {} | rm {}"},
		{`xargs sh -c 'rm "$@"' _`, `xargs sh -c rm "$@" _ | sh -c rm "$@" _ {} | rm $@`},
		{"xargs sh -c", "xargs sh -c | ? sh -c {} | {}"},
		{"xargs sudo", "xargs sudo | ? sudo {}"},
		{`find . -name '*.o' -exec rm {} \;`, "find . -name *.o -exec rm {} ; | rm {}"},
		{`find . -execdir rm {} + -ok mv {} x ';'`, "find . -execdir rm {} + -ok mv {} x ; | rm {} | mv {} x"},
		{`find . -exec sh -c 'rm "$1"' _ {} \;`, `find . -exec sh -c rm "$1" _ {} ; | sh -c rm "$1" _ {} | rm $1`},
		{`find . -exec sh -c 'rm {}' \;`, "find . -exec sh -c rm {} ; | ? sh -c rm {} | rm {}"},
		{"fd -e o -x rm", "fd -e o -x rm | rm {}"},
		{"parallel -j 4 rm ::: a b", "parallel -j 4 rm ::: a b | rm {}"},

		// Scripts as arguments.
		{"sh -c 'rm x; cd y'", "sh -c rm x; cd y | rm x | cd y"},
		{`bash -lc "rm x"`, "bash -lc rm x | rm x"},
		{"bash -euo pipefail -c 'rm x' _ y", "bash -euo pipefail -c rm x _ y | rm x"},
		{"/bin/sh -c -- 'rm x'", "/bin/sh -c -- rm x | rm x"},
		{"eval rm x", "eval rm x | rm x"},
		{`eval "rm x" '&&' ls`, "eval rm x && ls | rm x | ls"},
		{"su -c 'rm x' bob", "su -c rm x bob | rm x"},
		{"su - bob -c 'rm x'", "su - bob -c rm x | rm x"},
		{"trap 'rm x' EXIT", "trap rm x EXIT | rm x"},
		{"watch -n 1 'rm x'", "watch -n 1 rm x | rm x"},
		{`sh -c 'sh -c "sh -c \"rm x\""'`, `sh -c sh -c "sh -c \"rm x\"" | sh -c sh -c "rm x" | sh -c rm x | rm x`},
		{"alias x='rm -rf'\nx y", "alias x=rm -rf | x y | rm -rf | rm -rf y"},

		// Scripts as input.
		{"sh <<EOF\nrm x\nEOF", "sh | rm x"},
		{"sh <<'EOF'\nrm $X\nEOF", "sh | rm $X"},
		{"bash -s a <<< 'rm x'", "bash -s a | rm x"},
		{"sudo sh <<EOF\nrm x\nEOF", "sudo sh | sh | rm x"},
		{"{ sh; } <<EOF\nrm x\nEOF", "sh | rm x"},
		{"echo 'rm x' | sh", "echo rm x | sh | rm x"},
		{"echo -n 'rm x' | (cd y; sudo bash -x)", "echo -n rm x | cd y | sudo bash -x | bash -x | rm x"},
		{`printf '%s\n' 'rm x' | sh -`, `printf %s\n rm x | sh - | rm x`},
		{"cat <<EOF | sh\nrm x\nEOF", "cat | sh | rm x"},
		{"sudo -s <<< 'rm x'", "sudo -s | rm x"},
		{"sh /dev/stdin <<< 'rm x'", "sh /dev/stdin | rm x"},

		// Spellings.
		{`\rm x`, "rm x"},
		{`"rm" x`, "rm x"},
		{`r''m x`, "rm x"},
		{`r"m" 'x'`, "rm x"},
		{`$'\x72m' x`, "rm x"},
		{`{rm,x}`, "rm x"},
		{`{,}rm x`, "rm rm x"},
		{"r\\\nm x", "rm x"},

		// What only running tells.
		{`sh -c "$X"`, "? sh -c $X | ? $X"},
		{`sh -c "rm $X"`, "? sh -c rm $X | rm $X"},
		{`eval "$X"`, "? eval $X | ? $X"},
		{`eval "$SUDO rm x"`, "? eval $SUDO rm x | ? $SUDO rm x | rm x"},
		{`$X y`, "? $X y | y"},
		{`"$X"`, "? $X"},
		{`r${X}m y`, "? r${X}m y | rm y"},
		{`$SUDO rm x`, "? $SUDO rm x | rm x"},
		{`sudo $X rm x`, "? sudo $X rm x | rm x"},
		{`sudo "$B/rm" x`, "? sudo $B/rm x | ? $B/rm x | /rm x"},
		{`timeout $T rm x`, "? timeout $T rm x | rm x"},
		{`timeout [0-9] rm x`, "? timeout [0-9] rm x | rm x"},
		// Words that may be several, or none, and options that may be others.
		{`env A=$(echo 1 rm) ls`, "? env A=$(echo 1 rm) ls | ls | echo 1 rm"},
		{`sudo -u $U ls`, "? sudo -u $U ls | ls"},
		{`sudo --user=$U ls`, "? sudo --user=$U ls | ls"},
		{`sudo -u"$U" ls x`, "? sudo -u$U ls x | ls x"},
		{`sudo -u "$@" ls`, "? sudo -u $@ ls | ls"},
		{`env -$u rm x`, "? env -$u rm x | rm x"},
		{`sudo -n$l rm x`, "? sudo -n$l rm x | rm x"},
		{`sudo $X -l rm x`, "? sudo $X -l rm x"},
		{`env --$X='rm x' ls`, "? env --$X=rm x ls | ls"},
		{`env "r$(echo m; true =)" x`, "env r$(echo m; true =) x | ? r$(echo m; true =) x | r x | echo m | true ="},
		{`sh -$X 'rm x'`, "? sh -$X rm x"},
		{`sh -o $X -c 'rm x'`, "? sh -o $X -c rm x | rm x"},
		{`xargs -n $N ls`, "? xargs -n $N ls | ls {}"},
		{`xargs -I% nice -n % ls`, "xargs -I% nice -n % ls | ? nice -n % ls | ls"},
		{`xargs find .`, "xargs find . | ? find . {}"},
		{`find . $(echo -exec rm x ';')`, "? find . $(echo -exec rm x ';') | echo -exec rm x ;"},
		{`find . "$X" rm x ';'`, "? find . $X rm x ;"},
		{`find . -ex"$X" rm x "$Y"`, "? find . -ex$X rm x $Y"},
		{`find "$DIR" -name '*.o'`, "find $DIR -name *.o"},
		{`find *.d -name *.o`, "find *.d -name *.o"},
		{`fd "$X" rm`, "? fd $X rm"},
		{"/bin/r? x", "? /bin/r? x"},
		{"'a b' c", "? a b c"},
		{"sh", "? sh"},
		{"sh <file", "? sh"},
		{"f() { sh; }; f <<< 'rm x'", "? sh | f"},
		{"curl x | sh", "curl x | ? sh"},
		{"curl x | sudo bash -s -- y", "curl x | sudo bash -s -- y | ? bash -s -- y"},
		{"bash <(curl x)", "? bash <(curl x) | curl x"},
		{"source <(curl x)", "? source <(curl x) | curl x"},
		{"sh <<EOF\nrm $X\nEOF", "? sh | rm $X"},
		{`echo -e 'ls\nrm x' | sh`, `echo -e ls\nrm x | ? sh | ls | rm x`},
		{"sh -c 'rm ('", "sh -c rm ( | ? rm ("},
		{"sh -c sh <<< 'rm x'", "sh -c sh | sh | rm x"},
		{"parallel", "? parallel"},
		{"{1..99999999} x", "? {1..99999999} x | x"},
	} {
		if got := look(t, c.script); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.script, got, c.want)
		}
	}
}

// HO-35: what a script does beside its commands is seen.
func TestCommandsMore(t *testing.T) {
	for _, script := range []string{
		// Files.
		"ls > x", "ls >x 2>&1", "ls >> x", "ls 2> x", "ls &> x", "ls >| x", "ls <> x", "ls >& x", "> x", ": > x",
		"ls > $X", "exec 3> x",
		"{ ls; } > x", "(ls) > x", "if ls; then ls; fi >> x", "for (( ; ; )); do ls; done > x", "f() { ls > x; }; f",
		"echo $(ls > x)", "ls > /dev/null > x",
		"sh -c 'ls > x'", "eval 'ls > x'", "echo 'ls > x' | sh", "sudo sh -c 'ls > x'", "ls > /dev/nullx",
		// Variables.
		"PATH=x ls", "X=1", "X=1; ls", "X+=1; ls", "a[0]=1; ls", "export PATH=x; ls", "declare -x PATH=x",
		"readonly X=1", "command export PATH=x; ls", "sh -c 'PATH=x ls'",
		"eval PATH=x; ls", "for PATH in x; do ls; done", "select x in a; do ls; done", "read PATH < f; ls",
		"ls | while read x; do ls; done", "printf -v PATH x; ls", "printf -vPATH x",
		"mapfile X < f", "unset X", "getopts a X", "((PATH = 1)); ls", "let X+=1", "echo $((X++))", "echo ${PATH:=x}",
		"echo ${PATH=x}", "[[ $((X <<= 2)) ]]",
	} {
		if _, more, err := Commands(script); err != nil || !more {
			t.Errorf("%q: more %v, %v", script, more, err)
		}
	}
	for _, script := range []string{
		"ls", "ls > /dev/null", "ls >/dev/null 2>&1", "ls 2>&1 | cat", "ls 2> '/dev/null'", "ls >&2", "ls 2>&-",
		"ls &> /dev/null", "ls < x", "cat <<EOF\nx > y\nEOF", "cat <<< x",
		"echo 'PATH=x ls'", "env A=1 ls", "make X=1", "echo $X ${Y:-x} $((X + 1)) $((X == 1))", "f() { ls; }; f",
		"while ls; do ls; done", "if ls; then ls; fi", "[[ a = b ]]", "printf '%s' x", "test 1 = 2",
	} {
		if _, more, err := Commands(script); err != nil || more {
			t.Errorf("%q: more %v, %v", script, more, err)
		}
	}
}

// Where commands are found among arguments, and how they are spelled.
func TestCommandsSpelling(t *testing.T) {
	calls, _, err := Commands(`sudo -u "$U" \nice 'r'm "a b" $X && /bin/ls`)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Call{
		{Text: `sudo -u $U \nice 'r'm a b $X`, Literal: "sudo -u $U nice rm a b $X"},
		{Text: `\nice 'r'm a b $X`, Literal: "nice rm a b $X", Lead: "sudo -u $U nice"},
		{Text: `'r'm a b $X`, Literal: "rm a b $X", Lead: "sudo -u $U nice rm"},
		{Text: "/bin/ls", Literal: "/bin/ls", Root: 3},
	}; !slices.Equal(calls, want) {
		t.Errorf("got  %+v\nwant %+v", calls, want)
	}
	for literal, want := range map[string]string{"/bin/rm -r x": "rm -r x", "../rm": "rm", "rm /x": "", "": ""} {
		if got := (Call{Literal: literal}).Base(); got != want {
			t.Errorf("%q without its directory: %q, want %q", literal, got, want)
		}
	}
}

// What hides too deeply, or grows when it is looked at, is an error: nobody could say
// what it runs.
func TestCommandsLimits(t *testing.T) {
	sixteen := strings.Repeat("nice ", maxNesting)
	if got := look(t, sixteen+"rm x"); !strings.HasSuffix(got, "| rm x") {
		t.Errorf("%d levels: %s", maxNesting, got)
	}
	var doubling strings.Builder
	for _, c := range "abcdefghijklmno" {
		doubling.WriteString("alias " + string(c) + "='" + strings.Repeat(string(c+1)+";", 8) + "'\n")
	}
	for name, script := range map[string]string{
		"one level more":      sixteen + "nice rm x",
		"many levels":         strings.Repeat("nice ", 100_000) + "rm x",
		"scripts":             strings.Repeat("eval ", maxNesting+1) + "rm x",
		"aliases that double": doubling.String() + "a",
		"the same input": "{ " + strings.Repeat("sh;", 50_000) + " } <<EOF\n" +
			strings.Repeat("ls\n", 50_000) + "EOF",
		"commands in words": strings.Repeat("echo $(", 9_000) + strings.Repeat(" x", 1000) +
			strings.Repeat(")", 9_000),
	} {
		if _, _, err := Commands(script); !errors.Is(err, ErrNested) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for name, script := range map[string]string{
		"many commands": strings.Repeat("rm x\n", 100_000),
		"many braces":   strings.Repeat("{a,b}", 10_000),
		"many parts":    "echo " + strings.Repeat(`"$a"'b'`, 9_000),
		"a long script": "sh <<EOF\n" + strings.Repeat("rm x\n", 100_000) + "EOF",
		"wide printf":   "printf %999999999d 1 | sh",
	} {
		if _, _, err := Commands(script); err != nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// No script breaks it, and a script that is an argument of sh is seen like alone.
func FuzzCommands(f *testing.F) {
	for _, script := range []string{
		"sudo -u bob -- rm -rf x", `sh -c "rm $X"`, "xargs -I{} sh -c {}", `find . -exec rm {} \; -ok`,
		"sh <<EOF\nrm\nEOF", "env -S",
		"echo 'rm' | sh", `printf '%s' a | sh`, "{a,b{c,d}}{1..3} $x", "alias a=a\na", `eval "$(eval "$x")"`,
		"r''m $'\\x00'", "timeout -k", "sudo --", "bash -o",
		"xargs sudo nice", "su - -c", "trap x", "parallel :::",
	} {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		calls, more, err := Commands(script)
		if err != nil {
			return
		}
		for i, c := range calls {
			if c.Root > i || c.Root != i && !strings.HasPrefix(calls[c.Root].Literal, c.Lead) ||
				c.Root == i && c.Lead != "" {
				t.Errorf("call %d of %q: %+v", i, script, calls)
			}
		}
		if strings.ContainsAny(script, "'\x00\r") || len(calls) == 0 {
			return
		}
		outer, outerMore, err := Commands("sh -c -- '" + script + "'")
		if err != nil {
			return // One level more may be too many.
		}
		if more != outerMore {
			t.Errorf("%q does more: %v, in sh -c: %v", script, more, outerMore)
		}
		for _, c := range calls {
			if !slices.ContainsFunc(
				outer,
				func(o Call) bool { return o.Literal == c.Literal && o.Unknown == c.Unknown },
			) {
				t.Errorf("%q is not seen in sh -c -- '%s': %+v", c.Literal, script, outer)
			}
		}
	})
}
