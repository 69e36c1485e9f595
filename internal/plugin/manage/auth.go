package manage

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// attempt is one way to get into a repository.
type attempt struct {
	label  string   // What a user reads when it failed.
	config []string // Settings of git, key and value in turn.
	ssh    string   // Command for ssh; empty leaves it to git.
}

// tokenVars are the variables with tokens, in the order in which they are tried.
var tokenVars = []string{"GITLAB_TOKEN", "GITHUB_TOKEN", "GIT_TOKEN"}

// keyFiles are the keys in ~/.ssh, in the order in which they are tried.
var keyFiles = []string{"id_ed25519", "id_rsa", "id_ecdsa"}

// attempts are the ways to get into the repository at p, in order. Later ones are
// only made when they are needed: the last may ask a credential store.
func (m *Manager) attempts(ctx context.Context, p place) iter.Seq[attempt] {
	switch {
	case isHTTP(p.URL):
		return m.httpAttempts(ctx, p)
	case isSSH(p.URL):
		return m.sshAttempts(ctx)
	}
	return func(yield func(attempt) bool) { yield(attempt{label: "no credentials"}) }
}

func (m *Manager) httpAttempts(ctx context.Context, p place) iter.Seq[attempt] {
	return func(yield func(attempt) bool) {
		u, err := url.Parse(p.URL)
		if err != nil {
			return
		}
		// Secrets travel encrypted or not at all; only this machine needs no encryption.
		private := strings.EqualFold(u.Scheme, "https") || isLoopback(u.Hostname())
		if (p.user != "" || p.token != "") && private &&
			!yield(basic(u, "the credentials in the URL", p.user, p.token)) {
			return
		}
		if !yield(attempt{label: "no credentials"}) {
			return
		}
		if !private {
			return
		}
		for _, name := range tokenVars {
			if token := strings.TrimSpace(m.getenv(name)); token != "" && !yield(basic(u, name, "oauth2", token)) {
				return
			}
		}
		if user, password, ok := m.credentialFill(ctx, u); ok {
			yield(basic(u, "git credential fill", user, password))
		}
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// basic sends a user name and password with every request to the host of u.
func basic(u *url.URL, label, user, password string) attempt {
	secret := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	return attempt{label: label, config: []string{
		"http." + u.Scheme + "://" + u.Host + "/.extraHeader", "Authorization: Basic " + secret,
	}}
}

// credentialFill asks the credential helpers that the user has set up for git.
func (m *Manager) credentialFill(ctx context.Context, u *url.URL) (user, password string, ok bool) {
	out, err := m.run(ctx, program{
		name: "git", args: []string{"credential", "fill"}, env: quiet,
		stdin: fmt.Sprintf("protocol=%s\nhost=%s\npath=%s\n\n", u.Scheme, u.Host, strings.TrimPrefix(u.Path, "/")),
	})
	if err != nil {
		return "", "", false
	}
	for line := range strings.Lines(string(out)) {
		switch key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "="); key {
		case "username":
			user = value
		case "password":
			password = value
		}
	}
	return user, password, password != ""
}

// sshAttempts are the agent, with all else that the user's configuration of ssh
// says, and then each key file.
func (m *Manager) sshAttempts(ctx context.Context) iter.Seq[attempt] {
	return func(yield func(attempt) bool) {
		base := m.getenv("GIT_SSH_COMMAND")
		if base == "" {
			if out, err := m.run(
				ctx,
				program{name: "git", args: []string{"config", "--get", "core.sshCommand"}, env: quiet},
			); err == nil {
				base = strings.TrimSpace(string(out))
			}
		}
		if base == "" && m.getenv("GIT_SSH") != "" {
			// A program of the user's own; what options it takes is unknown.
			yield(attempt{label: "GIT_SSH"})
			return
		}
		if base == "" {
			base = "ssh"
		}
		base += " -o BatchMode=yes"
		if !yield(attempt{label: "ssh agent", ssh: base}) {
			return
		}
		home := m.getenv("HOME")
		if windows {
			home = m.getenv("USERPROFILE")
		}
		for _, name := range keyFiles {
			file := filepath.Join(home, ".ssh", name)
			if info, err := os.Stat(file); home == "" || err != nil || !info.Mode().IsRegular() {
				continue
			}
			ssh := base + " -o IdentitiesOnly=yes -o IdentityAgent=none -i " + shellQuote(filepath.ToSlash(file))
			if !yield(attempt{label: "~/.ssh/" + name, ssh: ssh}) {
				return
			}
		}
	}
}

// quiet keeps git from asking anybody anything.
var quiet = []string{"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never"}

// env is the environment that makes git use the attempt. Secrets are passed in the
// environment: arguments can be read by other users, files stay.
func (a attempt) env(m *Manager) []string {
	config := append([]string{
		"core.hooksPath", os.DevNull,
		"core.autocrlf", "false",
		"core.askPass", "",
		"credential.helper", "", // The helpers are the last resort, and asked by us.
		"protocol.ext.allow", "never",
		"maintenance.auto", "false", // Nothing goes on in the background in a directory that is about to move.
		"gc.auto", "0",
	}, a.config...)
	// Settings that the user passes in the same way stay in force.
	n, _ := strconv.Atoi(m.getenv("GIT_CONFIG_COUNT"))
	n = max(n, 0)
	env := append([]string{}, quiet...)
	for i := 0; i+1 < len(config); i += 2 {
		env = append(
			env,
			fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, config[i]),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, config[i+1]),
		)
		n++
	}
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
	if a.ssh != "" {
		env = append(env, "GIT_SSH_COMMAND="+a.ssh)
	}
	return env
}

// refused are what git says when another key may open the door. A server that hides
// private repositories says "not found".
var refused = []string{
	"Authentication failed",
	"could not read Username",
	"could not read Password",
	"terminal prompts disabled",
	"Permission denied",
	"error: 401",
	"error: 403",
	"error: 404",
	"not found",
	"Access denied",
	"access denied",
	"HTTP Basic",
}

func isRefused(err error) bool {
	for _, text := range refused {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}
