package manage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/wording"
)

// remote is a repository that was reached, and how.
type remote struct {
	m   *Manager
	url string
	via attempt
}

// revision is what a ref stands for.
type revision struct {
	Name   string // Full name, like refs/tags/v1 or HEAD; a commit if there is none.
	Commit string // Empty if only fetching can tell.
}

// git runs git with an attempt's credentials.
func (m *Manager) git(ctx context.Context, a attempt, dir string, args ...string) (string, error) {
	live := len(args) > 0 && args[0] == "fetch"
	out, err := m.run(ctx, program{name: "git", args: args, dir: dir, env: a.env(m), live: live})
	if errors.Is(err, exec.ErrNotFound) {
		err = fmt.Errorf("%w: git is needed to install plugins from repositories", err)
	}
	return strings.TrimRight(string(out), "\n"), err
}

// local runs git inside a clone, never in a repository around it.
func (m *Manager) local(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := m.localBytes(ctx, dir, args...)
	return strings.TrimRight(string(out), "\n"), err
}

// localBytes is local with the output as it is.
func (m *Manager) localBytes(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return m.run(ctx, program{
		name: "git",
		args: args,
		dir:  dir,
		env: append(
			attempt{}.env(m),
			"GIT_DIR="+filepath.Join(dir, ".git"),
			"GIT_WORK_TREE="+dir,
			"GIT_OPTIONAL_LOCKS=0",
		),
	})
}

// reach finds out how to get into a repository and what ref stands for there. The
// empty ref is the default branch.
func (m *Manager) reach(ctx context.Context, p place, ref string) (*remote, revision, error) {
	if strings.HasPrefix(ref, "-") || strings.ContainsAny(ref, " ~^:?*[\\\n\t") || strings.Contains(ref, "..") {
		return nil, revision{}, fmt.Errorf("ref %q: not the name of a tag, branch or commit", ref)
	}
	args := []string{"ls-remote", "--symref", "--", p.URL, "HEAD"}
	if ref != "" {
		args = append(args, "refs/heads/"+ref, "refs/tags/"+ref, "refs/tags/"+ref+"^{}", ref)
	}
	var tried []string
	var last error
	for a := range m.attempts(ctx, p) {
		out, err := m.git(ctx, a, "", args...)
		if err == nil {
			r := &remote{m: m, url: p.URL, via: a}
			rev, err := r.choose(ctx, ref, out)
			return r, rev, err
		}
		if ctx.Err() != nil {
			return nil, revision{}, ctx.Err()
		}
		tried = append(tried, a.label)
		last = err
		if !isRefused(err) {
			return nil, revision{}, fmt.Errorf("%s: %w", p.URL, err)
		}
	}
	hint := ""
	switch {
	case isSSH(p.URL):
		hint = " (add a key with ssh-add, or put one into ~/.ssh)"
	case isHTTP(p.URL):
		hint = fmt.Sprintf(" (set %s, or store credentials with git)", strings.Join(tokenVars, ", "))
	}
	return nil, revision{}, fmt.Errorf(
		"%s: no access, or no such repository; tried %s%s: %w",
		p.URL,
		strings.Join(tried, ", "),
		hint,
		last,
	)
}

// choose finds ref in the answer of ls-remote: a branch before a tag, as git clone
// does it.
func (r *remote) choose(ctx context.Context, ref, answer string) (revision, error) {
	found := map[string]string{}
	for line := range strings.Lines(answer) {
		commit, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		if ok && !strings.HasPrefix(commit, "ref: ") {
			found[name] = commit
		}
	}
	if ref == "" {
		if found["HEAD"] == "" {
			return revision{}, fmt.Errorf(
				"%s: the repository is empty, or has no default branch (name one with --ref)",
				r.url,
			)
		}
		return revision{"HEAD", found["HEAD"]}, nil
	}
	for _, name := range []string{"refs/heads/" + ref, "refs/tags/" + ref, ref} {
		if commit := found[name]; commit != "" && (name != ref || strings.HasPrefix(ref, "refs/")) {
			if peeled := found[name+"^{}"]; peeled != "" {
				commit = peeled
			}
			return revision{name, commit}, nil
		}
	}
	if isCommit(ref) {
		rev := revision{Name: ref}
		if len(ref) >= 40 {
			rev.Commit = strings.ToLower(ref)
		}
		return rev, nil
	}
	hint := ""
	if out, err := r.m.git(ctx, r.via, "", "ls-remote", "--heads", "--tags", "--refs", "--", r.url); err == nil {
		var names []string
		for line := range strings.Lines(out) {
			_, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
			names = append(names, strings.TrimPrefix(strings.TrimPrefix(name, "refs/heads/"), "refs/tags/"))
		}
		hint = wording.Suggest(ref, names[:min(len(names), 1000)])
	}
	return revision{}, fmt.Errorf("%s: no branch, tag or commit %q%s", r.url, ref, hint)
}

// isCommit reports whether ref can be a commit: 7 or more hexadecimal digits.
func isCommit(ref string) bool {
	return len(ref) >= 7 && len(ref) <= 64 && strings.Trim(strings.ToLower(ref), "0123456789abcdef") == ""
}

// fetch makes dir a clone with rev checked out, and returns the commit. If old is the
// directory of an earlier clone, its commit is there too, so that both can be
// compared.
func (r *remote) fetch(ctx context.Context, dir string, rev revision, old string) (string, error) {
	if _, err := r.m.git(ctx, attempt{}, "", "init", "--quiet", "--template=", "--", dir); err != nil {
		return "", err
	}
	if err := configure(dir, r.url); err != nil {
		return "", err
	}
	depth := []string{"--depth=1"}
	if old != "" {
		if _, err := r.m.local(
			ctx,
			dir,
			"fetch",
			"--quiet",
			"--no-tags",
			"--update-shallow",
			"--",
			filepath.Join(old, ".git"),
			"+HEAD:refs/aura/installed",
		); err == nil {
			depth = nil
		} else if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	if err := r.download(ctx, dir, rev, depth); err != nil {
		return "", fmt.Errorf("%s: %w", r.url, err)
	}
	if _, err := r.m.local(ctx, dir, "checkout", "--quiet", "--detach", "--force", "refs/aura/incoming"); err != nil {
		return "", fmt.Errorf("%s: %w", r.url, err)
	}
	commit, err := os.ReadFile(filepath.Join(dir, ".git", "HEAD"))
	return strings.TrimSpace(string(commit)), err
}

// configure gives a new repository its remote. Nothing secret is in it.
func configure(dir, url string) error {
	f, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(url)
	_, err = fmt.Fprintf(
		f,
		"[core]\n\tautocrlf = false\n\thooksPath = %s\n[remote \"origin\"]\n\turl = \"%s\"\n"+
			"\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
		filepath.ToSlash(os.DevNull),
		quoted,
	)
	return errors.Join(err, f.Close())
}

// download fetches rev into refs/aura/incoming, with as little history as the
// server can be made to send.
func (r *remote) download(ctx context.Context, dir string, rev revision, depth []string) error {
	fetch := func(options []string, refspecs ...string) error {
		args := append([]string{"fetch", "--no-tags", "--force"}, options...)
		if r.m.o.Live {
			args = append(args, "--progress")
		}
		_, err := r.m.git(ctx, r.via, dir, append(append(args, "--", "origin"), refspecs...)...)
		return err
	}
	var err error
	if strings.HasPrefix(rev.Name, "refs/") || rev.Name == "HEAD" || rev.Commit != "" {
		want := "+" + rev.Name + ":refs/aura/incoming"
		if err = fetch(depth, want); err == nil {
			return nil
		}
		// Old servers send neither a part of the history nor a commit by its hash.
		if len(depth) > 0 && ctx.Err() == nil {
			if err = fetch(nil, want); err == nil {
				return nil
			}
		}
		if rev.Commit == "" || !isCommit(rev.Name) {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if all := fetch(nil, "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"); all != nil {
		return errors.Join(err, all)
	}
	commit, err := r.m.local(ctx, dir, "rev-parse", "--verify", "--quiet", rev.Name+"^{commit}")
	if err != nil {
		return fmt.Errorf("no branch, tag or commit %q", rev.Name)
	}
	_, err = r.m.local(ctx, dir, "update-ref", "refs/aura/incoming", commit)
	return err
}

// split cuts the output of git with -z.
func split(out string) []string {
	return slices.DeleteFunc(strings.Split(out, "\x00"), func(s string) bool { return s == "" })
}
