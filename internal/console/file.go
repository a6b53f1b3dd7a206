package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"regexp"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// types are the media types of what the console is made of. The machine's own
// table is not asked: what it says of .js has broken pages before.
var types = map[string]string{
	".css":         "text/css; charset=utf-8",
	".html":        "text/html; charset=utf-8",
	".ico":         "image/x-icon",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".md":          "text/plain; charset=utf-8",
	".mjs":         "text/javascript; charset=utf-8",
	".png":         "image/png",
	".svg":         "image/svg+xml; charset=utf-8",
	".txt":         "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json",
	".woff2":       "font/woff2",
}

// versioned is a name that holds its version, as lit-3.3.3.js, or a hash, as
// app.5f3a09c1.css: what it stands for never changes.
var versioned = regexp.MustCompile(`[-.](\d+\.\d+\.\d+|[0-9a-f]{8,64})(\.min)?\.[a-z0-9]+$`)

// file is one file, ready to be sent.
type file struct {
	mediaType string
	plain     []byte
	packed    []byte // with gzip; nil where that saves too little
	hash      string // of plain, in hex
	lasting   bool   // its name says which version it is
}

// worthPacking is the least part of a file, in percent, that compressing has to
// save. An image, which is compressed already, saves nothing.
const worthPacking = 10

func newFile(name string, content []byte) *file {
	sum := sha256.Sum256(content)
	f := &file{mediaType: types[path.Ext(name)], plain: content, hash: hex.EncodeToString(sum[:16]), lasting: versioned.MatchString(name)}
	if f.mediaType == "" {
		f.mediaType = "application/octet-stream"
	}
	if packed := pack(content); len(packed) < len(content)*(100-worthPacking)/100 {
		f.packed = packed
	}
	return f
}

func pack(content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one of gzip's
	}
	_, _ = w.Write(content) // into memory
	_ = w.Close()
	return b.Bytes()
}

// load reads the names of all files, and makes each ready when it is first
// asked for.
func load(files fs.FS) (map[string]func() *file, error) {
	all := map[string]func() *file{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		all[name] = sync.OnceValue(func() *file { return newFile(name, content) })
		return nil
	})
	return all, err
}
