package taint

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parleyhq/parley/code/internal/syntax"
)

func ExampleScan() {
	const code = `from flask import request
def user(conn):
    name = request.args["name"]
    query = f"SELECT * FROM users WHERE name = '{name}'"
    conn.execute(query)
`
	f, err := syntax.Parse(context.Background(), syntax.Python, "", []byte(code))
	if err != nil {
		panic(err)
	}
	report, err := Scan(context.Background(), f)
	if err != nil {
		panic(err)
	}
	for _, found := range report.Findings {
		fmt.Println(found.Type, found.CWE, found.Severity, "confidence", found.Confidence)
		fmt.Println("from", found.Source.Name, "by the lines", found.Steps, "into", found.Sink)
	}
	// Output:
	// sql_injection CWE-89 high confidence high
	// from flask.request.args by the lines [3 4 5] into conn.execute
}

func TestScansAtOnce(t *testing.T) {
	cases := readLabelled(t, "testdata/labelled/python/sql.txtar")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, c := range cases {
				report, err := scanText(t, syntax.Python, c.source)
				if err != nil || len(report.Findings) != len(c.wants) {
					t.Errorf("%s: %v, %v", c.name, report, err)
				}
			}
		})
	}
	wg.Wait()
}

// TypeScript is JavaScript with types: what is found in the one is found in the
// other.
func TestTypeScriptLikeJavaScript(t *testing.T) {
	files, err := filepath.Glob("testdata/*/javascript/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		for _, c := range readLabelled(t, file) {
			want, err := scanText(t, syntax.JavaScript, c.source)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range []syntax.Language{syntax.TypeScript, syntax.TSX} {
				got, err := scanText(t, l, c.source)
				if err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(places(got)) != fmt.Sprint(places(want)) {
					t.Errorf("%s: %s as %s: got %v, want %v", file, c.name, l, places(got), places(want))
				}
			}
		}
	}
}

func places(r *Report) (out []string) {
	for _, f := range r.Findings {
		out = append(out, fmt.Sprintf("%s:%d:%d", f.CWE, f.Line, f.Column))
	}
	return out
}

func TestTypeScriptTypes(t *testing.T) {
	const code = `import { Request, Response } from "express";
import { Pool } from "pg";
const pool = new Pool();
export class Users {
  constructor(private readonly db: Pool) {}
  async get(req: Request, res: Response): Promise<void> {
    const name = (req.query.name as string)!;
    const rows = await this.db.query<User>("SELECT * FROM users WHERE name = '" + name + "'");
    res.json(rows);
  }
  async page(n: number, name: string) {
    await pool.query("SELECT * FROM users LIMIT " + n);
    await pool.query("SELECT * FROM users WHERE name = " + name);
  }
}
`
	report, err := scanText(t, syntax.TypeScript, code)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(places(report)); got != "[CWE-89:8:44 CWE-89:13:22]" {
		t.Errorf("got %v", got)
	}
}

// Code with a syntax error is scanned as far as it goes.
func TestSyntaxErrors(t *testing.T) {
	for language, code := range map[syntax.Language]string{
		syntax.Python:     "import os\ndef f(:\n  pass\n\nos.system(input())\n",
		syntax.JavaScript: "function f( {\n}\neval(process.argv[2]);\n",
		syntax.Go:         "package p\nimport \"os\"\nfunc f() { x := }\nfunc g() { os.Remove(os.Stdin) }\n",
	} {
		if _, err := scanText(t, language, code); err != nil {
			t.Errorf("%s: %v", language, err)
		}
	}
}

// The standard library is sound on the whole: what is found there is mostly
// wrong, and must be little.
func TestNetHTTP(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("there is no go command to say where the standard library is")
	}
	dir := filepath.Join(strings.TrimSpace(string(root)), "src", "net", "http")
	lines, found := 0, 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		report, err := scanText(t, syntax.Go, string(src))
		if err != nil {
			return err
		}
		lines += strings.Count(string(src), "\n")
		for _, f := range report.Findings {
			if f.Confidence >= Medium {
				found++
				t.Logf("%s:%d: %s", filepath.Base(path), f.Line, f.Type)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d findings in %d lines", found, lines)
	if lines < 30_000 || found > 8 {
		t.Errorf("%d findings in %d lines", found, lines)
	}
}

// tenThousandLines is a file of a language made of the labelled cases.
func tenThousandLines(b *testing.B, language string) string {
	b.Helper()
	files, err := filepath.Glob("testdata/labelled/" + language + "/*.txtar")
	if err != nil || len(files) == 0 {
		b.Fatal("no cases")
	}
	var out strings.Builder
	for out.Len() == 0 || strings.Count(out.String(), "\n") < 10_000 {
		for _, file := range files {
			for i, c := range readLabelled(b, file) {
				if language == "go" && (out.Len() > 0 || i > 0) {
					_, c.source, _ = strings.Cut(c.source, "\nfunc ")
					c.source = "func " + c.source
				}
				out.WriteString(c.source)
			}
		}
	}
	return out.String()
}

func BenchmarkScan(b *testing.B) {
	for _, language := range []string{"python", "javascript", "go"} {
		b.Run(language, func(b *testing.B) {
			text := tenThousandLines(b, language)
			f, err := syntax.Parse(b.Context(), syntax.LanguageOf(endings[language]), "", []byte(text))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Scan(b.Context(), f); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(strings.Count(text, "\n")), "lines")
		})
	}
}
