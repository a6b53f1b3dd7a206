package taint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

func scanText(t testing.TB, l syntax.Language, text string) (*Report, error) {
	t.Helper()
	f, err := syntax.Parse(t.Context(), l, "", []byte(text))
	if err != nil {
		return nil, err
	}
	return Scan(t.Context(), f)
}

// Code that is made to be expensive comes to an end, or is refused.
func TestHostile(t *testing.T) {
	nested := func(n int, open, close string) string { return strings.Repeat(open, n) + strings.Repeat(close, n) }
	loops := func(n int, inner string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%sfor v%d in request.args:\n", strings.Repeat(" ", i), i)
		}
		return "from flask import request\n" + b.String() + strings.Repeat(" ", n) + inner + "\n"
	}
	chain := func(n int) string {
		var b strings.Builder
		b.WriteString("import os, sys\nv0 = sys.argv[1]\nwhile c:\n")
		for i := range n {
			fmt.Fprintf(&b, "  v%d = v%d + v%d\n", n-i, n-i-1, n-i)
		}
		return b.String() + "os.system(v5)\n"
	}
	numbered := func(n int, text string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(text, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	tests := []struct {
		name     string
		language syntax.Language
		text     string
	}{
		{"assignments", syntax.Python, "import sys\ndef f():\n x = sys.argv\n" + strings.Repeat(" x = x + y\n", 100_000)},
		{"names", syntax.Go, "package p\nfunc f(a string) {\n" + strings.Repeat("b := a + \"x\"\na = b\n", 50_000) + "}\n"},
		{"branches", syntax.Python, "import sys\nx = sys.argv\n" + strings.Repeat("if c:\n  x += y\n", 20_000)},
		{"parentheses", syntax.JavaScript, "x = " + nested(8_000, "(", ")")},
		{"sum", syntax.JavaScript, "x = req.query" + strings.Repeat(" + 'a'", 15_000)},
		{"lists in lists", syntax.Python, "x = " + nested(8_000, "[", "]")},
		{"lists of themselves", syntax.Python, "import sys\nx = [sys.argv]\n" + strings.Repeat("x = [x, x, x, x, x, x, x, x]\n", 5_000)},
		{"functions in functions", syntax.JavaScript, "x = " + nested(2_000, "() => { f(", ") }")},
		{"callbacks in loops", syntax.JavaScript, strings.Repeat("for (a of b) { c.map(x => { ", 60) + "y += req.query.a" + strings.Repeat(" }) }", 60)},
		{"loops in loops", syntax.Python, loops(90, "x = v1 + v2")},
		{"chain in a loop", syntax.Python, chain(5_000)},
		{"switch", syntax.JavaScript, "switch (req.query.a) {\n" + strings.Repeat("case 'a': x += req.query.b\n", 20_000) + "}"},
		{"fields", syntax.JavaScript, strings.Repeat("a.b.c.d.e.f.g = req.query.x; a = {a, b: a}\n", 5_000)},
		{"facts", syntax.Go, "package p\nfunc f(a string) {\nif " + strings.Repeat("a == \"b\" || ", 5_000) + "a != a { exec(a) } }\n"},
		{"try", syntax.Python, strings.Repeat("try:\n  x = input()\nexcept E:\n  os.system(x)\n", 10_000)},
		{"breaks", syntax.Python, "while True:\n" + strings.Repeat("  if a:\n    x = input()\n    break\n", 10_000)},
		{"wide container", syntax.Python, "import sys\nx = {" + strings.Repeat("sys.argv[1]: sys.argv[2], ", 20_000) + "}\n"},
		{"breaks with many names", syntax.Python, "while True:\n" + numbered(20_000, "  if a:\n    break\n  v# = input()\n")},
		{"deep states", syntax.JavaScript, strings.Repeat("if (a) {", 4_000) + strings.Repeat("b = c;", 100_000) + strings.Repeat("}", 4_000)},
		{"loops of much", syntax.Python, loops(3, "pass") + numbered(60_000, "   v# = w# + v0\n")},
		{"findings", syntax.Python, "import os\n" + strings.Repeat("os.system(input())\n", 20_000)},
		{"secrets", syntax.Python, strings.Repeat("x = 'ghp_ghp_ghp_ghp_AKIAAKIA'\n", 20_000)},
		{"one long secret", syntax.Python, "password = '" + strings.Repeat("ghp_", 500_000) + "'\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			start := time.Now()
			_, err := scanText(t, test.language, test.text)
			if e, ok := errors.AsType[*tool.Error](err); err != nil && (!ok || e.Code != tool.TooLarge) {
				t.Errorf("got the error %v", err)
			}
			// Some of these took minutes once. They take a second at most, and no
			// machine is as slow as this.
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestScanEndsWithItsContext(t *testing.T) {
	f, err := syntax.Parse(t.Context(), syntax.Python, "", []byte(strings.Repeat("x = x + y\n", 20_000)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Scan(ctx, f); !errors.Is(err, context.Canceled) {
		t.Errorf("got the error %v", err)
	}
}

// Whatever the code is, a scan comes to an end, says the same twice, and points
// into the code.
func FuzzScan(f *testing.F) {
	for which, file := range []string{"go/path", "python/sql", "javascript/command"} {
		for _, c := range readLabelled(f, "testdata/labelled/"+file+".txtar") {
			f.Add(c.source, uint8(which))
		}
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		language := syntax.Languages()[int(which)%len(syntax.Languages())]
		first, err := scanText(t, language, text)
		if err != nil {
			return
		}
		again, err := scanText(t, language, text)
		if err != nil || fmt.Sprint(first.Findings) == "" || len(first.Findings) != len(again.Findings) {
			t.Fatalf("got %d findings, then %v", len(first.Findings), err)
		}
		lines := strings.Count(text, "\n") + 1
		for i, found := range first.Findings {
			if found.Line < 1 || found.Line > lines || found.Column < 1 || found.CWE == "" {
				t.Errorf("a finding at line %d of %d", found.Line, lines)
			}
			if second := again.Findings[i]; second.Line != found.Line || second.Confidence != found.Confidence || fmt.Sprint(second.Steps) != fmt.Sprint(found.Steps) {
				t.Errorf("line %d: two scans differ: %v and %v", found.Line, found, second)
			}
		}
	})
}
