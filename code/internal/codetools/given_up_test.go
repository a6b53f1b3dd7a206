package codetools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parleyhq/parley/tool"
)

// Files that were given up are told: they may use what is looked for.
func TestFilesThatWereGivenUpAreTold(t *testing.T) {
	files := map[string]string{
		"a.py":     "def run(): pass\n",
		"b.py":     "from a import run\nx = '\x00'\n",
		"c.py":     "from a import run\n" + strings.Repeat("#", 3<<20),
		"d.py":     "from a import run\n" + strings.Repeat("(", 1<<20),
		"e.py":     "from a import run\nrun()\n",
		"g/g.go":   "package g\n\nfunc Start() {}\n",
		"g/f_x.go": "package g\n\nvar x = Start" + strings.Repeat("(", 1<<20) + "\n",
	}
	p, _ := folderWith(t, files)
	const python = "[{b.py invalid_argument} {c.py too_large} {d.py too_large}]"
	out, err := p.references(t, tool.Community, ReferencesIn{Symbol: "run"})
	if err != nil || fmt.Sprint(out.Failed) != python || out.FailedFiles != 3 || out.Counts.Calls != 1 || !out.Truncated {
		t.Errorf("%+v, %v", out, err)
	}
	out, err = p.references(t, tool.Community, ReferencesIn{Symbol: "Start"})
	if err != nil || fmt.Sprint(out.Failed) != "[{c.py too_large} {g/f_x.go too_large}]" || out.FailedFiles != 2 {
		t.Errorf("%+v, %v", out, err)
	}
	c, err := p.context(t, tool.Community, ContextIn{Path: "a.py"})
	if err != nil || fmt.Sprint(c.Failed) != python || c.FailedFiles != 3 || len(c.Importers) != 1 || !c.Truncated {
		t.Errorf("%+v, %v", c, err)
	}
	m, _ := p.mapped(t, tool.Community, MapIn{})
	if m.FailedFiles != 4 || len(m.Failed) != 4 || !m.Truncated {
		t.Errorf("%+v", m)
	}
	_, err = p.references(t, tool.Community, ReferencesIn{Symbol: "runs"})
	if e := refusedWith(t, err, tool.NotFound); !strings.Contains(fmt.Sprint(e.Details), "files_failed:1") {
		t.Errorf("the details are %v", e.Details)
	}
	for i := range 30 {
		files[fmt.Sprintf("h%d.py", i)] = "run\x00"
	}
	p, _ = folderWith(t, files)
	out, err = p.references(t, tool.Community, ReferencesIn{Symbol: "run"})
	if err != nil || len(out.Failed) != maxFailed || out.FailedFiles != 33 {
		t.Errorf("%d of %d files are named, %v", len(out.Failed), out.FailedFiles, err)
	}
}
