// Command bench measures aura against plain Go programs that do the same and
// prints ratios. It asserts nothing: a number is for people to judge.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func main() {
	aura := flag.String("aura", "./aura", "the program to measure")
	runs := flag.Int("runs", 15, "runs of each program; the median counts")
	long := flag.Int("turns", 800, "model calls of the long conversation")
	only := flag.String("only", "", "only measurements whose name contains this")
	flag.Parse()
	if err := bench(*aura, *runs, *long, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bed is what all measurements share.
type bed struct {
	dir           string
	hello, client string // Programs to compare with.
	launcher      string
	binary        string // aura.
	server        *server
	runs, long    int
}

// measurements are printed in this order.
var measurements = []struct {
	name string
	run  func(*bed) error
}{
	{"size", (*bed).size},
	{"init", (*bed).inits},
	{"start", (*bed).start},
	{"turn", (*bed).oneTurn},
	{"stream", (*bed).stream},
	{"flood", (*bed).flood},
	{"long", (*bed).conversation},
	{"hooks", (*bed).hookEvents},
	{"sandbox", (*bed).confined},
	{"python", (*bed).pythonEvents},
	{"plugins", (*bed).pluginCosts},
}

func bench(aura string, runs, long int, only string) error {
	dir, err := os.MkdirTemp("", "aura-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bed{
		dir:    dir,
		server: newServer(),
		runs:   runs,
		long:   long,
		hello: filepath.Join(
			dir,
			"hello",
		),
		client:   filepath.Join(dir, "client"),
		launcher: filepath.Join(dir, "launch"),
	}
	defer b.server.Close()
	if b.binary, err = filepath.Abs(aura); err != nil {
		return err
	}
	if _, err := os.Stat(b.binary); err != nil {
		return fmt.Errorf("%w (run make build first)", err)
	}
	for name, out := range map[string]string{
		"./bench/hello": b.hello, "./bench/client": b.client, "./bench/launch": b.launcher,
	} {
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, name)
		cmd.Env, cmd.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("go build %s: %w", name, err)
		}
	}
	if err := b.configure(); err != nil {
		return err
	}
	fmt.Printf(
		"%s/%s, %d CPUs, %s, medians of %d interleaved runs\n\n",
		runtime.GOOS,
		runtime.GOARCH,
		runtime.NumCPU(),
		runtime.Version(),
		runs,
	)
	for _, m := range measurements {
		if !strings.Contains(m.name, only) {
			continue
		}
		if err := m.run(b); err != nil {
			fmt.Printf("%-8s failed: %v\n", m.name, err)
		}
	}
	return nil
}

// configure writes a home whose only provider is the local server.
func (b *bed) configure() error {
	for name, text := range map[string]string{
		"home/config/providers/local.yaml": fmt.Sprintf(
			"local:\n  type: openai\n  url: %s/v1\n  token: x\n", b.server.URL,
		),
		"work/note.txt": strings.Repeat("a line of text\n", 20),
	} {
		file := filepath.Join(b.dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// aura is one non-interactive run of aura in the bench's own home.
func (b *bed) aura(args ...string) program {
	return program{
		path: b.binary,
		dir:  filepath.Join(b.dir, "work"),
		env:  []string{"HOME=" + b.dir},
		args: append(
			[]string{"--home", "", "--config", filepath.Join(b.dir, "home"), "--provider", "local", "--model", "m"},
			args...),
	}
}

// bare is the plain client making the same request.
func (b *bed) bare(prompt string) program {
	return program{path: b.client, args: []string{b.server.URL + "/v1", prompt}}
}

func (b *bed) size() error {
	var sizes []float64
	for _, file := range []string{b.binary, b.client, b.hello} {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		sizes = append(sizes, float64(info.Size())/1e6)
	}
	fmt.Printf("size     aura %.1f MB, HTTP client %.1f MB (%.1fx), hello %.1f MB (%.1fx)\n",
		sizes[0], sizes[1], sizes[0]/sizes[1], sizes[2], sizes[0]/sizes[2])
	return nil
}

// inits sums what packages do before main.
func (b *bed) inits() error {
	cmd := exec.Command(b.binary, "version")
	cmd.Env = append(clean(os.Environ()), "GODEBUG=inittrace=1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	line := regexp.MustCompile(`^init (\S+) @\S+ ms, (\S+) ms clock`)
	total, count := 0.0, 0
	var slow []string
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if m := line.FindStringSubmatch(lines.Text()); m != nil {
			ms, _ := strconv.ParseFloat(m[2], 64)
			total, count = total+ms, count+1
			if ms > 0.5 {
				slow = append(slow, fmt.Sprintf("%s %.2f ms", m[1], ms))
			}
		}
	}
	_, _ = io.Copy(io.Discard, stderr)
	if err := cmd.Wait(); err != nil {
		return err
	}
	if slow == nil {
		slow = []string{"none"}
	}
	fmt.Printf("init     %.2f ms in %d packages; above 0.5 ms: %s\n", total, count, strings.Join(slow, ", "))
	return nil
}

func (b *bed) start() error {
	x, y, err := b.compare(b.runs, b.aura("version"), program{path: b.hello})
	if err != nil {
		return err
	}
	report("start", "aura version", "hello", x, y)
	return nil
}

func (b *bed) oneTurn() error {
	b.server.play(say(3, "hello "))
	x, y, err := b.compare(b.runs, b.aura("run", "hi"), b.bare("hi"))
	if err != nil {
		return err
	}
	report("turn", "aura run", "HTTP client", x, y)
	return nil
}

func (b *bed) stream() error {
	b.server.play(say(2000, "word "))
	x, y, err := b.compare(b.runs, b.aura("run", "hi"), b.bare("hi"))
	if err != nil {
		return err
	}
	report("stream", "2000 deltas", "HTTP client", x, y)
	return nil
}

func (b *bed) flood() error {
	b.server.play(say(2<<20/16, "sixteen letters "))
	x, y, err := b.compare(min(b.runs, 5), b.aura("run", "hi"), b.bare("hi"))
	if err != nil {
		return err
	}
	report("flood", "2 MB in 16 B", "HTTP client", x, y)
	return nil
}

// conversation measures what aura needs between an answer and its next request,
// early and late in a long chain of tool calls.
func (b *bed) conversation() error {
	b.server.play(callTools(b.long))
	p := b.aura("--max-steps", strconv.Itoa(b.long+1), "run", "read the note")
	s, err := p.run(b.launcher)
	if err != nil {
		return err
	}
	turns := b.server.seen()
	if len(turns) < b.long {
		return fmt.Errorf("%d model calls instead of %d", len(turns), b.long)
	}
	around := func(n int) (time.Duration, int64) {
		window := turns[max(n-20, 1):min(n+20, len(turns))]
		return median(
				window,
				func(t turn) time.Duration { return t.think },
			), median(
				window,
				func(t turn) int64 { return t.bytes },
			)
	}
	early, small := around(50)
	late, large := around(b.long)
	fmt.Printf(
		"long     turn 50: %s with %d KB; turn %d: %s with %d KB: time %.1fx, request %.1fx; whole run %s, CPU "+
			"%s, peak %s\n",
		ms(
			early,
		),
		small/1000,
		b.long,
		ms(late),
		large/1000,
		float64(late)/float64(early),
		float64(large)/float64(small),
		ms(s.Wall),
		ms(s.CPU),
		mb(s.RSS),
	)
	return nil
}

// report prints one comparison.
func report(name, what, against string, x, y sample) {
	fmt.Printf("%-8s %s: %s, CPU %s, peak %s; %s: %s, CPU %s, peak %s; ratio %.1fx wall, %.1fx CPU\n", name,
		what, ms(x.Wall), ms(x.CPU), mb(x.RSS), against, ms(y.Wall), ms(y.CPU), mb(y.RSS),
		ratio(x.Wall, y.Wall), ratio(x.CPU, y.CPU))
}

func ratio(x, y time.Duration) float64 { return float64(x) / float64(max(y, 1)) }

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }

func mb(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
