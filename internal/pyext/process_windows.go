package pyext

import (
	"os"

	"github.com/idelchi/aura/internal/procgroup"
)

// connect starts the process. Windows hands on no further files: the wire is
// standard input and output, and there is no marker.
func (p *process) connect() (printed *os.File, err error) {
	var made pipes
	childIn, in := made.pair()
	out, childOut := made.pair()
	printed, childPrint := made.pair()
	if made.err != nil {
		return nil, made.fail(made.err)
	}
	p.to.file, p.from = in, out
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = childIn, childOut, childPrint
	procgroup.Lead(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, made.fail(err)
	}
	closeAll(childIn, childOut, childPrint)
	return printed, nil
}
