package plugin

import (
	"bufio"
	"context"
	"encoding"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// stdlib makes the standard library fit for life inside a plugin: what is printed
// goes to the log, the environment is the plugin's own, and nothing ends or
// reconfigures the program.
type stdlib struct {
	world   world
	program *interpreted
	types   map[reflect.Value][]reflect.Type // Which interfaces of its arguments a function looks for.
	err     error
}

// restricted are functions that change the whole process; they exist in unsafe
// mode only.
var restricted = map[string][]string{
	"os": {"StartProcess", "FindProcess", "Chdir"},
	"runtime/debug": {
		"SetCrashOutput",
		"SetGCPercent",
		"SetMaxStack",
		"SetMaxThreads",
		"SetMemoryLimit",
		"SetPanicOnFault",
		"SetTraceback",
		"WriteHeapDump",
	},
}

// adapt changes the table of one package.
func (s *stdlib) adapt(name string, table map[string]reflect.Value) {
	if !s.world.unsafe {
		for _, f := range restricted[name] {
			delete(table, f)
		}
	}
	switch name {
	case "os":
		s.os(table)
	case "fmt":
		s.fmt(table)
	case "log":
		s.log(table)
	case "log/slog":
		s.slog(table)
	case "flag":
		s.flag(table)
	case "time":
		replace(table, map[string]any{"AfterFunc": func(d time.Duration, f func()) *time.Timer {
			return time.AfterFunc(d, s.program.interp.Contain(f))
		}})
	case "context":
		replace(table, map[string]any{"AfterFunc": func(ctx context.Context, f func()) func() bool {
			return context.AfterFunc(ctx, s.program.interp.Contain(f))
		}})
	case "runtime":
		replace(table, map[string]any{"Goexit": func() { panic("runtime.Goexit") }})
	case "encoding/json":
		s.looksFor(
			table,
			[]string{"Marshal", "MarshalIndent"},
			reflect.TypeFor[json.Marshaler](),
			reflect.TypeFor[encoding.TextMarshaler](),
		)
		s.looksFor(
			table,
			[]string{"Unmarshal"},
			reflect.TypeFor[json.Unmarshaler](),
			reflect.TypeFor[encoding.TextUnmarshaler](),
		)
	case "encoding/xml":
		s.looksFor(
			table,
			[]string{"Marshal", "MarshalIndent"},
			reflect.TypeFor[xml.Marshaler](),
			reflect.TypeFor[encoding.TextMarshaler](),
		)
		s.looksFor(
			table,
			[]string{"Unmarshal"},
			reflect.TypeFor[xml.Unmarshaler](),
			reflect.TypeFor[encoding.TextUnmarshaler](),
		)
	}
}

// replace puts functions into a table.
func replace(table map[string]reflect.Value, with map[string]any) {
	for name, f := range with {
		table[name] = reflect.ValueOf(f)
	}
}

// looksFor tells the interpreter that functions treat arguments with these methods
// in their own way, so that interpreted types are handed over with their methods.
func (s *stdlib) looksFor(table map[string]reflect.Value, functions []string, interfaces ...reflect.Type) {
	for _, f := range functions {
		s.types[table[f]] = interfaces
	}
}

func (s *stdlib) fmt(table map[string]reflect.Value) {
	out := s.world.output
	replace(table, map[string]any{
		"Print":   func(a ...any) (int, error) { return fmt.Fprint(out, a...) },
		"Printf":  func(f string, a ...any) (int, error) { return fmt.Fprintf(out, f, a...) },
		"Println": func(a ...any) (int, error) { return fmt.Fprintln(out, a...) },
		"Scan":    func(...any) (int, error) { return 0, io.EOF },
		"Scanf":   func(string, ...any) (int, error) { return 0, io.EOF },
		"Scanln":  func(...any) (int, error) { return 0, io.EOF },
	})
	s.looksFor(
		table,
		[]string{
			"Errorf",
			"Fprint",
			"Fprintf",
			"Fprintln",
			"Print",
			"Printf",
			"Println",
			"Sprint",
			"Sprintf",
			"Sprintln",
		},
		reflect.TypeFor[fmt.Formatter](),
		reflect.TypeFor[fmt.Stringer](),
	)
}

func (s *stdlib) os(table map[string]reflect.Value) {
	env := s.world.env
	args := []string{s.world.name}
	table["Args"] = reflect.ValueOf(&args).Elem()
	replace(table, map[string]any{
		"Getenv": env.get, "LookupEnv": env.lookup, "Setenv": env.set, "Unsetenv": env.unset, "Clearenv": env.clear,
		"Environ": env.list, "ExpandEnv": func(text string) string { return os.Expand(text, env.get) },
	})
	if !s.world.unsafe {
		replace(table, map[string]any{"Exit": func(code int) { panic("os.Exit(" + strconv.Itoa(code) + ")") }})
	}
	src := s.program.src
	if src.mentions("Stdout") || src.mentions("Stderr") {
		s.stream(table, "Stdout", "Stderr")
	}
	if src.mentions("Stdin") {
		if f := s.keep(os.Open(os.DevNull)); f != nil {
			table["Stdin"] = reflect.ValueOf(&f).Elem()
		}
	}
}

// stream makes os.Stdout and os.Stderr a pipe into the log.
func (s *stdlib) stream(table map[string]reflect.Value, names ...string) {
	r, w, err := os.Pipe()
	if w = s.keep(w, err); w == nil {
		return
	}
	out := s.world.output
	go func() {
		defer r.Close()
		_, _ = io.Copy(out, bufio.NewReader(r))
	}()
	for _, name := range names {
		table[name] = reflect.ValueOf(&w).Elem()
	}
}

// keep remembers a file that is closed with the program.
func (s *stdlib) keep(f *os.File, err error) *os.File {
	if err != nil {
		s.err = err
		return nil
	}
	s.program.files = append(s.program.files, f)
	return f
}

func (s *stdlib) log(table map[string]reflect.Value) {
	l := log.New(s.world.output, "", 0)
	replace(table, map[string]any{
		"Flags":     l.Flags,
		"Output":    l.Output,
		"Panic":     l.Panic,
		"Panicf":    l.Panicf,
		"Panicln":   l.Panicln,
		"Prefix":    l.Prefix,
		"Print":     l.Print,
		"Printf":    l.Printf,
		"Println":   l.Println,
		"SetFlags":  l.SetFlags,
		"SetOutput": l.SetOutput,
		"SetPrefix": l.SetPrefix,
		"Writer":    l.Writer,
		"Fatal":     l.Fatal,
		"Fatalf":    l.Fatalf,
		"Fatalln":   l.Fatalln,
		"Default":   func() *log.Logger { return l },
	})
	if !s.world.unsafe {
		replace(table, map[string]any{
			"Fatal":   l.Panic,
			"Fatalf":  l.Panicf,
			"Fatalln": l.Panicln,
			"Logger":  (*tameLogger)(nil),
			"Default": func() *tameLogger { return &tameLogger{l} },
			"New": func(w io.Writer, prefix string, flags int) *tameLogger {
				return &tameLogger{log.New(w, prefix,
					flags)}
			},
		})
	}
	s.looksFor(
		table,
		[]string{"Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln", "Print", "Printf", "Println"},
		reflect.TypeFor[fmt.Formatter](),
		reflect.TypeFor[fmt.Stringer](),
	)
}

// tameLogger is a log.Logger that panics where the original ends the program.
type tameLogger struct{ *log.Logger }

func (l *tameLogger) Fatal(v ...any)            { l.Panic(v...) }
func (l *tameLogger) Fatalf(f string, v ...any) { l.Panicf(f, v...) }
func (l *tameLogger) Fatalln(v ...any)          { l.Panicln(v...) }

func (s *stdlib) slog(table map[string]reflect.Value) {
	var current atomic.Pointer[slog.Logger]
	current.Store(slog.New(slog.NewTextHandler(s.world.output, nil)))
	type ctx = context.Context
	replace(table, map[string]any{
		"Default": current.Load, "SetDefault": current.Store,
		"With":         func(args ...any) *slog.Logger { return current.Load().With(args...) },
		"Log":          func(c ctx, l slog.Level, m string, a ...any) { current.Load().Log(c, l, m, a...) },
		"LogAttrs":     func(c ctx, l slog.Level, m string, a ...slog.Attr) { current.Load().LogAttrs(c, l, m, a...) },
		"Debug":        func(m string, a ...any) { current.Load().Debug(m, a...) },
		"Info":         func(m string, a ...any) { current.Load().Info(m, a...) },
		"Warn":         func(m string, a ...any) { current.Load().Warn(m, a...) },
		"Error":        func(m string, a ...any) { current.Load().Error(m, a...) },
		"DebugContext": func(c ctx, m string, a ...any) { current.Load().DebugContext(c, m, a...) },
		"InfoContext":  func(c ctx, m string, a ...any) { current.Load().InfoContext(c, m, a...) },
		"WarnContext":  func(c ctx, m string, a ...any) { current.Load().WarnContext(c, m, a...) },
		"ErrorContext": func(c ctx, m string, a ...any) { current.Load().ErrorContext(c, m, a...) },
	})
}

// flag keeps sets of flags and drops the one of the program, whose errors end it.
func (s *stdlib) flag(table map[string]reflect.Value) {
	for name, v := range table {
		if v.Kind() == reflect.Func && name != "NewFlagSet" && name != "UnquoteUsage" {
			delete(table, name)
		}
	}
	delete(table, "CommandLine")
	out := s.world.output
	replace(table, map[string]any{
		"ExitOnError": flag.PanicOnError,
		"NewFlagSet": func(name string, handling flag.ErrorHandling) *flag.FlagSet {
			f := flag.NewFlagSet(name, handling)
			f.SetOutput(out)
			return f
		},
	})
}

// logWriter sends what a plugin prints to the debug log, line by line.
type logWriter struct {
	log    *slog.Logger
	plugin string
}

// Write never fails. It may be called by several goroutines.
func (w logWriter) Write(p []byte) (int, error) {
	if w.log.Enabled(context.Background(), slog.LevelDebug) {
		for line := range strings.Lines(string(p[:min(len(p), maxLogged)])) {
			w.log.Debug("plugin output", "plugin", w.plugin, "text", strings.TrimRight(line, "\r\n"))
		}
	}
	return len(p), nil
}

// maxLogged bounds what one write adds to the log.
const maxLogged = 64 << 10
