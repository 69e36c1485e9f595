//go:build unix

package pyext

import (
	"os"

	"github.com/idelchi/aura/internal/procgroup"
)

// connect starts the process with its private pipes: 3 and 4 are the wire, 5 is the
// marker. What it prints can be read from printed.
func (p *process) connect() (printed *os.File, err error) {
	var made pipes
	childIn, in := made.pair()
	out, childOut := made.pair()
	printed, childPrint := made.pair()
	if made.err != nil {
		return nil, made.fail(made.err)
	}
	note, err := os.CreateTemp("", "aura-*")
	if err != nil {
		return nil, made.fail(err)
	}
	made.opened = append(made.opened, note)
	_ = os.Remove(note.Name())
	if err := note.Truncate(markerSize); err != nil {
		return nil, made.fail(err)
	}
	p.to.file, p.from, p.marker = in, out, marker{note}
	p.cmd.Stdout, p.cmd.Stderr = childPrint, childPrint
	p.cmd.ExtraFiles = []*os.File{childIn, childOut, note}
	procgroup.Lead(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, made.fail(err)
	}
	closeAll(childIn, childOut, childPrint)
	return printed, nil
}
