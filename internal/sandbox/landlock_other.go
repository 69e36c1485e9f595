//go:build !linux

package sandbox

import "errors"

var errPlatform = errors.New("confining processes needs Linux; declared paths are still checked")

// Supported says whether the kernel can confine processes, and if not, why.
func Supported() error { return errPlatform }

// ABI is the version of Landlock that the kernel has: none.
func ABI() int { return 0 }

// NetworkSupported says whether the kernel can also take away the network.
func NetworkSupported() error { return errPlatform }

// SignalsSupported says whether the kernel can also keep signals inside the sandbox.
func SignalsSupported() error { return errPlatform }

func aside(start func() error) error { return start() }

// Confine takes everything beyond the rules away from this process and all that it
// starts, for good.
func Confine(Rules) error { return errPlatform }
