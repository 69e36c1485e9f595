//go:build !unix

package tools

import (
	"io/fs"
	"os"
)

func hardLinks(fs.FileInfo) bool { return false }

func keepOwner(*os.File, fs.FileInfo) {}
