package session

import (
	"errors"
	"syscall"
)

// errorWriteProtect is ERROR_WRITE_PROTECT.
const errorWriteProtect = syscall.Errno(19)

func isReadOnly(err error) bool { return errors.Is(err, errorWriteProtect) }
