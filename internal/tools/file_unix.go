//go:build unix

package tools

import (
	"io/fs"
	"os"
	"syscall"
)

// hardLinks reports whether the file has other names.
func hardLinks(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}

// keepOwner gives f the owner of the file it will replace, where that is allowed.
func keepOwner(f *os.File, info fs.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && (int(st.Uid) != os.Getuid() || int(st.Gid) != os.Getgid()) {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}
