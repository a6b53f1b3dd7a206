// Package arrows holds the direction of the imports. The packages of this
// module form layers, the vocabulary at the root below all of them, and [rules]
// says which way an arrow may point. The test reads the module with "go list".
package arrows

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/parleyhq/parley"

// A rule holds for the packages that from matches.
//
// Patterns are those of the go command, relative to the module: "." is the
// root package, "a/..." is a and everything below it, "..." everything, "*"
// one path element. "std" is the standard library. A first element with a dot
// in it belongs to another module.
type rule struct {
	from string
	verb verb
	to   []string
	why  string
}

type verb string

const (
	// only: from imports nothing but to.
	only verb = "imports only"
	// never: from does not import to, through whichever packages.
	never verb = "never reaches"
	// onlyBy: nothing imports from but to (and from itself).
	onlyBy verb = "is imported only by"
)

// The rules concern what is built into programs; tests may import what they
// need. A rule about a package that does not exist yet waits for it.
var rules = []rule{
	{".", only, []string{"std", codec},
		"whoever speaks the protocol takes on the vocabulary and its codec, and nothing else"},
	{"internal/space/...", only, []string{"std", ".", codec, "internal/space/...", "golang.org/x/time/rate"},
		"the rules of a space know neither sockets nor disks"},
	{"internal/space/...", never, []string{"net", "os/exec", "database/sql"},
		"the rules of a space do no I/O"},
	{"internal/journal/...", never, []string{"internal/gateway/...", "internal/space/...", "client/..."},
		"a journal keeps records without knowing what they mean"},
	{"internal/gateway/...", never, []string{"client/..."},
		"the two ends of a socket share the vocabulary only"},
	{"client/...", only, []string{"std", ".", codec, "client/...", "github.com/coder/websocket/...", "github.com/google/uuid"},
		"an agent's author inherits what the SDK imports"},
	{"github.com/modelcontextprotocol/go-sdk/...", onlyBy, []string{"internal/mcpbridge/...", "internal/filetool/...", "internal/conformance/...", "bench/...", "tool/..."},
		"the MCP SDK stays at the edge"},
	{"internal/jsonrpc/...", only, []string{"std", codec},
		"a codec knows nothing of what it carries"},
	{"internal/mcp/...", only, []string{"std", ".", codec, "internal/jsonrpc/..."},
		"the vocabulary of MCP does nothing by itself"},
	{"internal/mcpfront/...", never, []string{"internal/gateway/...", "internal/mcpbridge/..."},
		"the front is a participant like any other"},
	{"cmd/...", onlyBy, nil,
		"everything meets in the program, and nothing after it"},
	{"scripts/...", only, []string{"std"},
		"what builds and tests the module needs nothing else"},
}

const codec = "github.com/go-json-experiment/json/..."

// backends matches the packages that each keep a journal in a way of their own,
// and the suite that all of them pass. None of them reaches another.
const backends = "internal/journal/*"

// pkg is what "go list" says about a package.
type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string // direct ones
	Deps       []string // all of them, through whichever packages
}

func TestArrows(t *testing.T) {
	for _, broken := range check(listed(t)) {
		t.Error(broken)
	}
}

// Every rule is seen to fail: each of these modules has one arrow too many.
func TestBrokenArrowsAreFound(t *testing.T) {
	sdk := "github.com/modelcontextprotocol/go-sdk/mcp"
	for _, c := range []struct {
		name string
		pkgs map[string][]string // package: its direct imports
		want string              // FROM VERB TO, or nothing
	}{
		{"all is well", map[string][]string{
			".":                       {"fmt", "github.com/go-json-experiment/json/jsontext"},
			"internal/space":          {"time", ".", "golang.org/x/time/rate"},
			"internal/journal":        {"."},
			"internal/journal/sqlite": {".", "internal/journal", "github.com/ncruces/go-sqlite3"},
			"internal/gateway":        {".", "internal/space", "internal/journal"},
			"client":                  {".", "github.com/coder/websocket", "github.com/google/uuid"},
			"internal/mcpbridge":      {"client", sdk},
			"cmd/parley":              {"internal/gateway", "internal/journal/sqlite", "internal/mcpbridge"},
		}, ""},
		{"root", map[string][]string{".": {"github.com/google/uuid"}},
			". imports only std github.com/go-json-experiment/json/...: github.com/google/uuid"},
		{"space and another module", map[string][]string{"internal/space": {"github.com/google/uuid"}},
			"internal/space imports only"},
		{"space and a socket", map[string][]string{"internal/space": {"net"}},
			"internal/space never reaches"},
		{"journal and space", map[string][]string{"internal/journal": {"internal/space"}, "internal/space": nil},
			"internal/journal never reaches"},
		{"journal and gateway, in two steps", map[string][]string{
			"internal/journal/sqlite": {"internal/config"},
			"internal/config":         {"internal/gateway"},
			"internal/gateway":        nil,
		}, "internal/journal/sqlite never reaches internal/gateway/... internal/space/... client/...: internal/gateway"},
		{"backend and backend", map[string][]string{
			"internal/journal/sqlite":    {"internal/journal/jetstream"},
			"internal/journal/jetstream": {"internal/journal"},
			"internal/journal":           nil,
		}, "internal/journal/sqlite never reaches internal/journal/jetstream: internal/journal/jetstream"},
		{"gateway and client", map[string][]string{"internal/gateway": {"client"}, "client": nil},
			"internal/gateway never reaches client/...: client"},
		{"client and gateway", map[string][]string{"client": {"internal/gateway"}, "internal/gateway": nil},
			"client imports only"},
		{"MCP SDK elsewhere", map[string][]string{"internal/gateway": {sdk}},
			"github.com/modelcontextprotocol/go-sdk/... is imported only by internal/mcpbridge/... internal/filetool/... internal/conformance/... bench/... tool/...: internal/gateway"},
		{"the program as a library", map[string][]string{"parleytest": {"cmd/parley"}, "cmd/parley": nil},
			"cmd/... is imported only by nobody: parleytest"},
		{"a script with needs", map[string][]string{"scripts/testsum": {"."}, ".": nil},
			"scripts/testsum imports only std: ."},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := check(invented(c.pkgs))
			switch {
			case c.want == "" && len(got) > 0:
				t.Errorf("found %q where all is well", got)
			case c.want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, c.want) }):
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// check returns a line for each arrow that a rule does not allow.
func check(pkgs []pkg) (broken []string) {
	std := map[string]bool{}
	for _, p := range pkgs {
		std[p.ImportPath] = p.Standard
	}
	for _, r := range append(slices.Clone(rules), strangers(pkgs)...) {
		for _, p := range pkgs {
			if !within(p.ImportPath, module) {
				continue
			}
			for _, wrong := range r.broken(p, std) {
				broken = append(broken, fmt.Sprintf("%s (%s)", wrong, r.why))
			}
		}
	}
	return broken
}

// strangers makes the rules that hold the backends apart.
func strangers(pkgs []pkg) (apart []rule) {
	var all []string
	for _, p := range pkgs {
		if rel := relative(p.ImportPath); match(backends, rel) {
			all = append(all, rel)
		}
	}
	for _, a := range all {
		others := slices.DeleteFunc(slices.Clone(all), func(b string) bool { return a == b })
		apart = append(apart, rule{a, never, others, "a backend can be removed without touching another"})
	}
	return apart
}

// broken says where p breaks the rule.
func (r rule) broken(p pkg, std map[string]bool) (lines []string) {
	among := func(importPath string, patterns ...string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			return pattern == "std" && std[importPath] || match(pattern, relative(importPath))
		})
	}
	add := func(from, culprit string) {
		to := cmp.Or(strings.Join(r.to, " "), "nobody")
		lines = append(lines, fmt.Sprintf("%s %s %s: %s", from, r.verb, to, culprit))
	}
	rel := relative(p.ImportPath)
	switch r.verb {
	case only:
		for _, i := range p.Imports {
			if match(r.from, rel) && !among(i, r.to...) {
				add(rel, relative(i))
			}
		}
	case never:
		for _, d := range p.Deps {
			if match(r.from, rel) && among(d, r.to...) {
				add(rel, relative(d))
			}
		}
	case onlyBy:
		if !match(r.from, rel) && !among(p.ImportPath, r.to...) && slices.ContainsFunc(p.Imports, func(i string) bool { return among(i, r.from) }) {
			add(r.from, rel)
		}
	}
	return lines
}

// match holds a relative import path against a pattern.
func match(pattern, rel string) bool {
	if root, ok := strings.CutSuffix(pattern, "/..."); ok {
		return within(rel, root)
	}
	ok, _ := path.Match(pattern, rel)
	return ok
}

// within says whether importPath is root or below it.
func within(importPath, root string) bool {
	return importPath == root || strings.HasPrefix(importPath, root+"/")
}

// relative shortens the import paths of this module.
func relative(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

// listed is what the go command says about this module and all that it imports.
func listed(t *testing.T) (pkgs []pkg) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// invented makes a module out of direct imports. What has no dot and no entry
// of its own is the standard library.
func invented(imports map[string][]string) (pkgs []pkg) {
	long := func(rel string) string {
		if _, ok := imports[rel]; ok || rel == "." {
			return path.Join(module, rel)
		}
		return rel
	}
	seen := map[string]bool{}
	for _, rel := range slices.Sorted(maps.Keys(imports)) {
		p := pkg{ImportPath: long(rel)}
		for _, i := range imports[rel] {
			p.Imports = append(p.Imports, long(i))
			if first, _, _ := strings.Cut(i, "/"); !strings.Contains(first, ".") && long(i) == i && !seen[i] {
				seen[i] = true
				pkgs = append(pkgs, pkg{ImportPath: i, Standard: true})
			}
		}
		for _, d := range reached(imports, rel) {
			p.Deps = append(p.Deps, long(d))
		}
		pkgs = append(pkgs, p)
	}
	return pkgs
}

// reached is everything that rel imports, through whichever packages.
func reached(imports map[string][]string, rel string) (deps []string) {
	for _, i := range imports[rel] {
		deps = append(append(deps, i), reached(imports, i)...)
	}
	return deps
}
