package gateway

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// names are what the page of a link is told, so that it can mark those that look alike.
type names struct {
	Participants, Tools []string
}

func (h *house) names(code string, more ...string) (told names) {
	h.t.Helper()
	h.look(code, more...).ok(200).into(&told)
	return told
}

// tools lists some tools of a participant.
func (h *house) tools(participant string, tools ...string) {
	h.t.Helper()
	var all []Tool
	for _, name := range tools {
		all = append(all, Tool{name, fmt.Appendf(nil, `{"name":%q}`, name)})
	}
	if err := h.ToolsListed(h.t.Context(), "demo", participant, all); err != nil {
		h.t.Fatal(err)
	}
}

// The page of a link is told whose names look like those that it shows, whether they are
// present or not, and nobody else's; and of whom the call would ask, which tools do.
func TestLinkTellsNames(t *testing.T) {
	h := newHouse(t, func(o *Options) {
		for _, id := range []string{"fi1es", "humam", "hurnam", "hasty2", "haslty"} {
			o.Spaces[0].Rules.Participants[id] = nil
		}
	})
	h.tools("files", "write_fi1e", "write_file", "read_file", "write_f\u0456le")
	h.tools("hasty", "write_fi1e", "else") // and write_file is not on record
	h.propose("p1", `[]`)
	h.propose("p2", `["files"]`)
	h.propose("p3", `["files","agent"]`)
	h.post("human", "envelopes", `{"kind":"chat","context":{"id":"why"},"payload":{"text":"one"}}`)
	h.post("agent", "envelopes", `{"id":"p4","kind":"mcp/proposal:tools/call","to":["agent"],"context":"why","payload":`+odd+`}`)
	open, two := h.link("human", "p1"), h.link("human", "p3")
	like := []string{"write_fi1e", "write_f\u0456le"}
	for _, c := range []struct {
		told          names
		people, tools []string
	}{
		{h.names(open), []string{"fi1es", "files", "humam", "hurnam"}, nil}, // of all who may be chosen
		{h.names(open, `,"to":"hasty"`), []string{"fi1es", "files", "humam", "hurnam"}, []string{"write_fi1e"}},
		{h.names(h.link("human", "p2")), []string{"fi1es"}, like},
		{h.names(two), []string{"fi1es"}, nil},
		{h.names(two, `,"to":"files"`), []string{"fi1es"}, like},
		{h.names(two, `,"to":"hasty"`), []string{"fi1es"}, nil}, // whom nobody proposes to ask
		{h.names(h.link("human", "p4")), nil, nil},
	} {
		if !slices.Equal(c.told.Participants, c.people) || !slices.Equal(c.told.Tools, c.tools) {
			t.Errorf("it says %+v, want %q and the tools %q", c.told, c.people, c.tools)
		}
	}
	h.turnDown(open).ok(202)
	if p := h.look(open).gone(approvalUsed); p["participants"] != nil || p["tools"] != nil {
		t.Errorf("a link that was used says %v", p)
	}
}

// Who proposed, who spoke before that, and who decided meanwhile, are shown as well.
func TestLinkTellsWhoLooksLikeThem(t *testing.T) {
	h := newHouse(t, func(o *Options) {
		p := o.Spaces[0].Rules.Participants
		p["agent.1"], p["agent-1"], p["hasty.1"], p["hasty-1"], p["human.1"], p["human-1"] = p["agent"], nil, p["hasty"], nil, p["human"], nil
		for _, id := range []string{"agent.1", "hasty.1", "human.1"} {
			o.Spaces[0].Participants[id] = Participant{Tokens: []TokenHash{tokenOf(id)}}
		}
	})
	h.post("hasty.1", "envelopes", `{"kind":"chat","context":{"id":"why"},"payload":{"text":"do as I say"}}`)
	h.post("agent.1", "envelopes", `{"id":"p1","kind":"mcp/proposal:tools/call","to":["files"],"context":"why","payload":`+odd+`}`)
	code := h.link("human", "p1")
	if got := h.names(code).Participants; !slices.Equal(got, []string{"agent-1", "hasty-1"}) {
		t.Errorf("it says %q", got)
	}
	h.post("human.1", "proposals/p1/reject", `{"reason":"other"}`)
	if got := h.names(code).Participants; !slices.Equal(got, []string{"agent-1", "hasty-1", "human-1"}) {
		t.Errorf("once it is decided it says %q", got)
	}
}

// Whom a name could be taken for is found without the table of all characters, and
// rather too often.
func TestCouldBe(t *testing.T) {
	for _, c := range []struct{ all, shown, want string }{
		{"agent-1 agent-2 agent-i agent-l", "agent-l", "agent-1 agent-i"},
		{"modem modern m0dern", "modem", "modern m0dern"},
		{"vvill will w111 wi|l", "will", "vvill w111 wi|l"},
		{"a.b a-b a_b A.B ab", "a-b", "a.b a_b A.B"},
		{"files fi1es boss", "fi1es files", "files fi1es"}, // of two that are shown each looks like the other
		{"files boss", "boss files files", ""},
		{"\u0430gent agent boss", "agent", "\u0430gent"},
		{"agent boss", "\u0430gent", "agent boss"},
	} {
		if got := strings.Join(couldBe(strings.Fields(c.all), strings.Fields(c.shown)), " "); got != c.want {
			t.Errorf("of %q for %q come %q, want %q", c.all, c.shown, got, c.want)
		}
	}
}

// Of very many names that look alike no more are told than can be read.
func TestLinkTellsSoManyNames(t *testing.T) {
	var alike []string
	for i := range namesMost + 2 {
		alike = append(alike, strings.ReplaceAll(fmt.Sprintf("%011b", i), "0", "l"))
	}
	h := newHouse(t, func(o *Options) {
		for _, id := range alike {
			o.Spaces[0].Rules.Participants[id] = nil
		}
	})
	h.tools("files", alike...)
	h.post("agent", "envelopes", fmt.Sprintf(`{"id":"p1","kind":"mcp/proposal:tools/call","to":["files",%q],"payload":{"method":"tools/call","params":{"name":%[1]q}}}`, alike[0]))
	if told := h.names(h.link("human", "p1"), `,"to":"files"`); len(told.Participants) != namesMost || len(told.Tools) != namesMost {
		t.Errorf("%d and %d are told", len(told.Participants), len(told.Tools))
	}
}
