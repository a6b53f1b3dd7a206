package syntax

import (
	"path"
	"slices"
	"strings"
)

// Language is what a file is written in.
type Language string

// The languages that [Parse] knows. TypeScript with JSX is TypeScript, in files
// ending in .tsx; JavaScript always may contain JSX.
const (
	Go         Language = "go"
	Python     Language = "python"
	JavaScript Language = "javascript"
	TypeScript Language = "typescript"
	TSX        Language = "tsx"
)

var endings = map[string]Language{
	".go": Go,
	".py": Python, ".pyi": Python, ".pyw": Python,
	".js": JavaScript, ".mjs": JavaScript, ".cjs": JavaScript, ".jsx": JavaScript,
	".ts": TypeScript, ".mts": TypeScript, ".cts": TypeScript,
	".tsx": TSX,
}

// Languages are all of them, in the order in which messages name them.
func Languages() []Language { return []Language{Go, Python, JavaScript, TypeScript, TSX} }

// LanguageOf is the language that a file's name speaks of; "" for none of ours.
func LanguageOf(name string) Language { return endings[strings.ToLower(path.Ext(name))] }

// Known says whether it is one of [Languages].
func (l Language) Known() bool { return slices.Contains(Languages(), l) }

// grammar is tree-sitter's for the language; nil for Go, which has a parser of
// its own.
func (l Language) grammar() *grammar {
	switch l {
	case Python:
		return pythonGrammar()
	case JavaScript:
		return javascriptGrammar()
	case TypeScript:
		return typescriptGrammar()
	case TSX:
		return tsxGrammar()
	}
	return nil
}
