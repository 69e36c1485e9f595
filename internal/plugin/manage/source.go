package manage

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// place is where a plugin comes from.
type place struct {
	URL   string // For git, without credentials; empty for a directory that is copied.
	Dir   string // The directory that is copied.
	user  string // Credentials that were written into the URL. They are used and forgotten.
	token string
}

// schemes are the beginnings that make a source a git URL.
var schemes = []string{"http://", "https://", "ssh://", "git://", "file://"}

// parsePlace reads the argument of `aura plugins add`: a git URL or a path. A path
// to a bare repository is cloned, any other directory is copied.
func parsePlace(arg, workdir string) (place, error) {
	if strings.ContainsFunc(arg, func(r rune) bool { return r < ' ' || r == 0x7f }) || strings.TrimSpace(arg) == "" {
		return place{}, fmt.Errorf("%q is neither a git URL nor a directory", arg)
	}
	lower := strings.ToLower(arg)
	if slices.ContainsFunc(schemes, func(s string) bool { return strings.HasPrefix(lower, s) }) {
		return parseURL(arg)
	}
	if isSCP(arg) {
		return place{URL: arg}, nil
	}
	dir := arg
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(workdir, dir)
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return place{}, fmt.Errorf(
			"%s: no such directory (a git URL begins with %s or git@)",
			arg,
			strings.Join(schemes, ", "),
		)
	case err != nil:
		return place{}, err
	case !info.IsDir():
		return place{}, fmt.Errorf("%s: not a directory", arg)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return place{}, err
	}
	if isBare(dir) {
		return place{URL: dir}, nil
	}
	return place{Dir: dir}, nil
}

// isSCP reports whether arg has the short form of an ssh URL, git@host:path. A
// user is required, so that nothing is taken for a host that may be a directory.
func isSCP(arg string) bool {
	user, rest, ok := strings.Cut(arg, "@")
	host, file, colon := strings.Cut(rest, ":")
	return ok && colon && user != "" && host != "" && file != "" &&
		!strings.ContainsAny(user, `/\:`) && !strings.ContainsAny(host, `/\`) && !strings.HasPrefix(user, "-")
}

func parseURL(arg string) (place, error) {
	u, err := url.Parse(arg)
	if err != nil {
		// The text of the error repeats the URL, which may hold a password.
		return place{}, errors.New("the URL cannot be read: check it for blanks and stray characters")
	}
	if u.Host == "" && u.Scheme != "file" || u.Path == "" || u.Path == "/" {
		return place{}, fmt.Errorf("%s: the URL names no repository", u.Redacted())
	}
	if strings.HasPrefix(u.Host, "-") {
		return place{}, fmt.Errorf("%s: not a host", u.Redacted())
	}
	var p place
	if user := u.User; user != nil {
		p.user = user.Username()
		p.token, _ = user.Password()
		if u.Scheme == "ssh" {
			u.User, p.user, p.token = url.User(p.user), "", ""
		} else {
			u.User = nil
		}
	}
	u.Fragment, u.RawQuery = "", ""
	p.URL = u.String()
	return p, nil
}

// isBare reports whether dir is a bare git repository.
func isBare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	_, err := os.Stat(filepath.Join(dir, manifestName))
	return err != nil
}

// isSSH reports whether git reaches the URL through ssh.
func isSSH(u string) bool { return strings.HasPrefix(strings.ToLower(u), "ssh://") || isSCP(u) }

// isHTTP reports whether git reaches the URL through http or https.
func isHTTP(u string) bool {
	lower := strings.ToLower(u)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

// displayURL is a URL as lists show it: host and path.
func displayURL(u string) string {
	for _, s := range schemes {
		if rest, ok := strings.CutPrefix(u, s); ok {
			u = rest
			break
		}
	}
	if user, rest, ok := strings.Cut(u, "@"); ok && !strings.Contains(user, "/") {
		u = rest
	}
	if host, file, ok := strings.Cut(u, ":"); ok && !strings.Contains(host, "/") && isSCPHost(host, file) {
		u = host + "/" + file
	}
	return strings.TrimSuffix(u, ".git")
}

// isSCPHost tells host:path from host:port/path and from C:\path.
func isSCPHost(host, file string) bool {
	port, _, _ := strings.Cut(file, "/")
	return len(host) > 1 && strings.Trim(port, "0123456789") != ""
}

// defaultName is the name of a repository's directory: the last segment of its URL
// without ".git" and without the prefix "aura-plugin-".
func defaultName(u string) string {
	u = strings.TrimRight(filepath.ToSlash(u), "/")
	name := path.Base(u[strings.LastIndexByte(u, ':')+1:])
	name = strings.TrimSuffix(name, ".git")
	if rest, ok := strings.CutPrefix(name, "aura-plugin-"); ok && rest != "" {
		name = rest
	}
	return name
}

// checkName refuses what cannot be the name of a directory of plugins.
func checkName(name string) error {
	switch {
	case name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\:*?\"<>|") || !filepath.IsLocal(name):
		return fmt.Errorf("name %q: a plugin's directory is one word without slashes", name)
	case strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-"):
		return fmt.Errorf("name %q: a plugin's directory does not begin with a dot or a dash", name)
	case name == "vendor":
		return errors.New(`name "vendor": directories called vendor are never searched for plugins`)
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fmt.Errorf("name %q: blanks are not allowed", name)
	}
	return nil
}

// cleanSubpath checks a directory inside a repository and returns it with slashes;
// "" stands for the whole.
func cleanSubpath(sub string) (string, error) {
	if sub == "" {
		return "", nil
	}
	slashed := strings.ReplaceAll(sub, `\`, "/")
	if path.IsAbs(slashed) || !filepath.IsLocal(filepath.FromSlash(slashed)) {
		return "", fmt.Errorf("subpath %q: it must be a path inside the repository", sub)
	}
	clean := path.Clean(slashed)
	if clean == "." {
		return "", nil
	}
	for part := range strings.SplitSeq(clean, "/") {
		if strings.HasPrefix(part, ".") || part == "vendor" {
			return "", fmt.Errorf("subpath %q: hidden directories and vendor are never searched for plugins", sub)
		}
	}
	return clean, nil
}
