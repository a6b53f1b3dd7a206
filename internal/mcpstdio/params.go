package mcpstdio

import (
	"net/http"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcp"
)

// maxTools bounds the tools that are remembered.
const maxTools = 10_000

// mirrors are the arguments that headers have to repeat, of the tools that have
// some, as lists of tools say.
type mirrors struct {
	mu    sync.Mutex
	tools map[string][]mcp.ParamHeader
}

// learn takes in a result of tools/list.
func (m *mirrors) learn(result jsontext.Value) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for tool := range parley.Elements(parley.Member(result, "tools")) {
		name, _ := parley.MemberString(tool, "name")
		found := mcp.ParamHeaders(tool)
		switch {
		case len(found) == 0:
			delete(m.tools, name)
		case len(m.tools) < maxTools:
			if m.tools == nil {
				m.tools = map[string][]mcp.ParamHeader{}
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
	for _, p := range found {
		if text, ok := p.Text(arguments); ok {
			h.Set(p.Header, mcp.EncodeHeader(text))
		}
	}
}
