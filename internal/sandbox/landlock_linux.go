package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Supported says whether the kernel can confine processes, and if not, why.
func Supported() error {
	if v, err := ll.LandlockGetABIVersion(); err != nil || v < 1 {
		return errors.New("this kernel has no Landlock (Linux 5.13 or later with it enabled is needed)")
	}
	return nil
}

// ABI is the version of Landlock that the kernel has; 0 for none.
func ABI() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return max(v, 0)
}

// NetworkSupported says whether the kernel can also take away the network.
func NetworkSupported() error {
	if v, err := ll.LandlockGetABIVersion(); err != nil || v < 4 {
		return errors.New("this kernel cannot restrict the network (Linux 6.7 or later is needed)")
	}
	return nil
}

// SignalsSupported says whether the kernel can also keep signals inside the sandbox.
func SignalsSupported() error {
	if v, err := ll.LandlockGetABIVersion(); err != nil || v < signalABI {
		return errors.New("this kernel cannot restrict signals (Linux 6.12 or later is needed)")
	}
	return nil
}

// signalABI is the first version of Landlock that knows signals.
const signalABI = 6

// aside calls start so that the processes it starts can send signals to themselves and
// to what they start, but to nobody else. Where the kernel cannot do that, it only
// calls start.
//
// It is done here and not by the child to itself: the threads of a program that confine
// themselves one by one are strangers to each other, and one could not stop what
// another one has started.
func aside(start func() error) error {
	if SignalsSupported() != nil {
		return start()
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // For good: the thread ends with this goroutine.
		if unix.Gettid() == unix.Getpid() {
			// The first thread stands for the process: its sandbox would be that of
			// the child. While it waits here, another one does it.
			err := aside(start)
			runtime.UnlockOSThread()
			done <- err
			return
		}
		if err := scopeThread(); err != nil {
			done <- fmt.Errorf("landlock: signals: %w", err)
			return
		}
		done <- start()
	}()
	return <-done
}

// scopeThread keeps the signals of the calling thread, and of what it starts, inside.
func scopeThread() error {
	fd, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{Scoped: ll.ScopeSignal}, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return ll.LandlockRestrictSelf(fd, 0)
}

// Confine takes everything beyond the rules away from this process and all that it
// starts, for good.
func Confine(r Rules) error {
	if err := Supported(); err != nil {
		return err
	}
	rules := make([]landlock.Rule, 0, len(r.RO)+len(r.RW))
	for _, p := range r.RO {
		rules = append(rules, rule(p, landlock.RODirs, landlock.ROFiles))
	}
	for _, p := range append(r.RW, "/dev/null") {
		rules = append(rules, rule(p, rwDirs, landlock.RWFiles))
	}
	if err := landlock.V7.BestEffort().RestrictPaths(rules...); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if !r.NoNetwork {
		return nil
	}
	if err := NetworkSupported(); err != nil {
		return err
	}
	return landlock.V7.BestEffort().RestrictNet()
}

// rwDirs also lets files be moved between the directories, as editors and
// compilers do.
func rwDirs(paths ...string) landlock.FSRule { return landlock.RWDirs(paths...).WithRefer() }

// rule is the rule for a path, which the kernel treats differently for files.
func rule(path string, dirs, files func(...string) landlock.FSRule) landlock.Rule {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return files(path).IgnoreIfMissing()
	}
	return dirs(path).IgnoreIfMissing()
}
