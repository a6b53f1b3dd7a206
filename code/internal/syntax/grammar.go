package syntax

import (
	"sync"
	"unsafe"

	javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	python "github.com/tree-sitter/tree-sitter-python/bindings/go"
	typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"
)

// A grammar is one of tree-sitter's, with what its rules mean here.
type grammar struct {
	language unsafe.Pointer
	kinds    []string
	roles    []role
	fields   []string
	fieldIDs map[string]uint8
	body     uint8 // ids of the fields that the walk asks for at every node
	then     uint8
}

func newGrammar(language unsafe.Pointer, roles map[string]role) *grammar {
	g := &grammar{
		language: language,
		kinds:    symbolNames(language),
		fields:   fieldNames(language),
		fieldIDs: map[string]uint8{},
	}
	g.roles = make([]role, len(g.kinds))
	for i, kind := range g.kinds {
		g.roles[i] = roles[kind]
	}
	for i, name := range g.fields {
		g.fieldIDs[name] = uint8(i)
	}
	g.body, g.then = g.fieldIDs["body"], g.fieldIDs["consequence"]
	return g
}

func (g *grammar) kind(symbol uint16) string {
	if int(symbol) < len(g.kinds) {
		return g.kinds[symbol]
	}
	return "ERROR"
}

func (g *grammar) role(symbol uint16) role {
	if int(symbol) < len(g.roles) {
		return g.roles[symbol]
	}
	return roleNone
}

var (
	pythonGrammar     = sync.OnceValue(func() *grammar { return newGrammar(python.Language(), pythonRoles) })
	javascriptGrammar = sync.OnceValue(func() *grammar { return newGrammar(javascript.Language(), javascriptRoles) })
	typescriptGrammar = sync.OnceValue(func() *grammar { return newGrammar(typescript.LanguageTypescript(), javascriptRoles) })
	tsxGrammar        = sync.OnceValue(func() *grammar { return newGrammar(typescript.LanguageTSX(), javascriptRoles) })
)
