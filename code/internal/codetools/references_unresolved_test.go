package codetools

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyhq/parley/tool"
)

// servedAs is a project in a folder of that name.
func servedAs(t *testing.T, name string, files map[string]string) *Project {
	t.Helper()
	below := map[string]string{}
	for file, text := range files {
		below[name+"/"+file] = text
	}
	_, dir := folderWith(t, below)
	return openedAt(t, filepath.Join(dir, filepath.FromSlash(name)))
}

// The folder that is served may be a package itself, which its own files import
// by its name.
func TestReferencesWhereTheFolderIsAPackage(t *testing.T) {
	files, want := marked(map[string]string{
		"__init__.py": "class Status«d»: pass\n",
		"server.py":   "from shop.web import Status«i», server\nStatus«c»()\n",
		"client.py":   "import shop.web.server\nimport shop.web\nshop.web.Status«r»\n",
		"late.py":     "import shop.web.server\nshop.web.Status«r»\n",
		"near.py":     "from web import Status«i» as S«i»\nS«c»()\n",
	})
	p := servedAs(t, "shop/web", files)
	out, err := p.references(t, tool.Community, ReferencesIn{Symbol: "web.Status"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range out.References {
		got = append(got, fmt.Sprintf("%s:%d:%d %s", r.Path, r.Line, r.Column, r.Kind))
	}
	sameLines(t, got, want)
	m, _ := p.mapped(t, tool.Community, MapIn{})
	sameLines(t, arrows(m), []string{"web.server -> web", "web.client -> web", "web.client -> web.server", "web.late -> web.server", "web.near -> web"})
}

// What cannot be followed must not look as if nobody used it.
func TestReferencesTellWhatCannotBeFollowed(t *testing.T) {
	p, _ := folderWith(t, map[string]string{
		"lib/core.py": "def run(): pass\n",
		"a.py":        "from installed.core import run\nrun()\n",
		"b.py":        "import installed.core\ninstalled.core.run()\n",
		"c.py":        "import os\nos.walk('run')\n",
		"part/d.py":   "def stop(): pass\n",
		"part/e.py":   "from . import stop\nstop()\n",
		"es/lib.js":   "export function go() {}\n",
		"es/use.js":   "import { go } from '@/lib'\ngo()\n",
	})
	for symbol, c := range map[string]struct{ at, module string }{
		"run": {"", `"installed.core"`}, "stop": {"part", `"."`}, "go": {"", `"@/lib"`},
	} {
		out, err := p.references(t, tool.Community, ReferencesIn{Symbol: symbol, Path: c.at})
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(out.Notes, "\n"); out.Counts.Definitions != 1 || !strings.Contains(notes, c.module) || strings.Contains(notes, `"os"`) {
			t.Errorf("%s: %+v, with the notes %q", symbol, out.Counts, notes)
		}
	}
	if out, err := p.references(t, tool.Community, ReferencesIn{Symbol: "core.run", Path: "lib"}); err != nil || len(out.Notes) != 0 {
		t.Errorf("all was followed, and the notes are %q, %v", out.Notes, err)
	}
}

// A Go package that is served alone does not know its own import path, by which
// its outside tests import it.
func TestReferencesOfAGoPackageAlone(t *testing.T) {
	p := servedAs(t, "lib", map[string]string{
		"lib.go":      "package lib\n\nfunc Run() {}\n",
		"lib_test.go": "package lib_test\n\nimport (\n\t\"example.com/m/lib\"\n\t\"os\"\n)\n\nfunc f() { lib.Run(); os.Run() }\n",
	})
	out, err := p.references(t, tool.Community, ReferencesIn{Symbol: "Run"})
	if err != nil || out.Counts.Calls != 1 || out.Counts.ByName != 1 || len(out.Notes) == 0 {
		t.Errorf("%+v, %q, %v", out.Counts, out.Notes, err)
	}
}

func TestReferencesOfPythonsOwnPackage(t *testing.T) {
	dir := filepath.Join(pythonLibrary(t), "http")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("this python has no http package")
	}
	out, err := openedAt(t, dir).references(t, tool.Community, ReferencesIn{Symbol: "HTTPStatus"})
	if err != nil || out.Counts.Imports < 1 || out.Counts.References < 20 || len(out.Notes) != 0 {
		t.Errorf("%+v, %q, %v", out.Counts, out.Notes, err)
	}
}

// What is found by name alone comes last, and a field that is no function is
// nothing that can be called.
func TestReferencesByNameComeLast(t *testing.T) {
	p, _ := folderWith(t, map[string]string{
		"a/a.go": "package a\n\nimport \"net\"\n\nfunc f(l net.Listener) { l.Addr(); _ = l.Addr; l.Hook() }\n\nvar _ net.Addr\n",
		"b/b.go": "package a\n\ntype Server struct {\n\tAddr, Other string\n\tHook  func()\n\tAny   Handler\n}\n\nfunc (s *Server) g() { _ = s.Addr; s.Hook() }\n",
		"c/c.go": "package c\n\nfunc h(x unknown.T) { x.Any() }\n",
	})
	for symbol, want := range map[string][]string{
		"Server.Addr": {"b/b.go:4 definition types", "b/b.go:9 reference types", "a/a.go:5 reference name"},
		"Server.Hook": {"b/b.go:5 definition types", "b/b.go:9 call types", "a/a.go:5 call name"},
		"Server.Any":  {"b/b.go:6 definition types", "c/c.go:3 call name"},
	} {
		out, err := p.references(t, tool.Community, ReferencesIn{Symbol: symbol})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range out.References {
			got = append(got, fmt.Sprintf("%s:%d %s %s", r.Path, r.Line, r.Kind, r.By))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", symbol, got, want)
		}
	}
}

func TestPlatformsAreThoseThatExist(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "linux/amd64": true, "windows/arm64": true, "js/wasm": true, "foo/bar": false, "linux/bar": false, "foo/amd64": false,
		"linux/": false, "linux": false, "test/amd64": false, "linux/amd64/v1": false, "unix/amd64": false, "a_linux/amd64": false, "amd64/amd64": false, "linux/linux": false, "illumos/amd64": true, "plan9/386": true,
	} {
		if _, err := platformOf(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A file must not look unused because what imports it could not be followed.
func TestImportersThatCannotBeFollowed(t *testing.T) {
	p, _ := folderWith(t, map[string]string{
		"lib/core.py":     "def run(): pass\n",
		"lib/__init__.py": "",
		"a.py":            "from installed.core import run\n",
		"b.py":            "from lib import core\n",
		"c.py":            "import os # core\n",
		"d.py":            "from installed import core\n",
		"es/util.ts":      "export const a = 1\n",
		"es/use.ts":       "import { a } from '@/util'\nimport b from './none'\n",
		"g/g.go":          "package g\n",
		"h/h.go":          "package h\n\nimport \"example.com/else/g\"\n",
	})
	for file, want := range map[string]string{"lib/core.py": `("installed.core", "installed")`, "es/util.ts": `("@/util")`, "b.py": ""} {
		c, err := p.context(t, tool.Community, ContextIn{Path: file})
		if notes := strings.Join(c.Notes, ""); err != nil || !strings.Contains(notes, want) || (notes == "") != (want == "") {
			t.Errorf("%s: the notes are %q, %v", file, notes, err)
		}
	}
}
