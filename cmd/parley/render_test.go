package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/parleyhq/parley"
)

var update = flag.Bool("update", false, "write what the renderer says into testdata/render")

// Each file of testdata/render holds envelopes, and how they read.
func TestRender(t *testing.T) {
	files, err := filepath.Glob("testdata/render/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no files:", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			r := &renderer{w: &out, zone: time.UTC}
			for line := range bytes.Lines(a.Files[0].Data) {
				e, err := decodeAny(bytes.TrimSpace(line))
				if err != nil {
					t.Fatalf("%v: %s", err, line)
				}
				if err := r.write(e); err != nil {
					t.Fatal(err)
				}
			}
			if *update {
				a.Files[1].Data = []byte(out.String())
				if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := out.String(), string(a.Files[1].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Colours change nothing but colours.
func TestRenderInColour(t *testing.T) {
	e, err := parley.Decode([]byte(`{"id":"a","from":"agent","to":["files"],"kind":"mcp/proposal:tools/call","payload":{"method":"tools/call","params":{"name":"write_file"}}}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	var plain, coloured strings.Builder
	for w, p := range map[*strings.Builder]palette{&plain: {}, &coloured: {true}} {
		if err := (&renderer{w: w, paint: p, zone: time.UTC}).write(e); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(coloured.String(), "\x1b[1magent\x1b[0m") {
		t.Errorf("no colours: %q", coloured.String())
	}
	if strings.Contains(plain.String(), "\x1b") {
		t.Errorf("colours: %q", plain.String())
	}
}

func FuzzRender(f *testing.F) {
	f.Add("agent", "mcp/proposal:tools/call:x", []byte(`{"method":"tools/call","params":{"name":"x","arguments":{"a":"\u001b"}}}`))
	f.Add("agent", "mcp/response:x", []byte(`{"result":{"content":[{"type":"text","text":"\u009b"}]}}`))
	f.Add("\x1b", "chat", []byte(`{"text":"\n\n"}`))
	f.Fuzz(func(t *testing.T, from, kind string, payload []byte) {
		e := &parley.Envelope{ID: "a", From: from, To: []string{from}, Kind: kind, Payload: payload}
		if _, err := decodeAny(e.AppendBody(nil)); err != nil {
			return
		}
		var out strings.Builder
		if err := (&renderer{w: &out, zone: time.UTC}).write(e); err != nil {
			t.Fatal(err)
		}
		for _, r := range out.String() {
			if r != '\n' && !shown(r) || r == utf8.RuneError && !strings.ContainsRune(from+kind+string(payload), r) {
				t.Fatalf("%q reaches the terminal in %q", r, out.String())
			}
		}
	})
}

func TestMemoryForgets(t *testing.T) {
	var m memory
	for i := range maxSeen + 10 {
		m.add(&parley.Envelope{ID: strings.Repeat("x", i%100) + time.Duration(i).String(), Seq: uint64(i)})
	}
	if len(m.byID) > maxSeen || len(m.order) > maxSeen {
		t.Errorf("remembers %d and %d", len(m.byID), len(m.order))
	}
}
