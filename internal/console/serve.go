package console

import (
	"bytes"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parleyhq/parley"
)

const index = "index.html"

// How long a browser keeps what it was sent.
const (
	forGood    = "public, max-age=31536000, immutable"
	whileFresh = "no-cache" // it is kept, and asked about each time
)

// Console serves the pages.
type Console struct{ files map[string]func() *file }

// Embedded is the console of this program. All gateways of a process share it.
var Embedded = sync.OnceValue(func() *Console { return of(Files()) })

func of(files fs.FS) *Console {
	all, err := load(files)
	if err != nil {
		panic(err) // they are part of the binary
	}
	return &Console{all}
}

// Serve answers a GET or HEAD with the file that a path stands for, "/" being the
// page. The error is not_found, and nothing was written then.
func (c *Console) Serve(w http.ResponseWriter, r *http.Request, path string) error {
	name := strings.TrimPrefix(path, "/")
	if name == "" {
		name = index
	}
	ready, ok := c.files[name]
	if !ok {
		return parley.Errorf(parley.NotFound, "the console has nothing at %.200q", path)
	}
	secure(w.Header())
	ready().serve(w, r)
	return nil
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.mediaType)
	h.Set("Cache-Control", whileFresh)
	if v := r.URL.Query().Get("v"); f.lasting || len(v) >= 8 && strings.HasPrefix(f.hash, v) {
		h.Set("Cache-Control", forGood)
	}
	body, tag := f.plain, f.hash
	if f.packed != nil {
		h.Set("Vary", "Accept-Encoding")
		if takesGzip(r.Header.Get("Accept-Encoding")) {
			body, tag = f.packed, f.hash+"-gzip"
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("ETag", strconv.Quote(tag))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// takesGzip reports whether an Accept-Encoding header allows gzip.
func takesGzip(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		name, weight, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		q, given := strings.CutPrefix(strings.ReplaceAll(weight, " ", ""), "q=")
		value, err := strconv.ParseFloat(q, 64)
		return !given || err == nil && value > 0
	}
	return false
}
