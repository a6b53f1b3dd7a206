package syntax

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// An opinion is what a reference says of one file; nil where it does not parse
// it.
type opinion struct {
	Facts []fact `json:"facts"`
	Lines []int  `json:"lines"` // total, code, comment, blank
}

// ask runs a reference with the names of files, and gets its opinions.
func ask(t *testing.T, names []string, command ...string) []*opinion {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n"))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	var opinions []*opinion
	for line := range strings.Lines(string(out)) {
		var o *opinion
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		opinions = append(opinions, o)
	}
	if len(opinions) != len(names) {
		t.Fatalf("%d opinions on %d files", len(opinions), len(names))
	}
	return opinions
}

// cache is where scripts/fetch-test-deps puts what tests need.
func cache(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("%s is not there: scripts/fetch-test-deps fetches it", name)
	}
	return dir
}

func python3(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed, and it is the reference")
	}
	return path
}

func glob(t *testing.T, dir string, patterns ...string) (names []string) {
	t.Helper()
	for _, p := range patterns {
		some, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(p)))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, some...)
	}
	if len(names) == 0 {
		t.Fatalf("%s holds none of %v", dir, patterns)
	}
	return names
}

func TestPythonAgreesOnRequests(t *testing.T) {
	dir := cache(t, "debian/python3-requests")
	agreesWithPython(t, glob(t, dir, "usr/lib/python3/dist-packages/requests/*.py"))
}

// The standard library has what packages rarely have.
func TestPythonAgreesOnItsStandardLibrary(t *testing.T) {
	out, err := exec.Command(python3(t), "-c", "import ast; print(ast.__file__)").Output()
	if err != nil {
		t.Fatal(err)
	}
	agreesWithPython(t, glob(t, filepath.Dir(strings.TrimSpace(string(out))), "a*.py", "t[eory]*.py", "asyncio/*.py", "json/*.py"))
}

func agreesWithPython(t *testing.T, names []string) {
	functions := 0
	for i, o := range ask(t, names, python3(t), "testdata/reference.py") {
		src, err := os.ReadFile(names[i])
		if err != nil {
			t.Fatal(err)
		}
		if o == nil || !utf8.Valid(src) {
			continue
		}
		f := parse(t, Python, string(src))
		functions += len(f.Functions)
		same(t, names[i], pythonFacts(f), o.Facts)
		if got := []int{f.Lines.Total, f.Lines.Code, f.Lines.Comment, f.Lines.Blank}; fmt.Sprint(got) != fmt.Sprint(o.Lines) {
			t.Errorf("%s: total, code, comment and blank lines are %v, the reference says %v", names[i], got, o.Lines)
		}
		if len(f.Errors) > 0 {
			t.Errorf("%s: %+v", names[i], f.Errors[0])
		}
	}
	t.Logf("%d functions in %d files", functions, len(names))
}

func pythonFacts(f *File) (facts []fact) {
	for _, fn := range f.Functions {
		text := functionFact(fn.Name, fn.Span.Line, fn.Span.EndLine, fn.Cyclomatic, fn.Cognitive)
		if fn.Kind == Lambda {
			text = functionFact("lambda", fn.Span.Line, fn.Span.EndLine, fn.Cyclomatic, fn.Cognitive)
		}
		facts = append(facts, text+mark(fn.Documented && fn.Kind != Lambda, " documented")+mark(fn.Async, " async"))
	}
	for _, c := range f.Classes {
		facts = append(facts, fmt.Sprintf("%06d-%06d class %s", c.Span.Line, c.Span.EndLine, c.Name))
	}
	for _, i := range f.Imports {
		if i.Kind == PlainImport {
			facts = append(facts, fmt.Sprintf("%06d import %s as %s", i.Span.Line, i.Path, i.Alias))
			continue
		}
		var names []string
		for _, n := range i.Names {
			names = append(names, n.Name+" as "+n.Alias)
		}
		facts = append(facts, fmt.Sprintf("%06d from %s import %s", i.Span.Line, i.Path, strings.Join(names, ", ")))
	}
	return facts
}
