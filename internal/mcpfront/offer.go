package mcpfront

import (
	"strings"
	"sync"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcp"
)

// Offer is what a server has to offer, each entry as it was sent. It must not
// be changed, and is not copied.
type Offer struct {
	Info      jsontext.Value // the result of initialize or server/discover
	Tools     []jsontext.Value
	Resources []jsontext.Value
	Templates []jsontext.Value
	Prompts   []jsontext.Value

	index sync.Once
	own   [4]map[string]*entry // by section and their own names
	named [4]map[string]*entry // by section and their names in the shared endpoint
	lists [4][]*entry          // by section
}

// section is one of the lists.
type section int

const (
	sectionTools section = iota
	sectionResources
	sectionTemplates
	sectionPrompts
)

// sections says how each list is called, and what the entries are asked for by.
var sections = [...]struct {
	member string // of the list's result
	key    string // what names an entry
	method string // what asks for one
}{
	sectionTools:     {"tools", "name", "tools/call"},
	sectionResources: {"resources", "uri", "resources/read"},
	sectionTemplates: {"resourceTemplates", "uriTemplate", "resources/read"},
	sectionPrompts:   {"prompts", "name", "prompts/get"},
}

// entry is one tool, resource, template or prompt of a server.
type entry struct {
	server  string
	section section
	own     string            // its name or URI at the server
	shared  string            // in the shared endpoint
	raw     jsontext.Value    // as the server sent it
	headers []mcp.ParamHeader // of a tool

	mu    sync.Mutex
	shown [3][2]jsontext.Value // in the shared endpoint, by need and whether results are cut
}

// need is whether calling it needs approval.
type need int

const (
	needsNothing need = iota
	mayNeedApproval
	needsApproval
)

// entries are those of a section, in the server's order.
func (o *Offer) entries(server string, s section) []*entry {
	o.index.Do(func() { o.build(server) })
	return o.lists[s]
}

// find finds an entry by its own name or, in the shared endpoint, by the name
// that it has there.
func (o *Offer) find(server string, s section, name string, shared bool) *entry {
	o.index.Do(func() { o.build(server) })
	if shared {
		return o.named[s][name]
	}
	return o.own[s][name]
}

func (o *Offer) build(server string) {
	for s, raws := range [...][]jsontext.Value{o.Tools, o.Resources, o.Templates, o.Prompts} {
		o.own[s], o.named[s] = make(map[string]*entry, len(raws)), make(map[string]*entry, len(raws))
		for _, raw := range raws {
			e := &entry{server: server, section: section(s), raw: raw}
			var ok bool
			if e.own, ok = parley.MemberString(raw, sections[s].key); !ok || !nameable(e.own) || o.own[s][e.own] != nil {
				continue // of two that nobody can tell apart the first counts
			}
			e.shared = sharedURI(server, e.own)
			if section(s) == sectionTools || section(s) == sectionPrompts {
				e.shared = sharedName(server, e.own)
			}
			if section(s) == sectionTools {
				e.headers = mcp.ParamHeaders(raw)
			}
			o.own[s][e.own], o.named[s][e.shared] = e, e
			o.lists[s] = append(o.lists[s], e)
		}
	}
}

// nameable reports whether a name can stand in a kind, as whatever is asked for
// does.
func nameable(name string) bool {
	return name != "" && len(name) <= parley.MaxKind-64 && strings.IndexFunc(name, unicode.IsControl) < 0
}

// show is the entry as the shared endpoint lists it: under its shared name, its
// origin in title and _meta, and what needs approval says so. Where its results
// may be cut, cut is 1.
func (e *entry) show(n need, cut int) jsontext.Value {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shown[n][cut] == nil {
		e.shown[n][cut] = e.compose(n)
		if cut > 0 { // a head of what it promises would not fit it
			e.shown[n][cut] = mcp.DropMember(e.shown[n][cut], "outputSchema")
		}
	}
	return e.shown[n][cut]
}

func (e *entry) compose(n need) jsontext.Value {
	raw := mcp.SetMember(e.raw, sections[e.section].key, mcp.Quote(e.shared))
	raw = mcp.SetMember(raw, "title", mcp.Quote(e.title()+" ("+e.server+")"))
	raw = mcp.SetMeta(raw, mcp.MetaOrigin, mcp.Quote(e.server))
	if n == needsNothing {
		return raw
	}
	how, note := "required", "Needs approval: the call waits until somebody in the room has decided."
	if n == mayNeedApproval {
		how, note = "possible", "With some arguments it needs approval: the call then waits until somebody in the room has decided."
	}
	text, _ := parley.MemberString(e.raw, "description")
	raw = mcp.SetMember(raw, "description", mcp.Quote(strings.TrimSpace(text+"\n\n"+note)))
	raw = mcp.SetMeta(raw, mcp.MetaApproval, mcp.Quote(how))
	// What is returned while a call waits would not fit the schema.
	return mcp.DropMember(raw, "outputSchema")
}

func (e *entry) title() string {
	if title, _ := parley.MemberString(e.raw, "title"); title != "" {
		return title
	}
	if title, _ := parley.MemberString(member(e.raw, "annotations"), "title"); title != "" {
		return title
	}
	if name, _ := parley.MemberString(e.raw, "name"); name != "" {
		return name
	}
	return e.own
}
