package browser

import (
	"bytes"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// Markdown becomes what it says and nothing else, in time.
func TestMarkdown(t *testing.T) {
	source, err := os.ReadFile("testdata/markdown_units.js")
	if err != nil {
		t.Fatal(err)
	}
	p := newPage(t, nil)
	p.visit("")
	p.do(chromedp.WaitVisible("#token"))
	for _, failure := range evaluate[[]string](p, "("+string(source[bytes.Index(source, []byte("async")):])+")((name) => import('/console/' + name))") {
		t.Error(failure)
	}
}
