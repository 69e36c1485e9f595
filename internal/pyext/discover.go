package pyext

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Tier is where an extension was found. Later tiers shadow earlier ones.
type Tier string

// The tiers, the winning one last.
const (
	EntryPoint Tier = "entrypoint" // A package installed in the interpreter.
	User       Tier = "user"
	Project    Tier = "project"
)

// Group is the entry point group of packages that bring extensions.
const Group = "aar_extensions"

// Extension is an extension that was found. Nothing of it has been run.
type Extension struct {
	Name       string `json:"name"`
	Tier       Tier   `json:"tier"`
	Path       string `json:"path"`                  // The file or package directory; for installed packages their metadata.
	Package    bool   `json:"package,omitempty"`     // A directory with __init__.py.
	EntryPoint string `json:"entry_point,omitempty"` // As "module:function".
	ShadowedBy Tier   `json:"shadowed_by,omitempty"` // Empty for those that run.

	number int
}

// file is what Python executes.
func (e *Extension) file() string {
	switch {
	case e.EntryPoint != "":
		return ""
	case e.Package:
		return filepath.Join(e.Path, "__init__.py")
	}
	return e.Path
}

// Dirs are the directories that are searched; those that do not exist are empty.
// Later directories of a tier shadow earlier ones.
type Dirs struct {
	User    []string
	Project []string
}

// FindDirs are the directories of a session. tree are the directories from the root of
// the repository down to the working directory, or that one alone; global is aura's home,
// empty for none; projects are the homes of the project.
func FindDirs(tree []string, userHome, global string, projects []string) Dirs {
	var d Dirs
	if global != "" {
		if userHome != "" {
			d.User = append(d.User, filepath.Join(userHome, ".aar", "extensions"))
		}
		d.User = append(d.User, filepath.Join(global, "extensions"))
	}
	add := func(dir string) {
		if !slices.Contains(d.Project, dir) && !slices.Contains(d.User, dir) {
			d.Project = append(d.Project, dir)
		}
	}
	// In a repository the directory of its root counts too, that of workdir wins.
	for _, dir := range []string{tree[0], tree[len(tree)-1]} {
		add(filepath.Join(dir, ".agent", "extensions"))
	}
	for _, home := range projects {
		add(filepath.Join(home, "extensions"))
	}
	return d
}

// Discover lists the extensions in running order: installed packages, then the
// user's, then the project's, alphabetically within a tier. Those that another
// one shadows are listed too, marked so. It starts no process.
func Discover(dirs Dirs, installed []Extension) []Extension {
	out := slices.Clone(installed)
	for _, dir := range dirs.User {
		out = append(out, scan(dir, User)...)
	}
	for _, dir := range dirs.Project {
		out = append(out, scan(dir, Project)...)
	}
	rank := map[Tier]int{EntryPoint: 0, User: 1, Project: 2}
	winner := map[string]int{}
	for i, e := range out {
		winner[e.Name] = i
	}
	for i := range out {
		if w := winner[out[i].Name]; w != i {
			out[i].ShadowedBy = out[w].Tier
		}
	}
	slices.SortStableFunc(out, func(a, b Extension) int {
		if a.Tier != b.Tier {
			return rank[a.Tier] - rank[b.Tier]
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// scan lists the extensions in a directory.
func scan(dir string, tier Tier) (out []Extension) {
	dir, err := filepath.Abs(dir) // Python runs elsewhere.
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			continue
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path) // Links count as what they point to.
		if err != nil {
			continue
		}
		e := Extension{Name: name, Tier: tier, Path: path}
		stem, python := strings.CutSuffix(name, ".py")
		switch {
		case info.IsDir():
			if _, err := os.Stat(filepath.Join(path, "__init__.py")); err != nil {
				continue
			}
			e.Package = true
		case python && info.Mode().IsRegular():
			e.Name = stem
		default:
			continue
		}
		out = append(out, e)
	}
	return out
}

// Active are the extensions that run.
func Active(list []Extension) []Extension {
	return slices.DeleteFunc(slices.Clone(list), func(e Extension) bool { return e.ShadowedBy != "" })
}

// maxMetadata is the largest metadata file of a package that is read.
const maxMetadata = 1 << 20

// distribution is an installed package.
type distribution struct {
	Name   string
	Dir    string // Its metadata directory.
	Points []entryPoint
}

type entryPoint struct{ Name, Value string }

// scanPackages lists the packages in a directory that declare extensions, or all
// of them.
func scanPackages(dir string, all bool) (out []distribution) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".dist-info") && !strings.HasSuffix(name, ".egg-info") || !entry.IsDir() {
			continue
		}
		d := distribution{Dir: filepath.Join(dir, name)}
		d.Name, _, _ = strings.Cut(name, "-")
		d.Points = readEntryPoints(filepath.Join(d.Dir, "entry_points.txt"))
		if all || len(d.Points) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// readEntryPoints reads the extensions that a package declares.
func readEntryPoints(path string) []entryPoint {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMetadata))
	if err != nil || !bytes.Contains(data, []byte(Group)) {
		return nil
	}
	return parseEntryPoints(data)
}

// parseEntryPoints reads the group of extensions in an entry_points.txt.
func parseEntryPoints(data []byte) (out []entryPoint) {
	inside := false
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		switch {
		case line == "", line[0] == '#', line[0] == ';':
		case line[0] == '[':
			inside = strings.Trim(line, "[] \t") == Group
		case inside:
			name, value, ok := strings.Cut(line, "=")
			name = strings.TrimSpace(name)
			value, _, _ = strings.Cut(value, "[") // Extras mean nothing here.
			if value = strings.ReplaceAll(strings.TrimSpace(value), " ", ""); ok && name != "" && value != "" {
				out = append(out, entryPoint{name, value})
			}
		}
	}
	return out
}

// extensions are the extensions of packages.
func extensions(list []distribution) (out []Extension) {
	for _, d := range list {
		for _, p := range d.Points {
			out = append(out, Extension{Name: p.Name, Tier: EntryPoint, Path: d.Dir, EntryPoint: p.Value})
		}
	}
	slices.SortStableFunc(out, func(a, b Extension) int { return strings.Compare(a.Name, b.Name) })
	return out
}
