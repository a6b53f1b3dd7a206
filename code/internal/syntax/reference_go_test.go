package syntax

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A fact is what model and reference must agree on, as text that sorts.
type fact = string

func functionFact(kind string, line, endLine, cyclomatic, cognitive int) fact {
	return fmt.Sprintf("%06d-%06d %s cyclomatic %d cognitive %d", line, endLine, kind, cyclomatic, cognitive)
}

// same compares facts of one file.
func same(t *testing.T, file string, got, want []fact) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	for len(got) > 0 || len(want) > 0 {
		switch {
		case len(want) == 0 || len(got) > 0 && got[0] < want[0]:
			t.Errorf("%s: %s, which the reference has not", file, got[0])
			got = got[1:]
		case len(got) == 0 || want[0] < got[0]:
			t.Errorf("%s: missing %s", file, want[0])
			want = want[1:]
		default:
			got, want = got[1:], want[1:]
		}
	}
}

// goFolders are unmodified Go code: the standard library's net/http, and MCP's
// Go SDK, as the module cache has it.
func goFolders(t *testing.T) []string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	sdk, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/modelcontextprotocol/go-sdk").Output()
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		filepath.Join(strings.TrimSpace(string(root)), "src", "net", "http"),
		filepath.Join(strings.TrimSpace(string(sdk)), "mcp"),
	}
}

func TestGoAgreesWithTheStandardLibrary(t *testing.T) {
	functions, files := 0, 0
	for _, dir := range goFolders(t) {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatal(dir, err)
		}
		for _, name := range names {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f := parse(t, Go, string(src))
			got := goFacts(f)
			functions += len(f.Functions)
			files++
			same(t, name, got, goReference(t, src))
		}
	}
	t.Logf("%d functions in %d files", functions, files)
}

func goFacts(f *File) (facts []fact) {
	for _, fn := range f.Functions {
		name := fn.Qualified
		if fn.Kind == Lambda {
			name = "literal"
		}
		facts = append(facts, functionFact(name, fn.Span.Line, fn.Span.EndLine, fn.Cyclomatic, fn.Cognitive))
	}
	for _, c := range f.Classes {
		facts = append(facts, fmt.Sprintf("%06d-%06d type %s", c.Span.Line, c.Span.EndLine, c.Name))
	}
	for _, i := range f.Imports {
		facts = append(facts, fmt.Sprintf("%06d import %s as %s", i.Span.Line, i.Path, i.Alias))
	}
	return facts
}

// goReference says the same of a file in another way: by going through a list
// of all nodes with the nodes around each.
func goReference(t *testing.T, src []byte) (facts []fact) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	line := func(p token.Pos) int { return set.PositionFor(p, false).Line }
	lines := func(n ast.Node) (int, int) { return line(n.Pos()), line(n.End() - 1) }
	for _, i := range file.Imports {
		alias := ""
		if i.Name != nil {
			alias = i.Name.Name
		}
		facts = append(facts, fmt.Sprintf("%06d import %s as %s", line(i.Pos()), strings.Trim(i.Path.Value, "\"`"), alias))
	}
	var around []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		around = append(around, n)
		switch n := n.(type) {
		case *ast.TypeSpec:
			from, to := lines(n)
			facts = append(facts, fmt.Sprintf("%06d-%06d type %s", from, to, n.Name.Name))
		case *ast.FuncDecl:
			if n.Body == nil {
				break
			}
			name := n.Name.Name
			if n.Recv != nil {
				name = receiverText(src, set, n) + "." + name
			}
			from, to := lines(n)
			facts = append(facts, functionFact(name, from, to, 1+decisions(n), cognitive(n)))
		case *ast.FuncLit:
			from, to := lines(n)
			facts = append(facts, functionFact("literal", from, to, 1+decisions(n), cognitive(n)))
		}
		return true
	})
	return facts
}

func receiverText(src []byte, set *token.FileSet, d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	text := string(src[set.PositionFor(t.Pos(), false).Offset:set.PositionFor(t.End(), false).Offset])
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "*"), "[")
	return text
}

// decisions counts those of a function itself.
func decisions(root ast.Node) (n int) {
	ast.Inspect(root, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncLit:
			return node == root
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			n += min(len(node.List), 1)
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// cognitive adds up what each node of a function counts by the nodes around it.
func cognitive(root ast.Node) (n int) {
	var around []ast.Node
	ast.Inspect(root, func(node ast.Node) bool {
		if node == nil {
			around = around[:len(around)-1]
			return true
		}
		n += cognitiveOf(node, around)
		around = append(around, node)
		return true
	})
	return n
}

func cognitiveOf(node ast.Node, around []ast.Node) int {
	switch node := node.(type) {
	case *ast.IfStmt:
		n := 0
		if node.Else != nil {
			n = 1
		}
		if outer, ok := around[len(around)-1].(*ast.IfStmt); ok && outer.Else == node {
			return n
		}
		return n + 1 + depth(node, around)
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return 1 + depth(node, around)
	case *ast.BranchStmt:
		if node.Label != nil {
			return 1
		}
	case *ast.BinaryExpr:
		if node.Op != token.LAND && node.Op != token.LOR {
			return 0
		}
		for _, outer := range slices.Backward(around) {
			if _, ok := outer.(*ast.ParenExpr); ok {
				continue
			}
			if b, ok := outer.(*ast.BinaryExpr); ok && b.Op == node.Op {
				return 0
			}
			break
		}
		return 1
	}
	return 0
}

// depth counts the bodies around a node, and the functions but the outermost.
func depth(node ast.Node, around []ast.Node) (n int) {
	path := append(slices.Clone(around), node)
	for i, outer := range path[:len(path)-1] {
		inner := path[i+1]
		switch outer := outer.(type) {
		case *ast.FuncLit:
			if i > 0 {
				n++
			}
		case *ast.IfStmt:
			_, chained := inner.(*ast.IfStmt)
			if inner == outer.Body || inner == outer.Else && !chained {
				n++
			}
		case *ast.ForStmt:
			n += one(inner == outer.Body)
		case *ast.RangeStmt:
			n += one(inner == outer.Body)
		case *ast.SwitchStmt:
			n += one(inner == outer.Body)
		case *ast.TypeSwitchStmt:
			n += one(inner == outer.Body)
		case *ast.SelectStmt:
			n += one(inner == outer.Body)
		}
	}
	return n
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
