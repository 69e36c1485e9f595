package manage

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/sdk"
)

// proxy is a Go module proxy on this machine. It serves the SDK of this program,
// under every version that is asked for, and what the user's module cache holds of
// other modules. All else is answered with "not found", which makes the go command
// ask the next proxy.
type proxy struct {
	URL    string
	server *http.Server
	secret string // First part of the path, so that only our own go command gets answers.
	cache  string // The user's module cache; may be empty.
}

// sdkTime is the date of every version of the SDK that is served. It is fixed so
// that nothing depends on when the program ran.
const sdkTime = "2026-01-01T00:00:00Z"

// startProxy starts a proxy; Close ends it.
func startProxy(cache string) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{secret: rand.Text(), cache: cache}
	p.URL = "http://" + listener.Addr().String() + "/" + p.secret
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(listener) }() // Always ends with an error: that it was closed.
	return p, nil
}

// Close ends the proxy.
func (p *proxy) Close() error { return p.server.Close() }

// ServeHTTP answers one request of the go command.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/"+p.secret+"/")
	escaped, file, versioned := strings.Cut(rest, "/@v/")
	if latest, is := strings.CutSuffix(rest, "/@latest"); is {
		escaped, file, versioned = latest, "latest.info", true
	}
	name, err := module.UnescapePath(escaped)
	if !ok || !versioned || err != nil || r.Method != http.MethodGet {
		http.NotFound(w, r)
		return
	}
	if name == sdkPath {
		p.serveSDK(w, r, file)
		return
	}
	p.serveCache(w, r, escaped, file)
}

// serveCache answers with a file of the user's module cache. Lists of versions are
// not taken from there: the cache does not know what is the latest.
func (p *proxy) serveCache(w http.ResponseWriter, r *http.Request, escaped, file string) {
	ext := path.Ext(file)
	rel := filepath.FromSlash(path.Join("cache", "download", escaped, "@v", file))
	if p.cache == "" || file == "latest.info" || ext != ".info" && ext != ".mod" && ext != ".zip" ||
		strings.ContainsAny(file, `/\`) ||
		!filepath.IsLocal(rel) {
		http.NotFound(w, r)
		return
	}
	f, err := os.Open(filepath.Join(p.cache, rel))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	http.ServeContent(w, r, "", time.Time{}, f)
}

// serveSDK answers for the SDK.
func (p *proxy) serveSDK(w http.ResponseWriter, r *http.Request, file string) {
	host := "v" + plugin.HostSDK
	if file == "list" {
		w.Write([]byte(host + "\n"))
		return
	}
	ext := path.Ext(file)
	v, err := module.UnescapeVersion(strings.TrimSuffix(file, ext))
	if err != nil || !semver.IsValid(v) {
		v = host // A branch, "latest" and the like.
	}
	switch ext {
	case ".info":
		_ = json.NewEncoder(w).Encode(map[string]string{"Version": v, "Time": sdkTime})
	case ".mod":
		w.Write([]byte(sdk.GoMod()))
	case ".zip":
		text, err := sdkZip(v)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Write(text)
	default:
		http.NotFound(w, r)
	}
}

// sdkZip is the SDK as a module zip.
func sdkZip(v string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string, text []byte) error {
		w, err := z.Create(sdkPath + "@" + v + "/" + name)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
	err := errors.Join(add("go.mod", []byte(sdk.GoMod())), eachSDKFile(add), z.Close())
	return b.Bytes(), err
}

// eachSDKFile calls do with every Go file of the SDK.
func eachSDKFile(do func(name string, text []byte) error) error {
	files := sdk.Source()
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return do(name, text)
	})
}
