// Package arrows holds the direction of the imports. The packages of this
// module and of the one in model form layers, the vocabulary at the root below
// all of them, and [rules] says which way an arrow may point. The test reads the
// modules with "go list".
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
	{"tool", only, []string{"std", ".", codec, "internal/response/...", "internal/licence/...", "internal/jsonrpc", "internal/mcp", "internal/runlog", "internal/schema", "internal/tokens", "tool/sampling",
		"github.com/modelcontextprotocol/go-sdk/...", "github.com/google/jsonschema-go/..."},
		"whoever writes a tool takes on no gateway, and no participant's client"},
	{"tool/room", only, []string{"std", ".", codec, "client", "internal/mcp", "tool", "github.com/modelcontextprotocol/go-sdk/mcp"},
		"a tool server in a room is a participant like any other"},
	{"tool/sampling", only, []string{"std", codec, "internal/jsonrpc", "internal/schema", "github.com/google/jsonschema-go/..."},
		"what is said to a model is values, whoever carries them"},
	{"tool/sampling", never, []string{"net", "os/exec", "database/sql"},
		"what is said to a model is values, whoever carries them"},
	{"internal/schema", only, []string{"std", codec, "github.com/google/jsonschema-go/..."},
		"what types are as JSON has nothing to do with who asks"},
	{"internal/form", only, []string{"std", codec, "internal/jsonrpc", "internal/schema"},
		"a form is the same in a terminal and in a browser"},
	{"internal/tui/...", never, []string{"internal/gateway/...", "internal/journal/...", "internal/space/...", "database/sql"},
		"whoever sits at a terminal is a participant like any other"},
	{"internal/tui/store", only, []string{"std", ".", codec, "internal/lookalike"},
		"what a console knows of a room is made of envelopes"},
	{"internal/tui/safe", only, []string{"std", "github.com/charmbracelet/x/ansi", "github.com/clipperhouse/uax29/v2/graphemes"},
		"what is hostile passes through little"},
	{"internal/tui/command", only, []string{"std", ".", codec, "internal/form", "internal/nearest", "internal/tui/safe"},
		"what is typed is read without a room or a screen"},
	{"internal/lookalike", only, []string{"std", "golang.org/x/text/unicode/norm"},
		"the gateway may have use of it as well"},
	{"github.com/yuin/goldmark/...", onlyBy, []string{"internal/tui/markdown"},
		"markdown has one reader"},
	{"charm.land/...", onlyBy, []string{"internal/tui/..."},
		"what draws on terminals stays at the terminal"},
	{"internal/runlog", only, []string{"std", codec},
		"whoever writes a tool takes on no database"},
	{"internal/licence/...", only, []string{"std", ".", codec, "internal/response/...", "github.com/golang-jwt/jwt/..."},
		"what is trusted with a key is small"},
	{"github.com/golang-jwt/jwt/...", onlyBy, []string{"internal/licence/..."},
		"tokens of this kind have one reader"},
	{"internal/mcpfront/...", never, []string{"internal/gateway/...", "internal/mcpbridge/..."},
		"the front is a participant like any other"},
	{"internal/webhook/...", only, []string{"std", ".", codec, "internal/journal", "internal/wholefile", "github.com/standard-webhooks/standard-webhooks/...", "github.com/prometheus/client_golang/..."},
		"what is told outside is read from the record, whoever writes that"},
	{"github.com/standard-webhooks/standard-webhooks/...", onlyBy, []string{"internal/webhook/..."},
		"events are signed in one place"},
	{"internal/response/...", only, []string{"std", ".", codec, "internal/response/...", "internal/jsonc", "internal/jsonrpc", "internal/nearest", "internal/tokens"},
		"whoever writes a tool takes on the envelope, and nothing else"},
	{"internal/jsonc", only, []string{"std"},
		"what others read by knows nothing of them"},
	{"internal/wholefile", only, []string{"std"},
		"what others write by knows nothing of them"},
	{"internal/built", onlyBy, nil,
		"what tests are run with is in no program"},
	{"internal/nearest", only, []string{"std"},
		"what others read by knows nothing of them"},
	{"model/internal/provider", only, []string{"std", codec, "tool/sampling", "github.com/google/uuid"},
		"what all endpoints have in common knows none of them"},
	{"model/...", never, []string{"internal/gateway/...", "internal/journal/...", "internal/space/..."},
		"who holds the keys of models is no gateway"},
	{"github.com/openai/openai-go/...", onlyBy, []string{"model/internal/openai"},
		"a maker's client stays in the adapter of its API"},
	{"github.com/anthropics/anthropic-sdk-go/...", onlyBy, []string{"model/internal/anthropic"},
		"a maker's client stays in the adapter of its API"},
	{"github.com/ollama/ollama/...", onlyBy, []string{"model/internal/ollama"},
		"a maker's client stays in the adapter of its API"},
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
		{"the envelope of tools and the configuration of gateways", map[string][]string{"internal/response": {"internal/config"}, "internal/config": nil},
			"internal/response imports only"},
		{"webhooks and a gateway", map[string][]string{"internal/webhook": {"internal/journal", "internal/gateway"}, "internal/journal": nil, "internal/gateway": nil},
			"internal/webhook imports only"},
		{"signatures elsewhere", map[string][]string{"internal/gateway": {"github.com/standard-webhooks/standard-webhooks/libraries/go"}},
			"github.com/standard-webhooks/standard-webhooks/... is imported only by internal/webhook/...: internal/gateway"},
		{"tool and client", map[string][]string{"tool": {"internal/response", "client"}, "internal/response": nil, "client": nil},
			"tool imports only"},
		{"tool in a room", map[string][]string{"tool/room": {"client", "tool", "internal/mcp"}, "tool": nil, "client": nil, "internal/mcp": nil}, ""},
		{"tool in a room and gateway", map[string][]string{"tool/room": {"internal/gateway"}, "internal/gateway": nil},
			"tool/room imports only"},
		{"what is said to a model and a socket", map[string][]string{"tool/sampling": {"net"}},
			"tool/sampling never reaches"},
		{"licence and another codec", map[string][]string{"internal/licence": {"github.com/lestrrat-go/jwx"}},
			"internal/licence imports only"},
		{"tokens read elsewhere", map[string][]string{"internal/gateway": {"github.com/golang-jwt/jwt/v5"}},
			"github.com/golang-jwt/jwt/... is imported only by internal/licence/...: internal/gateway"},
		{"endpoints in common and one of them", map[string][]string{"model/internal/provider": {"model/internal/openai"}, "model/internal/openai": nil},
			"model/internal/provider imports only"},
		{"keys and a gateway", map[string][]string{"model/cmd/parley-model": {"internal/gateway"}, "internal/gateway": nil},
			"model/cmd/parley-model never reaches"},
		{"a client elsewhere", map[string][]string{"model/internal/participant": {"github.com/openai/openai-go/v3"}},
			"github.com/openai/openai-go/... is imported only by model/internal/openai: model/internal/participant"},
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

// listed is what the go command says about both modules and all that they import.
func listed(t *testing.T) (pkgs []pkg) {
	t.Helper()
	seen := map[string]bool{}
	for _, dir := range []string{"../..", "../../model"} {
		for _, p := range listedIn(t, dir) {
			if !seen[p.ImportPath] {
				seen[p.ImportPath] = true
				pkgs = append(pkgs, p)
			}
		}
	}
	return pkgs
}

func listedIn(t *testing.T, dir string) (pkgs []pkg) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v\n%s", dir, err, &stderr)
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
