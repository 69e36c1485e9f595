//go:build unix

package pyext

import (
	"os"

	"github.com/idelchi/aura/internal/procgroup"
)

// connect starts the process with its private pipes: 3 and 4 are the wire, 5 is the
// marker. What it prints can be read from printed.
func (p *process) connect() (printed *os.File, err error) {
	var opened []*os.File
	defer func() {
		if err != nil {
			for _, f := range opened {
				_ = f.Close()
			}
		}
	}()
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
			opened = append(opened, r, w)
		}
		return r, w
	}
	childIn, in := pipe()
	out, childOut := pipe()
	printed, childPrint := pipe()
	if err != nil {
		return nil, err
	}
	if p.marker, err = os.CreateTemp("", "aura-*"); err != nil {
		return nil, err
	}
	opened = append(opened, p.marker)
	_ = os.Remove(p.marker.Name())
	if err = p.marker.Truncate(8); err != nil {
		return nil, err
	}
	p.in, p.out = in, out
	p.cmd.Stdout, p.cmd.Stderr = childPrint, childPrint
	p.cmd.ExtraFiles = []*os.File{childIn, childOut, p.marker}
	procgroup.Lead(p.cmd)
	if err = p.cmd.Start(); err != nil {
		return nil, err
	}
	for _, f := range []*os.File{childIn, childOut, childPrint} {
		_ = f.Close()
	}
	return printed, nil
}
