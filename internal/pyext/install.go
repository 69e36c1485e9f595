package pyext

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Installer installs packages that bring extensions into an interpreter.
type Installer struct {
	Interpreter Interpreter
	Cache       string
	Workdir     string
	Env         []string
	Out, Err    io.Writer // What pip prints.
}

// Installed is what an installation brought.
type Installed struct {
	Packages   []string    // Names of the packages that were asked for.
	Extensions []Extension // What they declare.
	Plain      []string    // Packages that declare no extension.
}

// ErrManaged says that an interpreter belongs to the operating system, which does
// not want packages in it.
var ErrManaged = errors.New("the interpreter is managed by the operating system")

// ErrNoPip says that an interpreter cannot install packages.
var ErrNoPip = errors.New("the interpreter has no pip")

// stubName is the package that extensions depend on: what they import. It is not
// fetched from anywhere, this program brings it.
const (
	stubName    = "aar"
	stubVersion = "1.0.0"
)

// Install installs packages: names as pip understands them, or paths.
func (in *Installer) Install(ctx context.Context, targets []string) (Installed, error) {
	python, err := in.Interpreter.Resolve(in.Cache)
	if err != nil {
		return Installed{}, err
	}
	if in.managed() {
		return Installed{}, ErrManaged
	}
	dir, err := os.MkdirTemp("", "aura-install-*")
	if err != nil {
		return Installed{}, err
	}
	defer os.RemoveAll(dir)
	args := []string{"-m", "pip", "install", "--disable-pip-version-check"}
	if !in.has(stubName) {
		wheel, err := writeStub(dir)
		if err != nil {
			return Installed{}, err
		}
		args = append(args, wheel)
	}
	for _, t := range targets {
		args = append(args, in.target(t))
	}
	report := filepath.Join(dir, "report.json")
	if err := in.pip(ctx, python.Path, append(args, "--report", report)); err != nil {
		return Installed{}, err
	}
	return in.verify(in.names(report, targets)), nil
}

// pip runs pip. One that is too old for reports is asked again without.
func (in *Installer) pip(ctx context.Context, python string, args []string) error {
	var heard bytes.Buffer
	cmd := exec.CommandContext(ctx, python, args...)
	cmd.Dir, cmd.Env, cmd.Stdout = in.Workdir, in.Env, in.Out
	cmd.Stderr = io.MultiWriter(in.Err, &heard)
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case strings.Contains(heard.String(), "no such option: --report"):
		return in.pip(ctx, python, args[:len(args)-2])
	case strings.Contains(heard.String(), "No module named pip"):
		return fmt.Errorf("%w: %s", ErrNoPip, python)
	case strings.Contains(heard.String(), "externally-managed-environment"):
		return ErrManaged
	}
	return fmt.Errorf("pip install: %w", err)
}

// managed reports whether the operating system forbids installing here.
func (in *Installer) managed() bool {
	if in.Interpreter.Venv != "" || in.Interpreter.facts == nil || in.env("PIP_BREAK_SYSTEM_PACKAGES") != "" {
		return false
	}
	return isFile(filepath.Join(in.Interpreter.facts.Stdlib, "EXTERNALLY-MANAGED"))
}

func (in *Installer) env(name string) string {
	if in.Interpreter.getenv == nil {
		return ""
	}
	return in.Interpreter.getenv(name)
}

// target is what pip is given: paths absolute, names as they are.
func (in *Installer) target(t string) string {
	if !isPath(in.Workdir, t) || filepath.IsAbs(t) {
		return t
	}
	return filepath.Join(in.Workdir, t)
}

// isPath reports whether a target is a path and not the name of a package.
func isPath(workdir, t string) bool {
	if strings.Contains(t, "://") {
		return false
	}
	if strings.ContainsAny(t, `/\`) || strings.HasPrefix(t, ".") || strings.HasSuffix(t, ".whl") {
		return true
	}
	info, err := os.Stat(filepath.Join(workdir, t))
	return err == nil && info.IsDir() && isFile(filepath.Join(workdir, t, "pyproject.toml"))
}

// names are the packages that were asked for, by the names they have.
func (in *Installer) names(report string, targets []string) (out []string) {
	var r struct {
		Install []struct {
			Requested bool `json:"requested"`
			Metadata  struct {
				Name string `json:"name"`
			} `json:"metadata"`
		} `json:"install"`
	}
	if data, err := os.ReadFile(report); err == nil && json.Unmarshal(data, &r) == nil {
		for _, i := range r.Install {
			if i.Requested && canonical(i.Metadata.Name) != stubName {
				out = append(out, i.Metadata.Name)
			}
		}
	}
	// Packages that were there already are not in the report.
	for _, t := range targets {
		if isPath(in.Workdir, t) || strings.Contains(t, "://") {
			continue
		}
		name := t[:len(t)-len(strings.TrimLeft(t, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"))]
		if !slices.ContainsFunc(out, func(o string) bool { return canonical(o) == canonical(name) }) {
			out = append(out, name)
		}
	}
	return out
}

// canonical is the form of a package name in which equal names are equal.
func canonical(name string) string {
	return strings.Join(
		strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' }),
		"-",
	)
}

// distributions lists the installed packages.
func (in *Installer) distributions() (out []distribution) {
	for _, dir := range in.Interpreter.packageDirs(openStore(in.Cache)) {
		out = append(out, scanPackages(dir, true)...)
	}
	return out
}

func (in *Installer) has(name string) bool {
	return slices.ContainsFunc(in.distributions(), func(d distribution) bool { return canonical(d.Name) == name })
}

// verify looks at what packages declare.
func (in *Installer) verify(names []string) Installed {
	all := in.distributions()
	out := Installed{Packages: names}
	for _, name := range names {
		var found []Extension
		for _, d := range all {
			if canonical(d.Name) == canonical(name) {
				found = append(found, extensions([]distribution{d})...)
			}
		}
		if len(found) == 0 {
			out.Plain = append(out.Plain, name)
		}
		out.Extensions = append(out.Extensions, found...)
	}
	return out
}

// MakeVenv makes a virtual environment with the interpreter and moves the installer
// into it.
func (in *Installer) MakeVenv(ctx context.Context, dir string) error {
	python, err := in.Interpreter.Resolve(in.Cache)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, python.Path, "-m", "venv", dir)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = in.Workdir, in.Env, in.Out, in.Err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf(
			"virtual environment %s: %w (some systems keep the module venv in a package of its own, such as "+
				"python3-venv)",
			dir,
			err,
		)
	}
	in.Interpreter = Interpreter{
		Path:   venvPython(dir),
		Origin: ".venv",
		Venv:   dir,
		getenv: in.Interpreter.getenv,
		dir:    in.Workdir,
	}
	return nil
}

// writeStub writes a wheel of the package that extensions depend on, so that pip
// does not look for another one of that name.
func writeStub(dir string) (string, error) {
	path := filepath.Join(dir, fmt.Sprintf("%s-%s-py3-none-any.whl", stubName, stubVersion))
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	z := zip.NewWriter(f)
	var record strings.Builder
	add := func(name string, data []byte) error {
		w, err := z.Create(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
		_, err = w.Write(data)
		return err
	}
	info := fmt.Sprintf("%s-%s.dist-info/", stubName, stubVersion)
	err = errors.Join(
		walkSources(add),
		add(
			info+"METADATA",
			fmt.Appendf(
				nil,
				"Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: What Python extensions of aura import\n",
				stubName,
				stubVersion,
			),
		),
		add(info+"WHEEL", []byte("Wheel-Version: 1.0\nGenerator: aura\nRoot-Is-Purelib: true\nTag: py3-none-any\n")),
	)
	w, e := z.Create(info + "RECORD")
	if e == nil {
		_, e = fmt.Fprintf(w, "%s%sRECORD,,\n", &record, info)
	}
	return path, errors.Join(err, e, z.Close())
}

// Activate is how a user uses a virtual environment in their shell.
func Activate(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "Scripts", "activate")
	}
	return "source " + filepath.Join(dir, "bin", "activate")
}
