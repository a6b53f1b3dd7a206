package codetools

import (
	"strings"
	"testing"

	"github.com/parleyhq/parley/tool"
)

// Folders that a search passes over can be asked for.
func TestSearchesBeginWhereTheyWouldNotGo(t *testing.T) {
	p, _ := folderWith(t, map[string]string{
		"main.js":                             "require('express')\n",
		"node_modules/express/package.json":   `{"name": "express"}`,
		"node_modules/express/index.js":       "const { app } = require('./lib/app')\napp()\n",
		"node_modules/express/lib/app.js":     "exports.app = function () {}\n",
		"node_modules/express/lib/use.js":     "require('./app')\n",
		"node_modules/express/vendor/gone.js": "require('../lib/app')\n",
		"docs/text.md":                        "",
	})
	m, _ := p.mapped(t, tool.Community, MapIn{Path: "node_modules/express"})
	sameLines(t, arrows(m), []string{
		"node_modules/express/index.js -> node_modules/express/lib/app.js", "node_modules/express/lib/use.js -> node_modules/express/lib/app.js",
	})
	if m.Files != 3 || len(m.Notes) != 0 {
		t.Errorf("%d files, with the notes %q", m.Files, m.Notes)
	}
	out, err := p.references(t, tool.Community, ReferencesIn{Symbol: "app", Path: "node_modules"})
	if err != nil || out.Files != 3 || out.Counts.Imports != 1 || out.Counts.Calls != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	c, err := p.context(t, tool.Community, ContextIn{Path: "node_modules/express/lib/app.js"})
	if err != nil || len(c.Importers) != 1 || c.Importers[0].Path != "node_modules/express/lib/use.js" {
		t.Errorf("%+v, %v", c.Importers, err)
	}
	if m, _ := p.mapped(t, tool.Community, MapIn{Path: "docs"}); m.Files != 0 || !strings.Contains(strings.Join(m.Notes, ""), `below "docs"`) {
		t.Errorf("%d files, with the notes %q", m.Files, m.Notes)
	}
	_, err = p.references(t, tool.Community, ReferencesIn{Symbol: "app", Path: "docs"})
	if e := refusedWith(t, err, tool.NotFound); e.Details == nil {
		t.Errorf("nothing is said of why no file was searched: %v", err)
	}
}

func TestWhatLiesTooDeepIsTold(t *testing.T) {
	deep := strings.Repeat("d/", 101)
	p, _ := folderWith(t, map[string]string{"a.py": "def f(): pass\n", deep + "b.py": "from a import f\n"})
	m, _ := p.mapped(t, tool.Community, MapIn{})
	if m.Files != 1 || !m.Truncated || len(m.Notes) != 1 {
		t.Errorf("%d files, with the notes %q", m.Files, m.Notes)
	}
	out, err := p.references(t, tool.Community, ReferencesIn{Symbol: "f"})
	if err != nil || !out.Truncated || len(out.Notes) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	c, err := p.context(t, tool.Community, ContextIn{Path: "a.py"})
	if err != nil || !c.Truncated || len(c.Notes) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if m, _ = p.mapped(t, tool.Community, MapIn{Path: strings.TrimSuffix(deep, "/")}); m.Files != 1 {
		t.Errorf("%d files in what was asked for", m.Files)
	}
}
