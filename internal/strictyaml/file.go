package strictyaml

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxFile is how many bytes a file may have.
const maxFile = 1 << 20

// ReadFile reads a file that a user wrote; one of more than a megabyte is an error. Errors
// do not name the file: an Error does.
func ReadFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, Reason(err)
	}
	defer file.Close()
	src, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, Reason(err)
	}
	if len(src) > maxFile {
		return nil, fmt.Errorf("larger than %d KiB", maxFile>>10)
	}
	return src, nil
}

// Reason is an error without the path of the file that it is about.
func Reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
