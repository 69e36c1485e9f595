package pyext

import (
	"os"

	"github.com/idelchi/aura/internal/procgroup"
)

// connect starts the process. Windows hands on no further files: the wire is
// standard input and output, and there is no marker.
func (p *process) connect() (printed *os.File, err error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	printed, childPrint, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, out
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = childIn, childOut, childPrint
	procgroup.Lead(p.cmd)
	err = p.cmd.Start()
	for _, f := range []*os.File{childIn, childOut, childPrint} {
		_ = f.Close()
	}
	if err != nil {
		return nil, err
	}
	return printed, nil
}
