package sandbox

import (
	"errors"
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
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
