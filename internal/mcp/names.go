package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/wording"
)

// Prefix begins the name of every tool and prompt of a server.
const Prefix = "mcp__"

// maxName is the longest name of a tool that all model servers take.
const maxName = 64

// clean replaces what model servers do not allow in the name of a tool.
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// fullName makes the name under which a model sees a tool of a server, and marks it
// as taken. A name that is too long or taken ends in a mark made of the original, so
// that it stays the same from session to session.
func fullName(server, name string, taken map[string]bool) string {
	full := Prefix + clean(server) + "__" + clean(name)
	if len(full) > maxName || taken[full] {
		for i := 0; ; i++ {
			sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", server, name, i))
			mark := "_" + hex.EncodeToString(sum[:4])
			if marked := full[:min(len(full), maxName-len(mark))] + mark; !taken[marked] {
				full = marked
				break
			}
		}
	}
	taken[full] = true
	return full
}

// unknownServer is the error of a name that no server has.
func unknownServer(name string, names []string) error {
	return fmt.Errorf("no MCP server %q%s", clip(name, 60), wording.Hint(name, "servers", names))
}

// clip bounds foreign text to n bytes.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return wording.Head(text, n) + "…"
}

// oneLine makes foreign text fit into a line.
func oneLine(text string, n int) string { return clip(strings.Join(strings.Fields(text), " "), n) }
