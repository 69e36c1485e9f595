package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/sdk"
)

func say(role, text string) message.Message {
	return message.Message{Message: sdk.Message{Role: role, Content: text, Type: sdk.TypeNormal}}
}

// saved returns a store with one closed session of the given texts.
func saved(t *testing.T, meta Meta, texts ...string) (*Store, string) {
	t.Helper()
	s := Open(filepath.Join(t.TempDir(), "sessions"))
	return s, add(t, s, meta, texts...)
}

func add(t *testing.T, s *Store, meta Meta, texts ...string) string {
	t.Helper()
	l, err := s.Create(meta)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		role := message.User
		if i%2 == 1 {
			role = message.Assistant
		}
		if err := l.Append(say(role, text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.ID()
}

func texts(messages []message.Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, m.Content)
	}
	return strings.Join(all, " ")
}

func resume(t *testing.T, s *Store, key string) (*Log, State, []string) {
	t.Helper()
	l, state, notices, err := s.Resume(key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, state, notices
}

// HO-43: everything comes back as it was, and the ID is a UUID.
func TestRoundTrip(t *testing.T) {
	off := false
	meta := Meta{
		Created: time.Date(
			2026,
			3,
			4,
			5,
			6,
			7,
			0,
			time.UTC,
		),
		Name:        "fix",
		Title:       "Fix <the> bug & more",
		Workdir:     "/home/p",
		Agent:       "code",
		Mode:        "plan",
		Provider:    "local",
		Model:       "llama3:8b",
		Think:       "high",
		Switches:    Switches{Auto: true, Sandbox: &off},
		LoadedTools: []string{"A"},
		Approvals:   []string{"Bash:git *"},
		FilesRead:   []string{"a.go"},
		Stats:       sdk.Stats{Turns: 3, TopTools: []sdk.ToolCount{{Name: "Read", Count: 2}}},
		Todo:        Todo{Summary: "s", Items: []todo.Item{{Content: "c", Status: todo.InProgress}}},
	}
	messages := []message.Message{
		say(message.User, "hi\nthere\x00 ☃ <b>"),
		{
			Message: sdk.Message{
				Role:     message.Assistant,
				Thinking: "hm",
				Type:     sdk.TypeNormal,
				ToolCalls: []sdk.MessageToolCall{
					{ID: "1", Name: "Read", Arguments: map[string]any{"path": "a", "n": 1.5}}},
			},
			Thoughts: []message.Thought{{Provider: "anthropic", Signature: "x"}},
		},
		{Message: sdk.Message{Role: message.Tool, ToolCallID: "1", Content: "no"}, Failed: true,
			Images: []message.Image{{MediaType: "image/png", Data: []byte{0, 255}}}},
		{Message: sdk.Message{Role: message.User, Content: "seen by the user", Type: message.DisplayOnly}, Source: "p"},
	}
	s := Open(t.TempDir())
	l, err := s.Create(meta)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if err := l.Append(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Append(message.Message{Message: sdk.Message{Type: message.Ephemeral, Content: "gone"}}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if id := l.ID(); len(id) != 36 || id[14] != '4' || !strings.ContainsRune("89ab", rune(id[19])) {
		t.Errorf("ID %q is not a UUID of version 4", id)
	}
	_, state, notices := resume(t, s, l.ID())
	if len(notices) > 0 || !reflect.DeepEqual(state.Meta, meta) || !reflect.DeepEqual(state.Messages, messages) {
		t.Errorf(
			"got %+v\nwant %+v\nmessages %+v\nwant %+v\nnotices %v",
			state.Meta,
			meta,
			state.Messages,
			messages,
			notices,
		)
	}
}

// HO-43: a session without a message of the user leaves no file.
func TestNoFileWithoutUserMessage(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "a", "b"))
	l, _ := s.Create(Meta{})
	notice := say(message.User, "injected")
	notice.Type = sdk.TypeSynthetic
	for _, m := range []message.Message{say(message.System, "prompt"), notice} {
		if err := l.Append(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		l.SetMeta(Meta{Title: "t"}),
		l.Sync(),
		l.Rewrite([]message.Message{say(message.System, "prompt 2")}),
	); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Dir()); !os.IsNotExist(err) || l.Saved() {
		t.Fatalf("a directory was made for nothing: %v", err)
	}
	if err := l.Append(say(message.User, "hello")); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := l.Append(say(message.User, "late")); err == nil {
		t.Error("a closed log took a message")
	}
	_, state, _ := resume(t, s, l.ID())
	if got := texts(state.Messages); got != "prompt 2 hello" || state.Meta.Title != "t" || state.Meta.Created.IsZero() {
		t.Errorf("got %q %+v", got, state.Meta)
	}
}

func TestResumeContinuesAndRewrites(t *testing.T) {
	s, id := saved(t, Meta{}, "a", "b", "c")
	l, _, _ := resume(t, s, id)
	summary := say(message.User, "summary")
	gone := say(message.Tool, "gone")
	gone.Type = message.Ephemeral
	if err := errors.Join(
		l.Append(say(message.Assistant, "d")),
		l.Rewrite([]message.Message{summary, gone, say(message.Assistant, "d")}),
		l.Append(say(message.User, "e")),
		l.SetMeta(Meta{Agent: "x"}),
		l.Append(say(message.Assistant, "f")),
	); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(l.Path())
	if err := l.SetMeta(l.Meta()); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(l.Path()); after.Size() != before.Size() {
		t.Error("unchanged meta data were written again")
	}
	l.Close()
	list, err := s.List()
	if err != nil || len(list) != 1 || list[0].Messages != 4 || list[0].Agent != "x" {
		t.Errorf("list %+v, %v", list, err)
	}
	_, state, _ := resume(t, s, id)
	if got := texts(state.Messages); got != "summary d e f" || state.Meta.Agent != "x" {
		t.Errorf("got %q %+v", got, state.Meta)
	}
	data, _ := os.ReadFile(l.Path())
	if !strings.Contains(string(data), `"content":"b"`) {
		t.Error("history before the reset is no longer in the file")
	}
}

// HO-43: wherever the file is cut off, what was complete comes back.
func TestCutAnywhere(t *testing.T) {
	s, id := saved(t, Meta{}, "one", "two", "three")
	whole, err := os.ReadFile(pathOf(s.dir, id))
	if err != nil {
		t.Fatal(err)
	}
	header := strings.IndexByte(string(whole), '\n')
	for n := header; n < len(whole); n++ {
		r, err := decode(strings.NewReader(string(whole[:n])), "f")
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		// A line is complete without its newline, too.
		want := strings.Count(string(whole[:n]), "\n") - 1
		if whole[n] == '\n' {
			want++
		}
		if len(r.state.Messages) != max(want, 0) {
			t.Fatalf("cut at %d: %d messages, want %d", n, len(r.state.Messages), want)
		}
		// And what was torn is named.
		torn := whole[n-1] != '\n' && whole[n] != '\n'
		name := fmt.Sprintf("f:%d: damaged record", want+2)
		if torn != (r.damage != nil) || torn && !strings.Contains(r.damage.Error(), name) {
			t.Fatalf("cut at %d: damage %v, want %t: %s", n, r.damage, torn, name)
		}
	}
}

func TestDamage(t *testing.T) {
	tests := []struct {
		name   string
		spoil  func(lines []string) string // Lines of header, a, b, c.
		want   string
		notice string // Part of the notice, empty for none.
		err    string
	}{
		{
			"torn tail",
			func(l []string) string { return l[0] + l[1] + l[2] + l[3][:20] },
			"a b",
			":4: damaged record",
			"",
		},
		{"no newline", func(l []string) string { return l[0] + l[1] + strings.TrimSpace(l[2]) }, "a b", "", ""},
		{
			"zeros",
			func(l []string) string { return l[0] + l[1] + strings.Repeat("\x00", 500) },
			"a",
			"1 line was dropped",
			"",
		},
		{"middle", func(l []string) string { return l[0] + l[1] + "{oops\n" + l[3] }, "a", "2 lines were dropped", ""},
		{"no kind", func(l []string) string { return l[0] + l[1] + "{}\n" }, "a", "no kind", ""},
		{"not an object", func(l []string) string { return l[0] + l[1] + "null\n" }, "a", "no kind", ""},
		{
			"no message",
			func(l []string) string { return l[0] + l[1] + `{"kind":"message"}` + "\n" },
			"a",
			"message without content",
			"",
		},
		{"second header", func(l []string) string { return l[0] + l[1] + l[0] }, "a", "not expected", ""},
		{
			"future kind",
			func(l []string) string { return l[0] + l[1] + `{"kind":"mood","x":[1]}` + "\n" + l[2] },
			"a b",
			"",
			"",
		},
		{
			"future version",
			func(l []string) string { return `{"kind":"session","version":99}` + "\n" },
			"",
			"",
			"newer version",
		},
		{"bad header", func(l []string) string { return "{\n" + l[1] }, "", "", ":1: damaged record"},
		{"no header", func(l []string) string { return l[1] + l[2] }, "", "", ":1: damaged record"},
		{"empty", func(l []string) string { return "" }, "", "", "is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, id := saved(t, Meta{}, "a", "b", "c")
			whole, _ := os.ReadFile(pathOf(s.dir, id))
			broken := tt.spoil(strings.SplitAfter(string(whole), "\n"))
			if err := os.WriteFile(pathOf(s.dir, id), []byte(broken), 0o600); err != nil {
				t.Fatal(err)
			}
			l, state, notices, err := s.Resume(id)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) ||
					!strings.Contains(err.Error(), pathOf(s.dir, id)) {
					t.Fatalf("error %v", err)
				}
				if now, _ := os.ReadFile(pathOf(s.dir, id)); string(now) != broken {
					t.Error("an unreadable file was changed")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(state.Messages); got != tt.want {
				t.Errorf("messages %q, want %q", got, tt.want)
			}
			aside, asideErr := os.ReadFile(pathOf(s.dir, id) + ".damaged-1")
			if tt.notice == "" {
				if len(notices) > 0 || asideErr == nil {
					t.Errorf("notices %v, aside %v", notices, asideErr)
				}
			} else if len(notices) != 1 || !strings.Contains(notices[0], tt.notice) ||
				!strings.Contains(notices[0], id+".jsonl.damaged-1") {
				t.Errorf("notices %q", notices)
			} else if string(aside) != broken {
				t.Errorf("kept aside: %q", aside)
			}
			if err := l.Append(say(message.User, "z")); err != nil {
				t.Fatal(err)
			}
			l.Close()
			_, state, notices = resume(t, s, id)
			if got := texts(state.Messages); got != tt.want+" z" || len(notices) > 0 {
				t.Errorf("afterwards %q, notices %v", got, notices)
			}
		})
	}
}

func TestFind(t *testing.T) {
	s, first := saved(t, Meta{Name: "Parser"}, "x")
	second := add(t, s, Meta{Name: "parser-two", Title: "lexer work"}, "y")
	third := add(t, s, Meta{Name: "docs"}, "y")
	for _, name := range []string{"aaaa1", "aaaa2"} {
		data, _ := os.ReadFile(pathOf(s.dir, third))
		if err := os.WriteFile(pathOf(s.dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ key, want, err string }{
		{first, first, ""},
		{strings.ToUpper(second), second, ""},
		{" parser ", first, ""}, // A whole name before the beginning of another.
		{"PARSER-T", second, ""},
		{"AAAA2", "aaaa2", ""},
		{"aaaa", "", `session "aaaa" is ambiguous: it could be aaaa`},
		{"docs", "", "is ambiguous"},
		{"parsre", "", "did you mean "},
		{"lexer", "", second},
		{"zzz", "", "the newest: "},
		{"../" + first, "", "does not exist"},
		{"  ", "", "missing"},
	}
	for _, tt := range tests {
		got, err := s.Find(tt.key)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("Find(%q) = %q, %v", tt.key, got, err)
		}
	}
	if _, err := Open(t.TempDir()).Find("x"); err == nil || !strings.Contains(err.Error(), "there are none") {
		t.Errorf("empty store: %v", err)
	}
}

func TestListAndLatest(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "none"))
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Fatalf("no directory: %v %v", list, err)
	}
	if _, err := s.Latest(""); err == nil || !strings.Contains(err.Error(), "no session to continue") {
		t.Fatalf("no directory: %v", err)
	}
	old := add(t, s, Meta{Workdir: "/a"}, "  "+strings.Repeat("ä", 60)+"\nmore", "b")
	mid := add(t, s, Meta{Workdir: "/b", Title: "T", Name: "n"}, "c")
	big := add(t, s, Meta{Workdir: "/b", Title: strings.Repeat("long", 10000)}, strings.Repeat("m", 3<<20), "x")
	for i, id := range []string{old, mid, big} {
		at := time.Unix(1e9+int64(i), 0)
		if err := os.Chtimes(pathOf(s.dir, id), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range map[string]string{
		"bad.jsonl": "{", "empty.jsonl": "", "x.txt": "", "y.jsonl.damaged-1": "{}",
	} {
		if err := os.WriteFile(filepath.Join(s.Dir(), name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(s.Dir(), "d.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	list, err := s.List()
	if err != nil || len(list) != 5 {
		t.Fatalf("%d in the list, %v", len(list), err)
	}
	for _, i := range list[:2] { // Named, because nobody else says that they are there.
		if !strings.Contains(i.Error, i.ID+".jsonl:1: ") || i.Title != "(cannot be read)" {
			t.Errorf("damaged: %+v", i)
		}
	}
	if id, err := s.Find("ba"); id != "bad" || err != nil {
		t.Errorf("damaged: %q, %v", id, err)
	}
	list = list[2:]
	if list[0].ID != big || list[0].Messages != 2 || list[1].Title != "T" || list[1].Name != "n" ||
		list[1].Messages != 1 ||
		list[2].Title != strings.Repeat("ä", 49)+"…" ||
		list[2].Messages != 2 ||
		list[2].Workdir != "/a" {
		t.Errorf("list %+v", list)
	}
	for workdir, want := range map[string]string{"": big, "/a": old, "/c": ""} {
		if got, err := s.Latest(workdir); got != want || (err == nil) != (want != "") {
			t.Errorf("Latest(%q) = %q, %v", workdir, got, err)
		}
	}
}

// Sessions from before a project had a home of its own are in the global one.
func TestSessionsElsewhere(t *testing.T) {
	root := t.TempDir()
	global := Open(filepath.Join(root, "global"))
	s := Open(
		filepath.Join(root, "project"),
	).With([]string{filepath.Join(root, "p")}, global.Dir(), filepath.Join(root, "none"))
	before := add(t, global, Meta{Workdir: filepath.Join(root, "p", "sub"), Name: "before"}, "a")
	foreign := add(t, global, Meta{Workdir: filepath.Join(root, "pp"), Name: "foreign"}, "b")
	add(t, global, Meta{Name: "nowhere"}, "b")
	if err := os.WriteFile(pathOf(global.Dir(), "bad"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := add(t, s, Meta{Name: "own"}, "c")
	if _, err := os.Stat(pathOf(s.Dir(), own)); err != nil {
		t.Fatal(err)
	}
	list, err := s.List()
	if err != nil || len(list) != 2 {
		t.Fatalf("list %+v, %v", list, err)
	}
	for _, key := range []string{foreign, "foreign", "nowhere", "bad"} {
		if _, err := s.Find(
			key,
		); err == nil || !strings.Contains(err.Error(), s.Dir()) ||
			!strings.Contains(err.Error(), global.Dir()) {
			t.Errorf("Find(%q): %v", key, err)
		}
	}
	l, state, _ := resume(t, s, "BEF")
	if state.ID != before || l.Path() != pathOf(global.Dir(), before) {
		t.Errorf("resumed %s in %s", state.ID, l.Path())
	}
	if err := s.Delete(before); !errors.As(err, new(*InUseError)) {
		t.Errorf("delete: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	fork, err := s.Fork("before", 0)
	if _, missing := os.Stat(pathOf(s.Dir(), fork)); err != nil || missing != nil {
		t.Errorf("fork: %v, %v", err, missing)
	}
	if id, err := s.Latest(filepath.Join(root, "p", "sub")); err != nil || id != fork {
		t.Errorf("latest %s, %v", id, err)
	}
	if err := s.Delete(before); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(pathOf(global.Dir(), before)); err == nil {
		t.Error("still there")
	}
}

func TestForkAndDelete(t *testing.T) {
	s, id := saved(t, Meta{Name: "n", Agent: "code"}, "a", "b", "c")
	l, _, _ := resume(t, s, id) // A session in use can be forked.
	for upTo, want := range map[int]string{0: "a b c", 2: "a b", 9: "a b c"} {
		fork, err := s.Fork("n", upTo)
		if err != nil {
			t.Fatal(err)
		}
		state, _, err := s.Read(fork)
		if err != nil || texts(state.Messages) != want || state.ForkedFrom != id || state.Meta.Agent != "code" ||
			state.Meta.Name != "" {
			t.Errorf("Fork(%d) = %+v, %v", upTo, state, err)
		}
	}
	// Only a copy of all of a turn that has not ended is open like the original.
	for _, open := range []bool{true, false} {
		for upTo, want := range map[int]bool{0: open, 2: false} {
			fork, err := s.Fork("n", upTo)
			if err != nil {
				t.Fatal(err)
			}
			if state, _, err := s.Read(fork); err != nil || state.Open != want {
				t.Errorf("Fork(%d), open %v: %v, %v", upTo, open, state.Open, err)
			}
		}
		if err := l.SetMeta(Meta{Name: "n", Agent: "plan"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(id); !errors.As(err, new(*InUseError)) {
		t.Errorf("deleted while in use: %v", err)
	}
	l.Close()
	if err := os.WriteFile(pathOf(s.dir, id)+".damaged-1", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(id[:13]); err == nil || !strings.Contains(err.Error(), id) {
		t.Errorf("deleted by a prefix: %v", err)
	}
	if err := s.Delete("N"); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir(), id+"*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Only one process may write: the second is this test binary, run again.
func TestLock(t *testing.T) {
	if dir := os.Getenv("SESSION_LOCK_DIR"); dir != "" {
		_, _, _, err := Open(dir).Resume(os.Getenv("SESSION_LOCK_ID"))
		fmt.Printf("child: %v\n", err)
		if err == nil { // Hold it until the parent has looked, then die without a Close.
			_, _ = io.Copy(io.Discard, os.Stdin)
		}
		os.Exit(0)
	}
	s, id := saved(t, Meta{}, "a")
	child := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLock$")
		cmd.Env = append(os.Environ(), "SESSION_LOCK_DIR="+s.Dir(), "SESSION_LOCK_ID="+id)
		return cmd
	}
	l, _, _ := resume(t, s, id)
	out, err := child().CombinedOutput()
	if err != nil || !strings.Contains(string(out), "session "+id+" is in use by another process") ||
		!strings.Contains(string(out), "fork "+id) {
		t.Errorf("second process: %v\n%s", err, out)
	}
	if _, _, _, err := s.Resume(id); !errors.As(err, new(*InUseError)) {
		t.Errorf("the same process twice: %v", err)
	}
	l.Close()
	l.Close()

	cmd := child()
	in, _ := cmd.StdinPipe()
	stdout, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stdout, make([]byte, len("child: <nil>"))); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := s.Resume(id); !errors.As(err, new(*InUseError)) {
		t.Errorf("while the child holds it: %v", err)
	}
	in.Close()
	_ = cmd.Wait()
	l, _, _ = resume(t, s, id) // A dead process holds nothing.
	l.Close()
	if left, _ := filepath.Glob(filepath.Join(s.Dir(), "*.lock")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestConcurrentAppend(t *testing.T) {
	s := Open(t.TempDir())
	l, _ := s.Create(Meta{})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if err := l.Append(say(message.User, fmt.Sprintf("%d-%d", w, i))); err != nil {
					t.Error(err)
				}
				_ = l.SetMeta(Meta{Title: fmt.Sprint(i)})
			}
		})
	}
	wg.Wait()
	l.Close()
	_, state, notices := resume(t, s, l.ID())
	if len(state.Messages) != 400 || len(notices) > 0 {
		t.Errorf("%d messages, %v", len(state.Messages), notices)
	}
}

func TestCannotWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := Open(filepath.Join(file, "sessions"))
	l, _ := s.Create(Meta{})
	if err := l.Append(
		say(message.User, "x"),
	); err == nil ||
		!strings.Contains(err.Error(), "session "+l.ID()+" cannot be saved in "+s.Dir()) {
		t.Errorf("error %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// A message that cannot be encoded does not spoil the file.
func TestUnencodable(t *testing.T) {
	s, id := saved(t, Meta{}, "a")
	l, _, _ := resume(t, s, id)
	bad := say(message.Assistant, "")
	bad.ToolCalls = []sdk.MessageToolCall{{Arguments: map[string]any{"f": func() {}}}}
	if err := l.Append(bad); err == nil {
		t.Error("no error")
	}
	if err := l.Append(say(message.User, "b")); err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, state, _ := resume(t, s, id)
	if texts(state.Messages) != "a b" {
		t.Errorf("got %q", texts(state.Messages))
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"kind":"session","version":1,"id":"x","meta":{"agent":"a"}}` + "\n" +
		`{"kind":"message","message":{"role":"user","content":"hi"}}` + "\n" +
		`{"kind":"reset","messages":[{"role":"user"}]}` + "\n" + `{"kind":"meta","count":1,"meta":{}}` + "\n" + `{"kind":"mes`))
	f.Add([]byte("{}\n\n\n"))
	f.Add([]byte(`{"kind":"session","meta":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decode(strings.NewReader(string(data)), "f")
		if err != nil {
			return
		}
		if r.good > int64(len(data)) {
			t.Fatalf("good %d of %d bytes", r.good, len(data))
		}
		// What is kept reads the same again, without damage.
		again, err := decode(strings.NewReader(string(data[:r.good])), "f")
		if err != nil || again.damage != nil {
			t.Fatalf("second reading: %v %v", err, again.damage)
		}
		a, _ := json.Marshal(r.state)
		b, _ := json.Marshal(again.state)
		if string(a) != string(b) {
			t.Fatalf("states differ:\n%s\n%s", a, b)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	l, _ := Open(b.TempDir()).Create(Meta{})
	m := say(message.User, strings.Repeat("some text ", 50))
	for b.Loop() {
		if err := l.Append(m); err != nil {
			b.Fatal(err)
		}
	}
	l.Close()
}

func BenchmarkResume1000(b *testing.B) {
	s := Open(b.TempDir())
	l, _ := s.Create(Meta{})
	for range 500 {
		_ = l.Append(say(message.User, strings.Repeat("some \"text\"\n", 50)))
		m := say(message.Assistant, "text")
		m.ToolCalls = []sdk.MessageToolCall{
			{ID: "1", Name: "Read", Arguments: map[string]any{"path": "x.go", "count": 3}},
		}
		_ = l.Append(m)
	}
	l.Close()
	for b.Loop() {
		l, state, _, err := s.Resume(l.ID())
		if err != nil || len(state.Messages) != 1000 {
			b.Fatal(err)
		}
		l.Close()
	}
}
