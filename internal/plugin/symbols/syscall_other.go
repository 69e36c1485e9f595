//go:build !linux && !darwin && !windows

package symbols

// t_syscall is empty: system calls are offered on the systems we test on.
var t_syscall []symbol
