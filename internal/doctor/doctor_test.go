package doctor_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/doctor"
)

// project writes files into a new directory and returns the options of a session there.
func project(t *testing.T, files map[string]string) app.Options {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(dir, "home")
	return app.Options{Homes: config.HomeOptions{Workdir: dir, Home: &home}, Noop: true}
}

// options are those of an examination of a session with the options o.
func options(o app.Options, patience time.Duration) doctor.Options {
	return doctor.Options{
		Homes: o.Homes, Patience: patience,
		Read:  func() (doctor.Place, error) { return app.Read(o) },
		Tasks: func() (int, error) { return 0, nil },
	}
}

func find(list []doctor.Finding, check string) doctor.Finding {
	for _, f := range list {
		if f.Check == check {
			return f
		}
	}
	return doctor.Finding{}
}

// What hangs is named when its time is over, and the rest of the report is there.
func TestPatience(t *testing.T) {
	t.Parallel()
	o := project(t, map[string]string{
		".aura/config/mcp/m.yaml":   "slow: {command: sh, args: [-c, sleep 600]}\n",
		".agent/extensions/slow.py": "import time\ntime.sleep(600)\n",
	})
	list, err := doctor.Examine(t.Context(), options(o, 300*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if f := find(list, "mcp slow"); f.Level != doctor.Warn || !strings.Contains(f.Text, "no answer within 300ms") {
		t.Errorf("%+v", f)
	}
	if f := find(list, "extensions"); f.Level != doctor.Fail || !strings.Contains(f.Text, "within 300ms") {
		t.Errorf("%+v", f)
	}
	for _, check := range []string{"configuration", "agents", "provider noop", "sessions"} {
		if f := find(list, check); f.Level != doctor.OK {
			t.Errorf("%s: %+v", check, f)
		}
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := project(t, map[string]string{".aura/config/mcp/m.yaml": "slow: {command: sh, args: [-c, sleep 600]}\n"})
	if _, err := doctor.Examine(ctx, options(o, 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

// A server that says something strange gets one harmless line, and what it is told by
// is not shown.
func TestStrangeServer(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]doctor.Level{
		http.StatusUnauthorized: doctor.Fail, http.StatusNotFound: doctor.Warn, http.StatusBadGateway: doctor.Warn,
		http.StatusTooManyRequests: doctor.Warn, http.StatusBadRequest: doctor.Fail,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte("{\"error\": {\"message\": \"\\u001b[31mno\\nway\"}}"))
		}))
		t.Cleanup(server.Close)
		url := strings.Replace(server.URL, "http://", "http://user:password@", 1)
		o := project(t, map[string]string{
			".aura/config/providers/p.yaml": "odd: {type: openai, url: \"" + url + "\", token: s3cret}\n",
		})
		o.Noop = false
		list, err := doctor.Examine(t.Context(), options(o, 0))
		if err != nil {
			t.Fatal(err)
		}
		f := find(list, "provider odd")
		if f.Level != want || f.Text == "" || f.Hint == "" && status != http.StatusBadRequest {
			t.Errorf("%d: %+v", status, f)
		}
		for _, f := range list {
			if line := f.String(); strings.ContainsFunc(line, unicode.IsControl) || strings.Contains(line, "s3cret") ||
				strings.Contains(line, "password") {
				t.Errorf("%d: %q", status, line)
			}
		}
	}
}
