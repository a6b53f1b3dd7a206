package syntax

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Express and lodash are JavaScript of three generations, rxjs is TypeScript,
// and the compiler's own declarations have every sort of type that there is.
func TestJavaScriptAgreesWithTheTypeScriptCompiler(t *testing.T) {
	modules := filepath.Join(cache(t, "npm-code"), "node_modules")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed, and the reference runs on it")
	}
	names := glob(t, modules, "express/*.js", "express/lib/*.js", "lodash/lodash.js", "lodash/_*.js", "lodash/fp/*.js",
		"router/*.js", "router/lib/*.js", "body-parser/lib/*.js", "send/*.js", "qs/lib/*.js", "qs/test/*.js",
		"typescript/lib/typescript.d.ts", "typescript/lib/lib.dom.d.ts", "typescript/lib/lib.es5.d.ts", "rxjs/src/internal/*.ts", "rxjs/src/internal/*/*.ts")
	functions, files := 0, 0
	for i, o := range ask(t, names, node, "testdata/reference.js", filepath.Join(modules, "typescript")) {
		src, err := os.ReadFile(names[i])
		if err != nil {
			t.Fatal(err)
		}
		if o == nil {
			t.Errorf("the compiler does not parse %s", names[i])
			continue
		}
		if len(src) > MaxBytes {
			continue
		}
		f := parse(t, LanguageOf(names[i]), string(src))
		functions += len(f.Functions)
		files++
		same(t, names[i], javascriptFacts(f), o.Facts)
		if len(f.Errors) > 0 {
			t.Errorf("%s: %+v", names[i], f.Errors[0])
		}
	}
	t.Logf("%d functions in %d files", functions, files)
}

func javascriptFacts(f *File) (facts []fact) {
	for _, fn := range f.Functions {
		name := fn.Node.Field("name").Text() // what it is assigned to is no part of it
		facts = append(facts, functionFact(name, fn.Span.Line, fn.Span.EndLine, fn.Cyclomatic, fn.Cognitive))
	}
	for _, c := range f.Classes {
		facts = append(facts, fmt.Sprintf("%06d-%06d %s %s", c.Span.Line, c.Span.EndLine, c.Kind, c.Node.Field("name").Text()))
	}
	for _, i := range f.Imports {
		switch i.Kind {
		case Require:
			facts = append(facts, "require "+i.Path)
		case PlainImport, ReExport:
			facts = append(facts, fmt.Sprintf("%06d-%06d %s %s", i.Span.Line, i.Span.EndLine, i.Kind, i.Path))
		}
	}
	for i, text := range facts {
		facts[i] = strings.TrimSpace(text)
	}
	return facts
}
