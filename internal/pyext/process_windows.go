package pyext

import "os"

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
	err = p.cmd.Start()
	for _, f := range []*os.File{childIn, childOut, childPrint} {
		_ = f.Close()
	}
	if err != nil {
		return nil, err
	}
	p.pid = p.cmd.Process.Pid
	return printed, nil
}

// killGroup ends a process.
func killGroup(pid int) {
	if proc, err := os.FindProcess(pid); err == nil {
		_ = proc.Kill()
		_ = proc.Release()
	}
}
