package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test is its own server.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "echo" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A whole run of what there is without any other program; the rest is told with
// its reason.
func TestMeasure(t *testing.T) {
	b := bench{rounds: 1, length: 20 * time.Millisecond, parley: "/does/not/exist", loopback: "/does/not/exist", cache: t.TempDir(), results: t.TempDir()}
	if err := b.prepare(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(b.cache, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.cache, "bin/mcp-proxy.missing"), []byte("node is not installed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(b.results, "hop.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| 0 µs | 1.00 |",
		"| mcp-proxy, server over stdio | not measured: node is not installed |",
		"| supergateway, server over stdio | not measured: it was not fetched |",
		"| Parley, server over stdio | not measured: Parley, server over stdio: fork/exec /does/not/exist: no such file or directory |",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

// Figures are compared within a round; a round that failed counts for nothing
// but itself.
func TestReport(t *testing.T) {
	r := report{Machine: "here", Missing: map[string]string{ways[4].name: "gone\n|away"}, Cells: []cell{
		{directly, 1, 1, figures{1000, 100, 200, 10, 50}, ""},
		{directly, 1, 2, figures{500, 300, 400, 10, 70}, ""},
		{directly, 1, 3, figures{500, 100, 400, 10, 60}, ""},
		{ways[1].name, 1, 1, figures{800, 150, 300, 10, 80}, ""},
		{ways[1].name, 1, 2, figures{450, 330, 500, 10, 90}, ""},
		{ways[1].name, 1, 3, figures{}, "reset\nby peer"},
		{ways[2].name, 1, 1, figures{}, "refused"},
	}}
	var page bytes.Buffer
	r.markdown(&page)
	for _, want := range []string{
		"| direct, HTTP | 100 µs | 0 µs | 1.00 | 400 µs | 500 | 1.00 | 60 µs |  |",
		"| Parley, server over stdio | 240 µs | 40 µs | 1.30 | 400 µs | 625 | 0.85 | 85 µs | failed rounds: 1 (reset by peer) |",
		"| Parley, server over HTTP |  |  |  |  |  |  |  | failed rounds: 1 (refused) |",
		"| mcp-proxy, server over stdio | not measured: gone /away |",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q in\n%s", want, page.String())
		}
	}
}

func TestReadStat(t *testing.T) {
	const line = "42 (odd) name (x) S 7 42 42 0 -1 4194560 1 2 3 4 150 30 9 9 20 0 1 0 100"
	if parent, took := readStat(line); parent != 7 || took != 1800*time.Millisecond {
		t.Errorf("%d, %v", parent, took)
	}
	if parent, took := readStat("42 (ended) Z"); parent != 0 || took != 0 {
		t.Errorf("%d, %v", parent, took)
	}
}
