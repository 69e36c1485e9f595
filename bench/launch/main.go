// Command launch runs a program once and prints what it cost as JSON. It is a
// program of its own because systems count the memory of the parent into the
// child's peak: this parent is small.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

func main() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	state := cmd.ProcessState
	fmt.Printf(`{"wall":%d,"cpu":%d,"rss":%d}`, wall, state.UserTime()+state.SystemTime(), peak(state))
}
