package console

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parleyhq/parley"
)

// some is a console of a few files.
func some() *Console {
	return of(fstest.MapFS{
		"index.html":          {Data: []byte("<!doctype html><title>Parley</title>" + strings.Repeat(" ", 1000))},
		"app.js":              {Data: []byte(strings.Repeat("export const a = 1;\n", 100))},
		"vendor/lit-3.3.3.js": {Data: []byte("export {};")},
		"style.5f3a09c1.css":  {Data: []byte("a{}")},
		"icon.svg":            {Data: []byte("<svg/>")},
		"odd":                 {Data: []byte("?")},
	})
}

// get asks for a path; the headers are pairs.
func get(t *testing.T, c *Console, target string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest("GET", "/console"+target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	if err := c.Serve(w, r, strings.TrimPrefix(r.URL.Path, "/console")); err != nil {
		t.Fatal(err)
	}
	return w.Result()
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestServe(t *testing.T) {
	c := some()
	for target, want := range map[string]struct{ mediaType, cache string }{
		"/":                      {"text/html; charset=utf-8", whileFresh},
		"/?space=demo&v=short":   {"text/html; charset=utf-8", whileFresh},
		"/index.html":            {"text/html; charset=utf-8", whileFresh},
		"/app.js":                {"text/javascript; charset=utf-8", whileFresh},
		"/app.js?v=00000000":     {"text/javascript; charset=utf-8", whileFresh},
		"/vendor/lit-3.3.3.js":   {"text/javascript; charset=utf-8", forGood},
		"/style.5f3a09c1.css":    {"text/css; charset=utf-8", forGood},
		"/icon.svg":              {"image/svg+xml; charset=utf-8", whileFresh},
		"/odd":                   {"application/octet-stream", whileFresh},
		"/app.js?v=" + hashOf(c): {"text/javascript; charset=utf-8", forGood},
	} {
		resp := get(t, c, target)
		if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || got != want.mediaType {
			t.Errorf("%s: %d, %s", target, resp.StatusCode, got)
		}
		if got := resp.Header.Get("Cache-Control"); got != want.cache {
			t.Errorf("%s: Cache-Control %s, want %s", target, got, want.cache)
		}
	}
}

func hashOf(c *Console) string { return c.files["app.js"]().hash }

// Nothing but what is there is answered, by whatever name one asks.
func TestNotFound(t *testing.T) {
	for _, target := range []string{
		"/app.mjs", "/room", "/vendor", "/vendor/", "/vendor/lit.js", "//app.js", "/../console.go", "/..", "/.", "/app.js/",
		"/APP.JS", "/static/app.js", "/app.js\x00", "/vendor\\lit-3.3.3.js",
	} {
		w := httptest.NewRecorder()
		err := some().Serve(w, httptest.NewRequest("GET", "/", nil), target)
		if !errors.Is(err, &parley.Error{Code: parley.NotFound}) || w.Body.Len() > 0 || len(w.Header()) > 0 {
			t.Errorf("%q: %v, %d bytes, %v", target, err, w.Body.Len(), w.Header())
		}
	}
}

func TestHeaders(t *testing.T) {
	h := get(t, some(), "/").Header
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
			"connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
		"X-Content-Type-Options":       "nosniff",
		"X-DNS-Prefetch-Control":       "off",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := h.Get("Permissions-Policy"); !strings.Contains(got, "camera=()") || !strings.Contains(got, "microphone=()") {
		t.Errorf("Permissions-Policy: %s", got)
	}
}

// A browser that has a file is told so, and is sent the new one once it differs.
func TestFresh(t *testing.T) {
	c := some()
	for _, accept := range []string{"", "gzip"} {
		tag := get(t, c, "/app.js", "Accept-Encoding", accept).Header.Get("ETag")
		if resp := get(t, c, "/app.js", "Accept-Encoding", accept, "If-None-Match", tag); resp.StatusCode != http.StatusNotModified {
			t.Errorf("with %q: %d", accept, resp.StatusCode)
		}
		if resp := get(t, c, "/", "Accept-Encoding", accept, "If-None-Match", tag); resp.StatusCode != 200 {
			t.Errorf("another file with %q: %d", accept, resp.StatusCode)
		}
	}
}

func TestCompressed(t *testing.T) {
	c := some()
	plain := body(t, get(t, c, "/app.js"))
	for accept, packed := range map[string]bool{
		"": false, "gzip": true, "br, GZIP;q=0.5, *": true, "gzip;q=0": false, "gzip; q=0.000": false, "br": false,
		"gzip;q=x": false, "xgzip": false, "identity, gzip": true,
	} {
		resp := get(t, c, "/app.js", "Accept-Encoding", accept)
		if resp.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: Vary is %q", accept, resp.Header.Get("Vary"))
		}
		if got := resp.Header.Get("Content-Encoding") == "gzip"; got != packed {
			t.Errorf("%q: compressed is %v", accept, got)
			continue
		}
		sent := body(t, resp)
		if !packed {
			if sent != plain {
				t.Errorf("%q: another content", accept)
			}
			continue
		}
		r, err := gzip.NewReader(strings.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if _, err := got.ReadFrom(r); err != nil || got.String() != plain || len(sent) >= len(plain) {
			t.Errorf("%q: %d bytes sent for %d, %v", accept, len(sent), len(plain), err)
		}
	}
	// What is not worth it goes as it is.
	if resp := get(t, c, "/icon.svg", "Accept-Encoding", "gzip"); resp.Header.Get("Content-Encoding") != "" || body(t, resp) != "<svg/>" {
		t.Errorf("the icon: %v", resp.Header)
	}
}

// The pages that are embedded keep to their own policy, and name only what is
// there.
func TestEmbedded(t *testing.T) {
	c := Embedded()
	page := body(t, get(t, c, "/"))
	for what, pattern := range map[string]string{
		"a script in the page": `<script(?:[^>]*)>\s*[^<\s]`,
		"a style in the page":  `<style|\sstyle=`,
		"a handler":            `\son[a-z]+=`,
		"another origin":       `(?:src|href)="(?:https?:)?//`,
		"a base":               `<base`,
	} {
		if found := regexp.MustCompile(pattern).FindString(page); found != "" {
			t.Errorf("index.html has %s: %s", what, found)
		}
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"#?]+)`).FindAllStringSubmatch(page, -1) {
		target := strings.TrimPrefix(path.Join("/console", m[1]), "/console")
		if rest, ok := strings.CutPrefix(m[1], "/console/"); ok {
			target = "/" + rest
		}
		if resp := get(t, c, target); resp.StatusCode != 200 {
			t.Errorf("index.html names %s: %d", m[1], resp.StatusCode)
		}
	}
	err := fs.WalkDir(Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && types[path.Ext(name)] == "" && path.Ext(name) != "" {
			t.Errorf("%s is of a type that browsers are told nothing of", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mostBytes is how much there may be of the console, as it is sent.
const mostBytes = 300_000

// The console is soon there, from far away as well.
func TestSmall(t *testing.T) {
	sum := 0
	c := Embedded()
	for name := range c.files {
		sum += len(body(t, get(t, c, "/"+name, "Accept-Encoding", "gzip")))
	}
	t.Logf("%d bytes", sum)
	if sum > mostBytes {
		t.Errorf("the console is sent as %d bytes, it may be %d", sum, mostBytes)
	}
}
