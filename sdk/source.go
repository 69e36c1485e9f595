package sdk

//go:generate go run ./internal/gensymbols

import (
	"embed"
	"io/fs"
)

// The files are named one by one, because a vendored copy has neither tests nor a
// go.mod, and must compile too.
//
//go:embed command.go context.go message.go result.go source.go symbols.go tool.go version/version.go
var source embed.FS

// GoMod is the text of the SDK's go.mod. It is not a file of Source: vendored
// copies are built without one.
func GoMod() string { return "module github.com/idelchi/aura/sdk\n\ngo 1.25\n" }

// Source is the SDK's own Go source, without tests. Hosts hand it to the go command, so
// that plugins are always built against the SDK that runs them.
func Source() fs.FS { return source }
