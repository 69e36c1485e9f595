package cli

import "os"

// notifyBrokenPipe does nothing: such a write is an ordinary error on Windows.
func notifyBrokenPipe(chan<- os.Signal) {}

// brokenPipe is always false: Windows does not tell.
func brokenPipe(*os.File) bool { return false }
