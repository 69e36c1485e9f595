package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Code that could go on after the interpreter was stopped is found, in whatever
// file it is.
func TestWaits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		imports, body string
		waits         bool
	}{
		{"fmt strings time", "func F() string { return strings.ToUpper(fmt.Sprint(time.Now().Unix())) }", false},
		{"regexp", "func F() bool { return regexp.MustCompile(`a+`).MatchString(\"a\") }", false},
		{"", "func F() {\n\tgo func() { defer recover() }()\n\tfor {\n\t}\n}", false},
		{"", "func F(list []int) { for range list {\n\t}\n}", false},
		{"os", "func F() { _, _ = os.ReadFile(\"x\") }", true},
		{"sync", "var mu sync.Mutex", true},
		{"net/http", "func F() { _, _ = http.Get(\"x\") }", true},
		{"io", "func F(r io.Reader) { _, _ = io.ReadAll(r) }", true},
		{"", "var c chan int", true},
		{"", "func F() { select {} }", true},
		{"context", "func F(ctx context.Context) { <-ctx.Done() }", true},
		{"time", "func F() { time.Sleep(1) }", true},
		{"time", "var nap = time.Sleep", true},
		{"time", "func F() { for range time.Tick(1) {\n\t}\n}", true},
		{"time", "var timer = time.NewTimer(1)", true},
		{"bytes", "type R struct{}\n\nfunc (R) Read([]byte) (int, error) { return 0, nil }", true},
		{"bytes", "type R struct{}\n\nfunc (R) ReadRune() (rune, int, error) { return 0, 0, nil }", true},
	} {
		dir := t.TempDir()
		text := "package p\n\n"
		for _, name := range strings.Fields(tt.imports) {
			text += "import \"" + name + "\"\n"
		}
		for name, text := range map[string]string{"go.mod": "module p\n", "a.go": "package p\n\nimport _ \"fmt\"\n", "b.go": text + "\n" + tt.body + "\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := readSource(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		if s.waits != tt.waits {
			t.Errorf("%s %s: got %t", tt.imports, tt.body, s.waits)
		}
	}
}
