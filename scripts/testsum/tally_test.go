package main

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Each file of testdata holds events as "go test -json" writes them, and what
// is to be printed for them.
func TestTally(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			sum := newTally(&got)
			if err := sum.read(strings.NewReader(string(a.Files[0].Data))); err != nil {
				t.Fatal(err)
			}
			sum.summarize()
			if want := string(a.Files[1].Data); got.String() != want {
				t.Errorf("got\n%s\nwant\n%s", &got, want)
			}
		})
	}
}
