package syntax

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parleyhq/parley/tool"
)

// hostile are texts that are made to take long, or to overflow a stack.
func hostile(n int) map[string]string {
	texts := map[string]string{
		"comments":       strings.Repeat("#\n", n/2) + strings.Repeat("1\n", n/2),
		"slash comments": strings.Repeat("/**/\n", n/8) + strings.Repeat("f=>1;", n/8),
		"one line":       "/**/" + strings.Repeat(" ", n) + strings.Repeat("f=>1;", n/8),
		"functions":      strings.Repeat("f=>f;", n/5),
		"func":           "package p\n" + strings.Repeat("func a(){}\n", n/11),
		"sum":            "x = " + strings.Repeat("1+", n/2) + "1",
		"go sum":         "package p\nvar x = " + strings.Repeat("1+", n/2) + "1",
		"dots":           "a" + strings.Repeat(".b", n/2),
		"calls":          "a" + strings.Repeat(".b()", n/4),
		"else":           strings.Repeat("if (a) {} else ", n/15) + "{}",
		"go else":        "package p\nfunc f() {" + strings.Repeat("if a {} else ", n/13) + "{}}",
		"elif":           "if a:\n  b\n" + strings.Repeat("elif a:\n  b\n", n/12),
		"nots":           strings.Repeat("not ", n/4) + "a",
		"bangs":          "x = " + strings.Repeat("!", n) + "a",
		"minus":          "package p\nvar x = " + strings.Repeat("-", n) + "1",
		"lambdas":        strings.Repeat("lambda:", n/7) + "1",
		"arrows":         strings.Repeat("a=>", n/3) + "1",
		"nested":         strings.Repeat("function f(){", n/13),
		"classes":        strings.Repeat("class A{x=", n/10),
		"long name":      strings.Repeat("a", n) + " = 1",
		"long string":    "x = \"" + strings.Repeat("a", n) + "\"",
		"open string":    "x = \"\"\"" + strings.Repeat("a\n", n/2),
		"templates":      strings.Repeat("`${", n/3),
		"tags":           strings.Repeat("<a>", n/3),
		"generics":       "let a: " + strings.Repeat("A<", n/2),
		"indent":         indents(200),
		"noise":          strings.Repeat("\x01\x7f}{)(][;:,@%^&*~`'\"", n/20),
		"stars":          "package p\nvar x " + strings.Repeat("*", n) + "int",
		"slices":         "package p\nvar x " + strings.Repeat("[]", n/2) + "int",
		"f-strings":      strings.Repeat("f'{", n/3),
	}
	for _, b := range []string{"()", "[]", "{}"} {
		texts["open "+b] = strings.Repeat(b[:1], n)
		texts["closed "+b] = strings.Repeat(b[:1], n/2) + strings.Repeat(b[1:], n/2)
		texts["go open "+b] = "package p\nvar x = " + strings.Repeat(b[:1], n)
		texts["ten levels "+b] = strings.Repeat(strings.Repeat(b[:1], 10)+strings.Repeat(b[1:], 10), n/20)
		texts["go ten levels "+b] = "package p\nfunc f() {\n" + texts["ten levels "+b] + "\n}\n"
	}
	texts["mixed"] = strings.Repeat("([{", n/3)
	texts["go mixed"] = "package p\nvar x = " + strings.Repeat("f([]int{", n/8)
	return texts
}

func indents(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%sif a:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

// Whatever is given is answered: by a file, by too_large, or by timeout.
func TestHostileTexts(t *testing.T) {
	for name, text := range hostile(15_000) {
		for _, l := range Languages() {
			answered(t, name, l, text)
		}
	}
}

// A million brackets that stay open are too deep, and that is found out without
// parsing them.
func TestMillionBrackets(t *testing.T) {
	for _, name := range []string{"open ()", "closed []", "closed {}", "mixed", "go open ()", "go mixed"} {
		text := hostile(1_000_000)[name]
		for _, l := range Languages() {
			if err := answered(t, name, l, text); !errors.Is(err, errTooNested) {
				t.Errorf("%s as %s: %v", name, l, err)
			}
		}
	}
}

// A million brackets that are ten deep and no deeper are parsed: to the end, until
// the tree that they make is too deep, or until the time is over.
func TestMillionBracketsTenDeep(t *testing.T) {
	refused := map[string]error{ // calls of calls, and indexes of indexes
		"python ()": errTooDeep, "python []": errTooDeep, "javascript []": errTooDeep, "typescript []": errTooDeep,
	}
	for _, c := range millionBracketsTenDeep() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(t.Context(), c.language, "", c.src)
			if slow := c.language != Go && errors.Is(err, errTooSlow); !slow && !errors.Is(err, refused[c.name]) {
				t.Errorf("%v, want %v", err, refused[c.name])
			}
		})
	}
}

type hostileCase struct {
	name     string
	language Language
	src      []byte
}

func millionBracketsTenDeep() (all []hostileCase) {
	texts := hostile(1_000_000)
	for _, b := range []string{"()", "[]", "{}"} {
		all = append(all, hostileCase{"go " + b, Go, []byte(texts["go ten levels "+b])})
		for _, l := range []Language{Python, JavaScript, TypeScript} {
			all = append(all, hostileCase{string(l) + " " + b, l, []byte(texts["ten levels "+b])})
		}
	}
	return all
}

func answered(t *testing.T, name string, l Language, text string) error {
	t.Helper()
	begin := time.Now()
	_, err := Parse(t.Context(), l, "", []byte(text))
	if os.Getenv("TELL") != "" && time.Since(begin) > 100*time.Millisecond {
		t.Logf("%s as %s: %v, %v", name, l, time.Since(begin), err)
	}
	if err != nil && !errors.Is(err, &tool.Error{Code: tool.TooLarge}) && !errors.Is(err, &tool.Error{Code: tool.Timeout}) {
		t.Errorf("%s as %s: %v", name, l, err)
	}
	return err
}

// Python's scanner looks through all that continues a line for where the next one
// begins, at each of them: that is quadratic, and one step of the parser may be
// all of them.
func TestPatienceHoldsWithinOneStep(t *testing.T) {
	src := []byte(strings.Repeat("\\\n", MaxBytes/2))
	before := worked(t)
	_, err := parseNodes(t.Context(), pythonGrammar().language, src, 10*time.Millisecond)
	if took := worked(t) - before; !errors.Is(err, errTooSlow) || took > 500*time.Millisecond {
		t.Errorf("%v after %v of work", err, took)
	}
}

// worked is the processor's time that the tests have taken: what else the
// machine does is no part of it.
func worked(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// The parser gets its text in pieces: none of them tears a character.
func TestPiecesOfText(t *testing.T) {
	for n := range 4 {
		f, err := Parse(t.Context(), JavaScript, "", []byte(strings.Repeat(" ", n)+"x = '"+strings.Repeat("\U0001F600", 100_000)+"'; function f() {}"))
		if err != nil || len(f.Errors) > 0 || len(f.Functions) != 1 {
			t.Errorf("after %d spaces: %v, %+v", n, err, f)
		}
	}
}

func TestRefusedTexts(t *testing.T) {
	for _, c := range []struct {
		what, text string
		language   Language
		code       tool.Code
	}{
		{"no language", "secret", "", tool.InvalidArgument},
		{"unknown language", "secret", "cobol", tool.InvalidArgument},
		{"zero byte", "secret = 1\n\x00", Python, tool.InvalidArgument},
		{"not UTF-8", "secret = '\xff'\n", Python, tool.InvalidArgument},
		{"UTF-16", "\xff\xfes\x00e\x00", Python, tool.InvalidArgument},
		{"too long", strings.Repeat("secret\n", MaxBytes/7+1), Go, tool.TooLarge},
		{"too deep", "package secret\nvar x = " + strings.Repeat("(", MaxDepth+1), Go, tool.TooLarge},
		{"too many", strings.Repeat("f=>1;", maxSymbols+1), JavaScript, tool.TooLarge},
		{"too many in Go", "package p\n" + strings.Repeat("func secret(){}\n", maxSymbols+1), Go, tool.TooLarge},
	} {
		_, err := Parse(t.Context(), c.language, "", []byte(c.text))
		if !errors.Is(err, &tool.Error{Code: c.code}) {
			t.Errorf("%s: %v, want %s", c.what, err, c.code)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells the code: %v", c.what, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, l := range Languages() {
		if _, err := Parse(ctx, l, "", []byte("a")); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", l, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for i := range Languages() {
		for _, text := range []string{
			"", "\xef\xbb\xbfx", "def f(a, *b, **c):\n\t'''d'''\n\treturn lambda: a if b else c\n", "package p\nfunc (t *T[K]) M() { for range 3 {} }",
			"export default class extends A { get x() { return a ?? b } }", "if x:\n  pass\nelif", "match x:\n case [_]: pass", "`${`", "import a from 'b' /*",
			"package p\nfunc a() {\nx = = 1\n}\nfunc b() {}", "interface A<T> extends B { m(): void }", "\x01\x02", "def (", "(((((", "\r\n\r", "#!/usr\n", "x = '\\", "//line a.go:3\npackage p",
		} {
			f.Add(uint8(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, text string) {
		l := Languages()[int(i)%len(Languages())]
		const secret = "xyzzysecret"
		file, err := Parse(t.Context(), l, "", []byte(text+secret))
		if err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error tells the code: %v", err)
			}
			return
		}
		sane(t, file)
		for _, e := range file.Errors {
			if strings.Contains(e.Message, secret) {
				t.Errorf("the message tells the code: %q", e.Message)
			}
		}
	})
}

// sane checks what holds for every file.
func sane(t *testing.T, f *File) {
	t.Helper()
	within := func(what string, s Span) {
		if s.Start < 0 || s.End < s.Start || s.End > len(f.Source) || s.Line < 1 || s.EndLine < s.Line || s.Column < 1 {
			t.Errorf("%s: the span %+v of %d bytes", what, s, len(f.Source))
		}
	}
	for _, fn := range f.Functions {
		within("function", fn.Span)
		within("whole function", fn.Whole)
		within("body", fn.Body)
		if fn.Whole.Start > fn.Span.Start || fn.Cyclomatic < 1 || fn.Cognitive < 0 || fn.Parent >= len(f.Functions) || fn.Class >= len(f.Classes) || len(fn.Signature) > 400 {
			t.Errorf("function %+v", fn)
		}
	}
	for _, c := range f.Classes {
		within("class", c.Span)
		within("whole class", c.Whole)
	}
	for _, v := range f.Variables {
		within("variable", v.Span)
		within("whole variable", v.Whole)
	}
	for _, i := range f.Imports {
		within("import", i.Span)
	}
	for _, e := range f.Errors {
		within("error", e.Span)
	}
	for id := range f.Identifiers(Span{End: len(f.Source)}) {
		if string(f.Source[id.Start:id.End]) != id.Name {
			t.Errorf("identifier %+v", id)
		}
	}
	if n := f.Lines; n.Code+n.Comment+n.Blank != n.Total || n.Total != len(f.lines) {
		t.Errorf("lines %+v of %d", n, len(f.lines))
	}
}
