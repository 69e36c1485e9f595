package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/idelchi/aura/internal/sandbox"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/tools"
)

// confined measures a Read in the sandboxed child against one in this process.
func (b *bed) confined() error {
	if err := sandbox.Supported(); err != nil {
		fmt.Printf("sandbox  %v\n", err)
		return nil
	}
	dir := filepath.Join(b.dir, "sandbox")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello\n"), 0o644); err != nil {
		return err
	}
	aura, err := filepath.Abs(b.binary)
	if err != nil {
		return err
	}
	w := sandbox.NewWorker(sandbox.WorkerOptions{
		Command: []string{aura, "--home=", "--workdir=" + dir, "tools", "--worker"},
		Rules:   sandbox.Default(dir).Resolve(dir), Env: os.Environ(),
	})
	defer w.Close()
	call := tool.Call{Args: map[string]any{"path": "a.txt"}, Workdir: dir}
	var failed error
	read := func() {
		if _, err := w.Run(context.Background(), "Read", call); err != nil {
			failed = err
		}
	}
	first := repeated(1, read)
	later := repeated(500, read)
	var here time.Duration
	for _, t := range tools.New(tools.Options{}) {
		if t.Name == "Read" {
			here = repeated(500, func() { _, _ = t.Execute(context.Background(), call) })
		}
	}
	if failed != nil {
		return failed
	}
	fmt.Printf(
		"sandbox  Read: first %s with its process, then %s; in this process %s\n",
		ms(first),
		ms(later),
		ms(here),
	)
	return nil
}
