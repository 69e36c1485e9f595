package plain

// Print shows the output of a command where answers go.
func (p *Printer) Print(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered()
	p.endLines()
	p.out.text(text + "\n")
	p.out.end()
	p.flush()
}

// Note shows a remark of the program beside the answer.
func (p *Printer) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endLines()
	p.err.raw(p.style.dim(text) + "\n")
	p.flush()
}
