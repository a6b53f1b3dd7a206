package mcp

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// ParamHeader is an argument of a tool that a header of its calls repeats
// (x-mcp-header, 2026-07-28).
type ParamHeader struct {
	Path   []string // of property names
	Header string   // the full name, Mcp-Param-…
}

// Bounds of what is looked at in a schema.
const (
	maxSchemaDepth  = 16
	maxParamHeaders = 64
	maxHeaderName   = 256
)

// ParamHeaders finds those of a tool, from its definition.
func ParamHeaders(tool jsontext.Value) []ParamHeader {
	return paramHeaders(parley.Member(tool, "inputSchema"), nil, nil)
}

func paramHeaders(schema jsontext.Value, path []string, found []ParamHeader) []ParamHeader {
	if len(path) == maxSchemaDepth {
		return found
	}
	for name, property := range parley.Members(parley.Member(schema, "properties")) {
		at := append(path[:len(path):len(path)], name)
		header, _ := parley.MemberString(property, "x-mcp-header")
		if isToken(header) && len(found) < maxParamHeaders {
			found = append(found, ParamHeader{Path: at, Header: ParamPrefix + header})
		}
		found = paramHeaders(property, at, found)
	}
	return found
}

// isToken tells what can be part of a header's name (RFC 9110).
func isToken(s string) bool {
	return s != "" && len(s) <= maxHeaderName && strings.IndexFunc(s, func(c rune) bool {
		return c <= ' ' || c > '~' || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", c)
	}) < 0
}

// Text is the argument as the header says it, before [EncodeHeader]; ok is
// false where there is none, or one that no header carries.
func (p *ParamHeader) Text(arguments jsontext.Value) (text string, ok bool) {
	v := arguments
	for _, name := range p.Path {
		v = parley.Member(v, name)
	}
	switch v.Kind() {
	case '"':
		return Unquote(v)
	case 't', 'f':
		return string(v), true
	case '0':
		return integerText(v)
	}
	return "", false
}

// integerText writes a number as a plain integer, if it is one that every
// parser reads alike.
func integerText(v jsontext.Value) (string, bool) {
	const safe = 1<<53 - 1
	f, err := strconv.ParseFloat(string(v), 64) // 1.0 and 1e3 are integers too
	if err != nil || f != float64(int64(f)) || f > safe || f < -safe {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}
