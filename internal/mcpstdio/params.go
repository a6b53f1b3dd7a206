package mcpstdio

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcp"
)

// Bounds of what is remembered of tools.
const (
	maxTools    = 10_000
	maxBindings = 64
	maxDepth    = 16
)

// binding is an argument that a header has to repeat.
type binding struct {
	path   []string
	header string
}

// mirrors are the bindings of the tools that have some, as lists of tools say.
type mirrors struct {
	mu    sync.Mutex
	tools map[string][]binding
}

// learn takes in a result of tools/list.
func (m *mirrors) learn(result jsontext.Value) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for tool := range parley.Elements(parley.Member(result, "tools")) {
		name, _ := parley.MemberString(tool, "name")
		found := bindings(parley.Member(tool, "inputSchema"), nil, nil)
		switch {
		case len(found) == 0:
			delete(m.tools, name)
		case len(m.tools) < maxTools:
			if m.tools == nil {
				m.tools = map[string][]binding{}
			}
			m.tools[name] = found
		}
	}
}

// set adds the headers that a call's arguments need.
func (m *mirrors) set(h http.Header, tool string, arguments jsontext.Value) {
	m.mu.Lock()
	found := m.tools[tool]
	m.mu.Unlock()
	for _, b := range found {
		v := arguments
		for _, name := range b.path {
			v = parley.Member(v, name)
		}
		if text, ok := primitive(v); ok {
			h.Set(mcp.ParamPrefix+b.header, mcp.EncodeHeader(text))
		}
	}
}

// bindings collects the annotations of a schema's properties, nested ones too.
func bindings(schema jsontext.Value, path []string, found []binding) []binding {
	if len(path) == maxDepth {
		return found
	}
	for name, property := range parley.Members(parley.Member(schema, "properties")) {
		at := append(path[:len(path):len(path)], name)
		header, _ := parley.MemberString(property, "x-mcp-header")
		if isToken(header) && len(found) < maxBindings {
			found = append(found, binding{at, header})
		}
		found = bindings(property, at, found)
	}
	return found
}

// isToken reports whether s can be (part of) a header's name.
func isToken(s string) bool {
	return s != "" && strings.TrimFunc(s, func(r rune) bool {
		return r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	}) == ""
}

// safeInteger is the last of the integers that every JSON reader can tell apart.
const safeInteger = 1<<53 - 1

// primitive is the text of a string, a boolean or an integer.
func primitive(v jsontext.Value) (string, bool) {
	switch v.Kind() {
	case '"':
		s, err := jsontext.AppendUnquote(nil, v)
		return string(s), err == nil
	case 't', 'f':
		return string(v), true
	case '0':
		f, err := strconv.ParseFloat(string(v), 64) // 1.0 and 1e3 are integers too
		if err != nil || f != float64(int64(f)) || f < -safeInteger || f > safeInteger {
			return "", false
		}
		return strconv.FormatInt(int64(f), 10), true
	}
	return "", false
}
