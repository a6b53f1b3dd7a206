package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of the text. The YAML parser calls itself for every level and for
// every key of a mapping, and slows down with the square of the latter.
const (
	maxTokens   = 250_000
	maxLevels   = 64
	maxSiblings = 10_000
	maxMerges   = 1_000
)

const tagHint = `write a denial as "!mcp/request:tools/call:delete_*"; YAML tags are not supported`

// parseDocument turns text into nodes. A nil node comes with at least one
// problem; a node may come with problems too, and is then worth reading on.
func parseDocument(data []byte) (*node, []Problem) {
	if len(data) > MaxBytes {
		return nil, []Problem{{Message: fmt.Sprintf("the file is larger than %s", sizeText(MaxBytes))}}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if p := checkText(data); p != nil {
		return nil, []Problem{*p}
	}
	if bytes.Count(data, []byte("<<")) > maxMerges {
		return nil, []Problem{{Message: fmt.Sprintf("the file has << more than %s times", countText(maxMerges))}}
	}
	// The library loses what a file without a last line break ends in.
	tokens, err := tokenize(append(data, '\n'))
	if err != nil {
		return nil, []Problem{*err}
	}
	file, err := parseTokens(tokens)
	if err != nil {
		return nil, []Problem{*err}
	}
	return convertFile(file)
}

// checkText refuses bytes that are no text, at their place.
func checkText(data []byte) *Problem {
	line, column := 1, 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return &Problem{Line: line, Column: column, Message: "the file is not UTF-8 text"}
		case r < ' ' && r != '\n' && r != '\t', r == 0x7f, r == '\ufeff':
			return &Problem{Line: line, Column: column, Message: fmt.Sprintf("the file holds the control character %U", r)}
		}
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
		i += n
	}
	return nil
}

// tokenize takes the text apart, and refuses what the parser should not see.
func tokenize(data []byte) (tokens token.Tokens, err *Problem) {
	defer recoverInto(&err)
	tokens = lexer.Tokenize(string(data))
	if bad := tokens.InvalidToken(); bad != nil {
		return nil, syntaxProblem(bad, bad.Error)
	}
	return tokens, checkTokens(tokens)
}

// checkTokens refuses what a configuration has no use for, and nesting that
// would exhaust the stack.
func checkTokens(tokens token.Tokens) *Problem {
	if len(tokens) > maxTokens {
		return &Problem{Message: fmt.Sprintf("the file has more than %s parts", countText(maxTokens))}
	}
	var b blocks
	flow := 0
	for _, tk := range tokens {
		switch tk.Type {
		case token.TagType:
			return problemAt(tk, "a value that starts with ! needs quotes", tagHint)
		case token.DirectiveType:
			return problemAt(tk, "YAML directives are not supported", "a value that starts with % needs quotes")
		case token.MappingKeyType:
			return problemAt(tk, "keys that are written with a question mark are not supported", "write KEY: VALUE")
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow = max(flow-1, 0)
		case token.SequenceEntryType:
			if flow > 0 {
				return problemAt(tk, "not valid YAML: a dash and a blank inside of [ ] or { }", "put commas between the items, or quotes around a dash")
			}
			b.open(tk.Position.Column)
		case token.MappingValueType:
			if flow == 0 && tk.Prev != nil {
				b.open(tk.Prev.Position.Column)
			}
		}
		if flow+len(b) > maxLevels {
			return problemAt(tk, fmt.Sprintf("values are nested deeper than %d levels", maxLevels), "")
		}
		if n := len(b); n > 0 && b[n-1].entries > maxSiblings {
			return problemAt(tk, fmt.Sprintf("there are more than %s entries on one level", countText(maxSiblings)), "")
		}
	}
	return nil
}

// blocks are the lists and mappings that are open at one place of the text,
// told apart by their indentation.
type blocks []struct{ column, entries int }

func (b *blocks) open(column int) {
	s := *b
	for len(s) > 0 && s[len(s)-1].column > column {
		s = s[:len(s)-1]
	}
	if len(s) == 0 || s[len(s)-1].column < column {
		s = append(s, struct{ column, entries int }{column: column})
	}
	s[len(s)-1].entries++
	*b = s
}

func parseTokens(tokens token.Tokens) (file *ast.File, err *Problem) {
	defer recoverInto(&err)
	// The converter tells every duplicate, the parser only the first.
	file, failure := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if failure == nil {
		return file, nil
	}
	if s, ok := errors.AsType[syntaxError](failure); ok && s.GetToken() != nil {
		return nil, syntaxProblem(s.GetToken(), s.GetMessage())
	}
	return nil, &Problem{Message: "the file is not YAML"}
}

// syntaxError is what the library's errors have in common. Their Error method
// would quote the file, secrets included.
type syntaxError interface {
	error
	GetMessage() string
	GetToken() *token.Token
}

// recoverInto makes a problem of a fault in the YAML library.
func recoverInto(err **Problem) {
	if fault := recover(); fault != nil {
		*err = &Problem{Message: "the file is not YAML that can be understood"}
	}
}

func syntaxProblem(tk *token.Token, message string) *Problem {
	if message == "" {
		message = "unexpected text"
	}
	message = strings.ReplaceAll(message, "\t", `\t`)
	hint := syntaxHint(message)
	if tk.Prev != nil && strings.HasSuffix(tk.Prev.Value, "$") {
		hint = `put quotes around it, as "${env:NAME}"`
	}
	return problemAt(tk, "not valid YAML: "+message, hint)
}

// syntaxHint says what usually leads to a message of the YAML library.
func syntaxHint(message string) string {
	has := func(s string) bool { return strings.Contains(message, s) }
	switch {
	case has("tab character"), has(`'\t'`):
		return "indent with spaces, never with tabs"
	case has("reserved character"), has("undefined alias"), has("alias value"), has("undefined anchor"), has("anchor value"), has("unexpected scalar value"):
		return `put values that start with a special character into quotes, as "*"`
	case has("tag character"):
		return tagHint
	case has("escape character"):
		return `write a backslash as \\, or use single quotes`
	case has("could not find end character"):
		return "a closing quote is missing"
	case has("sequence end token"), has("or ']' must"):
		return "a closing ] or a comma is missing"
	case has("mapping end token"), has("or '}' must"), has("flow map content"):
		return "a closing } or a comma is missing"
	case has("context"), has("non-map value"), has("unexpected key name"), has("invalid key"):
		return "look at the indentation, and for a colon without a blank after it"
	}
	return ""
}

func problemAt(tk *token.Token, message, hint string) *Problem {
	p := &Problem{Message: message, Hint: hint}
	if tk.Position != nil {
		p.Line, p.Column = max(tk.Position.Line, 1), max(tk.Position.Column, 1)
	}
	return p
}
