package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// goSettings are the settings of the go command that its own cache and proxy
// depend on.
var goSettings = sync.OnceValues(func() (set map[string]string, err error) {
	out, err := exec.Command("go", "env", "-json",
		"GOMODCACHE", "GOCACHE", "GOPROXY", "GONOSUMDB", "GOSUMDB", "GOFLAGS", "GOTOOLCHAIN").Output()
	if err == nil {
		err = json.Unmarshal(out, &set)
	}
	return set, err
})

// goEnvironment lets scripts, whose home is empty, use the go command and git as
// the user who runs the tests does.
func goEnvironment(e *testscript.Env, home string) error {
	set, err := goSettings()
	if err != nil {
		return err
	}
	for name, value := range set {
		e.Setenv(name, value)
	}
	for _, name := range []string{
		"HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
	} {
		if value, ok := os.LookupEnv(name); ok {
			e.Setenv(name, value)
		}
	}
	e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	// The go command counts its uses in the background, and would do so while the
	// directory is removed.
	for _, dir := range []string{".config", "Library/Application Support"} {
		file := filepath.Join(home, filepath.FromSlash(dir), "go", "telemetry", "mode")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte("off"), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(
		filepath.Join(home, ".gitconfig"),
		[]byte(
			"[user]\n\tname = someone\n\temail = someone@example.com\n[init]\n\tdefaultBranch = main\n[gc]\n"+
				"\tauto = 0\n[maintenance]\n\tauto = false\n",
		),
		0o644,
	)
}
