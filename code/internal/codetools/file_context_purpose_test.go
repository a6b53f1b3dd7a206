package codetools

import (
	"testing"

	"github.com/parleyhq/parley/tool"
)

// Of what another file says of the package, the first paragraph is enough.
func TestPurposeOfAGoFileWithoutOne(t *testing.T) {
	p, _ := folderWith(t, map[string]string{
		"doc.go":  "// Package a does a thing,\n// and another.\n//\n// It does so at length.\npackage a\n",
		"none.go": "package a\n",
	})
	for file, want := range map[string]string{
		"doc.go": "Package a does a thing,\nand another.\n\nIt does so at length.", "none.go": "Package a does a thing,\nand another.",
	} {
		if out, err := p.context(t, tool.Community, ContextIn{Path: file}); err != nil || out.Purpose != want {
			t.Errorf("%s is for %q, %v", file, out.Purpose, err)
		}
	}
}
