package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/markdown"
	"github.com/idelchi/aura/internal/strictyaml"
	"github.com/idelchi/aura/internal/wording"
	"go.yaml.in/yaml/v4"
)

const (
	maxFiles = 10_000 // Files in all homes.
	maxLevel = 16     // Directories below a kind.
)

// kind is a directory below config/ and how its files are read.
type kind struct {
	dir  string
	ext  string // ".md" or ".yaml"; ".yml" counts as ".yaml".
	load func(*loader, File)
}

// kinds is the table of everything that may stand below config/.
func kinds() []kind {
	return []kind{
		{"agents", ".md", (*loader).agent},
		{"commands", ".md", (*loader).command},
		{"features", ".yaml", (*loader).features},
		{"hooks", ".yaml", (*loader).hooks},
		{"mcp", ".yaml", collect("mcp")},
		{"modes", ".md", (*loader).mode},
		{"prompts", ".md", (*loader).prompt},
		{"providers", ".yaml", (*loader).providers},
		{"rules", ".yaml", (*loader).rules},
		{"sandbox", ".yaml", (*loader).features},
		{"tasks", ".yaml", collect("tasks")},
		{"tools", ".yaml", (*loader).toolDefinitions},
	}
}

// collect is the load of a kind that another package decodes.
func collect(dir string) func(*loader, File) {
	return func(l *loader, f File) { l.cfg.Files[dir] = append(l.cfg.Files[dir], f) }
}

// Load reads and checks the configuration of all homes. Homes, directories and files
// that do not exist are no mistake; built-in values stand in. Every mistake of every file is
// reported, as Errors.
func Load(h Homes) (*Config, error) {
	l := &loader{
		cfg:    &Config{Homes: h, Files: map[string][]File{}, pluginDirs: map[string]string{}},
		broken: map[string]bool{},
	}
	l.defaults()
	for _, home := range h.All() {
		l.home(home)
	}
	l.assemble()
	l.assembleHooks()
	l.checkNames()
	if err := l.errs.Err(); err != nil {
		return nil, err
	}
	return l.cfg, nil
}

// loader is the state of one Load.
type loader struct {
	cfg      *Config
	errs     Errors
	files    int
	agents   []*definition // Built-in first, then home by home.
	modes    []*definition
	prompts  []Prompt
	hookDefs []*definition
	broken   map[string]bool // Kinds with a file whose name could not be read.
}

// defaults reads the built-in agents, modes and prompts. Built-in features and providers are Go values.
func (l *loader) defaults() {
	for _, k := range kinds() {
		if k.ext != ".md" {
			continue
		}
		entries, _ := defaultFiles.ReadDir("defaults/config/" + k.dir)
		for _, e := range entries {
			k.load(l, File{Path: builtinPrefix + k.dir + "/" + e.Name()})
		}
	}
}

const builtinPrefix = "builtin:"

func (l *loader) home(home string) {
	dir := filepath.Join(home, "config")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.errs.Add(dir, 0, "", "%v", strictyaml.Reason(err))
		return
	}
	table := kinds()
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch i := slices.IndexFunc(table, func(k kind) bool { return k.dir == e.Name() }); {
		case ignored(e.Name()):
		case err != nil:
			l.errs.Add(path, 0, "", "%v", strictyaml.Reason(err))
		case !info.IsDir():
			if ext := extension(e.Name()); ext == ".yaml" || ext == ".md" {
				l.errs.Add(path, 0, "", "file is in no directory of config (%s)", strings.Join(kindNames(), ", "))
			}
		case i < 0:
			l.errs.Add(path, 0, "", "unknown directory%s", wording.Hint(e.Name(), "directories", kindNames()))
		default:
			l.walk(table[i], home, path, []os.FileInfo{info})
		}
	}
}

func kindNames() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.dir)
	}
	return names
}

// walk loads the files of a kind below dir in order of their paths, links followed.
// above are the directories it is in, so that a link to one of them ends.
func (l *loader) walk(k kind, home, dir string, above []os.FileInfo) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		l.errs.Add(dir, 0, "", "%v", strictyaml.Reason(err))
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if ignored(e.Name()) {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			l.errs.Add(path, 0, "", "%v", strictyaml.Reason(err))
		case info.IsDir():
			loop := slices.ContainsFunc(above, func(up os.FileInfo) bool { return os.SameFile(up, info) })
			if loop || len(above) > maxLevel {
				l.errs.Add(path, 0, "", "directories nested too deeply or in a circle")
				continue
			}
			l.walk(k, home, path, append(slices.Clip(above), info))
		case !info.Mode().IsRegular():
		case extension(e.Name()) == k.ext:
			if l.files++; l.files == maxFiles {
				l.errs.Add(dir, 0, "", "more than %d configuration files", maxFiles)
			}
			if l.files < maxFiles {
				k.load(l, File{Home: home, Path: path})
			}
		case extension(e.Name()) == ".yaml" || extension(e.Name()) == ".md":
			l.errs.Add(path, 0, "", "%s are *%s files", k.dir, k.ext)
		}
	}
}

func extension(name string) string {
	ext := strings.ToLower(filepath.Ext(name))
	if ext == ".yml" {
		return ".yaml"
	}
	return ext
}

// ignored names are examples, notes to people and what editors and systems leave behind.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.Contains(name, ".example.") || strings.EqualFold(name, "README.md")
}

// read gives the content of a file; a mistake is reported and gives nil.
func (l *loader) read(f File) []byte {
	if name, ok := strings.CutPrefix(f.Path, builtinPrefix); ok {
		src, _ := defaultFiles.ReadFile("defaults/config/" + name)
		return src
	}
	src, err := strictyaml.ReadFile(f.Path)
	if err != nil {
		l.errs.Add(f.Path, 0, "", "%v", err)
		return nil
	}
	if src == nil {
		src = []byte{}
	}
	return src
}

// markdown reads a Markdown file and decodes its frontmatter into v. Without a readable
// name the file marks its kind as broken: other files may mean what it defines.
func (l *loader) markdown(f File, v any) (d *strictyaml.Decoder, n *yaml.Node, doc markdown.Document, ok bool) {
	src := l.read(f)
	if src == nil {
		return nil, nil, doc, false
	}
	doc, err := markdown.Split(src)
	if e, bad := errors.AsType[*markdown.Error](err); bad {
		l.errs.Add(f.Path, e.Line, "", "%s", e.Msg)
		return nil, nil, doc, false
	}
	d = &strictyaml.Decoder{File: f.Path, Line: doc.FrontLine, Errors: &l.errs}
	before := len(l.errs)
	if n = d.Parse(doc.Front); n != nil {
		d.Decode(n, v, "")
	}
	return d, n, doc, n != nil || len(l.errs) == before
}

// yaml reads a YAML file; nil is an empty or broken one.
func (l *loader) yaml(f File) (*strictyaml.Decoder, *yaml.Node) {
	src := l.read(f)
	if src == nil {
		return nil, nil
	}
	d := &strictyaml.Decoder{File: f.Path, Errors: &l.errs}
	before := len(l.errs)
	n := d.Parse(src)
	if len(l.errs) > before {
		return nil, nil
	}
	return d, n
}

func (l *loader) features(f File) {
	d, n := l.yaml(f)
	if n == nil {
		return
	}
	var scratch Features
	d.Decode(n, &scratch, "")
	checkFeatures(d, n, "")
	l.cfg.layers = append(l.cfg.layers, Layer{file: f.Path, node: n})
	if scratch.Plugins.Dir != "" {
		l.cfg.pluginDirs[f.Home] = scratch.Plugins.Dir
	}
}

func (l *loader) rules(f File) {
	var file struct {
		ToolAuto []string `yaml:"tool_auto"`
	}
	if d, n := l.yaml(f); n != nil {
		d.Decode(n, &file, "")
	}
	l.cfg.Approvals = append(l.cfg.Approvals, file.ToolAuto...)
}

func (l *loader) providers(f File) {
	d, n := l.yaml(f)
	if n == nil {
		l.broken["providers"] = l.broken["providers"] || d == nil
		return
	}
	d.Pairs(n, "", func(key, value *yaml.Node, path string) {
		p := Provider{Name: key.Value, Source: Source{File: f.Path, Home: f.Home, Line: key.Line}}
		p.SetDefaults()
		before := len(l.errs)
		d.Decode(value, &p, path)
		if len(l.errs) == before {
			p.check(d, value)
			p.locate(d, value)
		}
		l.addProvider(p)
	})
}

// addProvider keeps the list sorted; a later home replaces, the same home must not.
func (l *loader) addProvider(p Provider) {
	list := l.cfg.Providers
	for i, old := range list {
		if !strings.EqualFold(old.Name, p.Name) {
			continue
		}
		if old.Source.Home == p.Source.Home {
			l.errs.Add(
				p.Source.File,
				p.Source.Line,
				p.Name,
				"provider is already defined in %s:%d",
				old.Source.File,
				old.Source.Line,
			)
		}
		list[i] = p
		return
	}
	l.cfg.Providers = append(list, p)
	slices.SortFunc(l.cfg.Providers, func(a, b Provider) int { return compareFold(a.Name, b.Name) })
}

func compareFold(a, b string) int {
	return strings.Compare(strings.ToLower(a), strings.ToLower(b))
}
