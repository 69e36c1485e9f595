package manage

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// gitServer serves the repository of a world over http, to those who send the right
// credentials; it notes what everybody sent.
type gitServer struct {
	*httptest.Server
	mu    sync.Mutex
	seen  []string
	right string // user:password; empty lets everybody in.
}

func (w *world) server(right string, files map[string]string) *gitServer {
	w.Helper()
	w.repo("served", files)
	w.git("", "clone", "-q", "--bare", w.path("served"), "public/repo.git")
	w.git("public/repo.git", "update-server-info")
	s := &gitServer{right: right}
	static := http.FileServer(http.Dir(w.path("public")))
	s.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		sent, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.Header.Get("Authorization"), "Basic "))
		s.mu.Lock()
		if n := len(s.seen); n == 0 || s.seen[n-1] != string(sent) {
			s.seen = append(s.seen, string(sent))
		}
		s.mu.Unlock()
		if s.right != "" && string(sent) != s.right {
			rw.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		static.ServeHTTP(rw, r)
	}))
	w.Cleanup(s.Close)
	return s
}

// helper sets up a credential helper that knows a password.
func (w *world) helper() {
	w.set(
		"GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=credential.helper",
		"GIT_CONFIG_VALUE_0=!f() { echo username=me; echo password=stored; }; f",
	)
}

// Ways in are tried in order, and each only when the one before was refused. MG-20
func TestHTTPOrder(t *testing.T) {
	t.Parallel()
	tokens := []string{"GITHUB_TOKEN=hub-secret", "GIT_TOKEN=git-secret", "GITLAB_TOKEN=lab-secret"}
	for _, tt := range []struct {
		name, right, user string
		env               []string
		helper            bool
		want              []string
	}{
		{"public", "", "", tokens, true, []string{""}},
		{"first token", "oauth2:lab-secret", "", tokens, true, []string{"", "oauth2:lab-secret"}},
		{"last token", "oauth2:git-secret", "", tokens, true, []string{"", "oauth2:lab-secret", "oauth2:hub-secret", "oauth2:git-secret"}},
		{"credential fill", "me:stored", "", tokens, true, []string{"", "oauth2:lab-secret", "oauth2:hub-secret", "oauth2:git-secret", "me:stored"}},
		{"no tokens", "me:stored", "", nil, true, []string{"", "me:stored"}},
		{"in the URL", "joe:pw-secret", "joe:pw-secret@", tokens, true, []string{"joe:pw-secret"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.server(tt.right, pluginFiles("", "repo"))
			w.set(tt.env...)
			if tt.helper {
				w.helper()
			}
			url := s.URL + "/repo.git"
			r, err := w.manager().
				Add(t.Context(), AddOptions{Source: strings.Replace(url, "://", "://"+tt.user, 1), NoVendor: true})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.seen, tt.want) {
				t.Errorf("sent %q, want %q", s.seen, tt.want)
			}
			if r.Origin.URL != url {
				t.Errorf("origin %q", r.Origin.URL)
			}
			// Nothing secret is kept or printed.
			all := w.out.String()
			for name, text := range w.snapshot() {
				if !strings.Contains(name, "objects") {
					all += text
				}
			}
			for _, secret := range []string{"secret", "stored", "Authorization", base64.StdEncoding.EncodeToString([]byte(tt.right))} {
				if secret != "" && strings.Contains(all, secret) {
					t.Errorf("%q was kept or printed", secret)
				}
			}
		})
	}
}

// A repository that lets nobody in: one error that says what was tried, without
// secrets, and nothing is left.
func TestHTTPRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.server("nobody:knows", pluginFiles("", "repo"))
	w.set("GITHUB_TOKEN=hub-secret")
	w.helper()
	_, err := w.manager().
		Add(t.Context(), AddOptions{Source: strings.Replace(s.URL, "://", "://joe:pw-secret@", 1) + "/repo.git"})
	wants(t, err, "the credentials in the URL, no credentials, GITHUB_TOKEN, git credential fill", "GITLAB_TOKEN")
	if strings.Contains(err.Error(), "secret") || strings.Contains(w.out.String(), "secret") {
		t.Errorf("secrets in %q", err)
	}
	w.unchanged(map[string]string{})
}

// Tokens are not sent in the clear to another machine.
func TestHTTPClear(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.set("GITHUB_TOKEN=x")
	w.helper()
	for url, want := range map[string][]string{
		"http://example.com/x":  {"no credentials"},
		"https://example.com/x": {"no credentials", "GITHUB_TOKEN", "git credential fill"},
		"git://example.com/x":   {"no credentials"},
	} {
		var got []string
		for a := range w.manager().attempts(t.Context(), place{URL: url}) {
			got = append(got, a.label)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v", url, got)
		}
	}
}

// The agent comes first, then the key files that exist. MG-12 MG-21
func TestSSHOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	calls := w.fakes("ssh")
	w.write("user/.ssh", map[string]string{"id_rsa": "x", "id_ecdsa": "x", "id_ed25519": "x", "id_dsa": "x"})
	_, err := w.manager().Add(t.Context(), AddOptions{Source: "git@host.example:user/repo.git"})
	wants(t, err, "ssh agent, ~/.ssh/id_ed25519, ~/.ssh/id_rsa, ~/.ssh/id_ecdsa (add a key with ssh-add")
	if err := os.Remove(w.path("user", ".ssh", "id_rsa")); err != nil {
		t.Fatal(err)
	}
	_, err = w.manager().Add(t.Context(), AddOptions{Source: "ssh://git@host.example/user/repo.git"})
	wants(t, err, "ssh agent, ~/.ssh/id_ed25519, ~/.ssh/id_ecdsa (add a key with ssh-add")
	var keys []string
	for _, c := range calls() {
		if !slices.Contains(c.Args, "BatchMode=yes") {
			t.Errorf("ssh may ask questions: %v", c.Args)
		}
		key := "agent"
		if i := slices.Index(c.Args, "-i"); i >= 0 {
			key = filepath.Base(c.Args[i+1])
		}
		keys = append(keys, key)
	}
	if want := []string{
		"agent",
		"id_ed25519",
		"id_rsa",
		"id_ecdsa",
		"agent",
		"id_ed25519",
		"id_ecdsa",
	}; !slices.Equal(
		keys,
		want,
	) {
		t.Errorf("tried %v", keys)
	}
	w.unchanged(map[string]string{})
}
