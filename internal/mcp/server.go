package mcp

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/condition"
	"github.com/idelchi/aura/internal/strictyaml"
)

// How long a server gets where its file does not say.
const (
	connectTimeout = 10 * time.Second
	callTimeout    = 120 * time.Second
)

// Server says how to reach one server. In Command, Args, the values of Env, URL and
// the values of Headers, ${VAR} is replaced by a variable of the environment and
// ${VAR:-text} by text where it is not set.
type Server struct {
	Name string `yaml:"-"` // Key in the file. Compared without regard to case.
	File string `yaml:"-"`
	Home string `yaml:"-"` // Empty for .mcp.json.
	Line int    `yaml:"-"`

	Type    string            `yaml:"type" enum:"stdio http"` // Empty: stdio with a command, http with a URL.
	Command string            `yaml:"command"`
	Args    []string          `yaml:"args"`
	Env     map[string]string `yaml:"env"` // Added to the environment of the program.
	URL     string            `yaml:"url"`
	Headers map[string]string `yaml:"headers"`

	Timeout   time.Duration `yaml:"timeout"`   // For connecting and for each call; 0 is 10 s and 120 s.
	Disabled  bool          `yaml:"disabled"`  // Never started.
	Deferred  bool          `yaml:"deferred"`  // The model must load its tools before use.
	Condition string        `yaml:"condition"` // Started only while it holds.
}

// When returns the condition under which the server is started.
func (s Server) When() *condition.Expr {
	if s.Condition == "" {
		return nil
	}
	expr, _ := condition.Parse(s.Condition) // Checked by Load.
	return expr
}

func (s Server) connectTimeout() time.Duration { return cmp.Or(s.Timeout, connectTimeout) }
func (s Server) callTimeout() time.Duration    { return cmp.Or(s.Timeout, callTimeout) }

// Target is what the server is reached by, without secrets.
func (s Server) Target() string {
	if s.Type == "http" {
		return s.URL
	}
	return strings.TrimSpace(s.Command + " " + strings.Join(s.Args, " "))
}

// Pattern matches the names of the server's tools.
func (s Server) Pattern() string { return Prefix + clean(s.Name) + "__*" }

// foreign is a server in the .mcp.json that many programs read.
type foreign struct {
	Type     string            `yaml:"type" enum:"stdio http streamable-http"`
	Command  string            `yaml:"command"`
	Args     []string          `yaml:"args"`
	Env      map[string]string `yaml:"env"`
	URL      string            `yaml:"url"`
	Headers  map[string]string `yaml:"headers"`
	Timeout  int               `yaml:"timeout" min:"0"` // Milliseconds.
	Disabled bool              `yaml:"disabled"`
}

// File is a file of servers.
type File struct {
	Home string // That it belongs to.
	Path string
}

// Load reads the servers of configuration files, those of later homes in place of
// earlier ones, and those of the project's .mcp.json, which a project home can
// replace. An empty project means that there is no .mcp.json to read. All mistakes
// are reported together as strictyaml.Errors.
func Load(files []File, global, project string) ([]Server, error) {
	l := &loader{}
	for _, f := range files {
		if f.Home == global {
			l.file(f)
		}
	}
	if project != "" {
		l.project(project)
	}
	for _, f := range files {
		if f.Home != global {
			l.file(f)
		}
	}
	if err := l.errs.Err(); err != nil {
		return nil, err
	}
	return l.servers, nil
}

// FindProject returns the .mcp.json in the last of dirs that has one: they lead from the
// root of the repository down to the working directory. Empty if there is none.
func FindProject(dirs []string) string {
	for _, d := range slices.Backward(dirs) {
		if file := filepath.Join(d, ".mcp.json"); isFile(file) {
			return file
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

type loader struct {
	servers []Server
	errs    strictyaml.Errors
}

// decode reads a file into v and returns its root; nil if it is empty or no YAML.
func (l *loader) decode(file string, v any) *yaml.Node {
	src, err := strictyaml.ReadFile(file)
	if err != nil {
		l.errs.Add(file, 0, "", "%v", err)
		return nil
	}
	// A tab is a blank in JSON but not everywhere in YAML.
	if strings.HasSuffix(file, ".json") {
		src = []byte(strings.ReplaceAll(string(src), "\t", " "))
	}
	d := &strictyaml.Decoder{File: file, Errors: &l.errs}
	root := d.Parse(src)
	if root != nil {
		d.Decode(root, v, "")
	}
	return root
}

// file reads a file of configuration.
func (l *loader) file(f File) {
	servers := map[string]Server{}
	root := l.decode(f.Path, &servers)
	if root == nil {
		return
	}
	for _, name := range keys(root) {
		s := servers[name]
		s.Name, s.File, s.Home = name, f.Path, f.Home
		l.add(s, root, name)
	}
}

// project reads a .mcp.json.
func (l *loader) project(path string) {
	var file struct {
		Servers map[string]foreign `yaml:"mcpServers"`
	}
	root := l.decode(path, &file)
	if root == nil {
		return
	}
	for _, name := range keys(strictyaml.Find(root, "mcpServers")) {
		s := file.Servers[name]
		if s.Type == "streamable-http" {
			s.Type = "http"
		}
		l.add(Server{
			Name:     name,
			File:     path,
			Type:     s.Type,
			Command:  s.Command,
			Args:     s.Args,
			Env:      s.Env,
			URL:      s.URL,
			Headers:  s.Headers,
			Timeout:  time.Duration(s.Timeout) * time.Millisecond,
			Disabled: s.Disabled,
		}, root, "mcpServers", name)
	}
}

// add checks a server and takes it over. path is where its keys stand below root.
func (l *loader) add(s Server, root *yaml.Node, path ...string) {
	node := strictyaml.Find(root, path...)
	s.Line = line(root, path...)
	bad := func(key, format string, args ...any) {
		at := line(node, key)
		if at == 0 {
			at = s.Line
		}
		l.errs.Add(s.File, at, strings.Join(append(slices.Clone(path), key), "."), format, args...)
	}
	prefix := strings.Join(path, ".")
	if slices.ContainsFunc(l.errs, func(e *strictyaml.Error) bool {
		return e.File == s.File && (e.Path == prefix || strings.HasPrefix(e.Path, prefix+"."))
	}) {
		return // What is wrong with it has been said.
	}
	before := len(l.errs)
	if s.Type == "" && s.Command != "" {
		s.Type = "stdio"
	}
	if s.Type == "" && s.URL != "" {
		s.Type = "http"
	}
	switch {
	case clean(s.Name) == "" || strings.Trim(clean(s.Name), "_") == "":
		l.errs.Add(s.File, s.Line, s.Name, "a server needs a name of letters and digits")
	case s.Type == "":
		bad("type", "missing (write command: for a program, url: for a server on the network)")
	case s.Type == "stdio" && s.Command == "":
		bad("command", "missing")
	case s.Type == "stdio" && (s.URL != "" || len(s.Headers) > 0):
		bad("url", "only type http has url and headers")
	case s.Type == "http" && s.URL == "":
		bad("url", "missing")
	case s.Type == "http" && (s.Command != "" || len(s.Args) > 0 || len(s.Env) > 0):
		bad("command", "only type stdio has command, args and env")
	}
	if s.URL != "" && !strings.Contains(s.URL, "${") {
		if u, err := url.Parse(s.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			bad("url", "%q is not an http or https address", clip(s.URL, 60))
		}
	}
	if _, err := condition.Parse(s.Condition); s.Condition != "" && err != nil {
		bad("condition", "%v", err)
	}
	for i, old := range l.servers {
		if !strings.EqualFold(old.Name, s.Name) {
			continue
		}
		if old.Home == s.Home && old.File != "" && (s.Home != "" || old.File == s.File) {
			l.errs.Add(s.File, s.Line, s.Name, "server is already defined in %s:%d", old.File, old.Line)
			return
		}
		l.servers[i] = s
		return
	}
	if len(l.errs) == before {
		l.servers = append(l.servers, s)
	}
}

// keys lists the keys of a mapping in order.
func keys(n *yaml.Node) []string {
	var list []string
	strictyaml.Each(n, func(key, _ *yaml.Node) {
		if key.Tag != "!!merge" && !slices.Contains(list, key.Value) {
			list = append(list, key.Value)
		}
	})
	return list
}

// line is the line of the last key of a path; 0 if it is not written.
func line(n *yaml.Node, path ...string) (at int) {
	last := len(path) - 1
	strictyaml.Each(strictyaml.Find(n, path[:last]...), func(key, _ *yaml.Node) {
		if at == 0 && key.Value == path[last] {
			at = key.Line
		}
	})
	return at
}

// expanded returns the server with its variables filled in.
func (s Server) expanded(getenv func(string) (string, bool)) (Server, error) {
	var errs strictyaml.Errors
	fill := func(key, text string) string {
		out, missing := expand(text, getenv)
		if missing != "" {
			errs.Add(s.File, s.Line, s.Name+"."+key, "$%s is not set", missing)
		}
		return out
	}
	all := func(key string, values map[string]string) map[string]string {
		out := make(map[string]string, len(values))
		for name, text := range values {
			out[name] = fill(key+"."+name, text)
		}
		return out
	}
	s.Command, s.URL = fill("command", s.Command), fill("url", s.URL)
	s.Args = slices.Clone(s.Args)
	for i, arg := range s.Args {
		s.Args[i] = fill(fmt.Sprintf("args[%d]", i), arg)
	}
	s.Env, s.Headers = all("env", s.Env), all("headers", s.Headers)
	return s, errs.Err()
}

// expand replaces ${VAR} and ${VAR:-default} and names the first variable that is not
// set. Everything else stays as it is.
func expand(text string, getenv func(string) (string, bool)) (out, missing string) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), missing
		}
		inner, after, closed := strings.Cut(rest, "}")
		name, fallback, hasFallback := strings.Cut(inner, ":-")
		if !closed || !variable(name) {
			b.WriteString("${")
			text = rest
			continue
		}
		value, ok := getenv(name)
		switch {
		case (!ok || value == "") && hasFallback:
			value = fallback
		case !ok && missing == "":
			missing = name
		}
		b.WriteString(value)
		text = after
	}
}

func variable(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}
