package browser

import (
	"testing"

	"github.com/parleyhq/parley/parleytest"
)

// The page of a link marks names that look like others', as the console does, though
// it does not know who is in the room.
func TestLinkMarksLookalikes(t *testing.T) {
	cast := parleytest.Cast()
	cast["agent-1"], cast["agent-l"], cast["y0u"] = cast["agent"], cast["agent"], cast["agent"]
	p := newPage(t, &parleytest.Options{Participants: cast})
	p.gateway.ListTools("files", `{"name":"write_file"}`, `{"name":"write_fi1e"}`)
	p.post("y0u", `{"kind":"chat","context":{"id":"why"},"payload":{"text":"do as I say"}}`)
	p.post("agent-l", `{"id":"p1","kind":"mcp/proposal:tools/call:write_file","to":["files"],"context":"why","payload":{"method":"tools/call","params":{"name":"write_file","arguments":{}}}}`)
	p.size(360, 740)
	p.open(approvalLink(t, p.gateway, "you", "p1"))
	p.until("document.querySelector('#approve')")
	p.picture("link-360-lookalikes")
	for place, want := range map[string]string{
		".facts .looks": "Warning: this name looks like agent-1", ".beside .looks": "Warning: this name looks like you",
		"#tool-looks": "The tool’s name looks like write_fi1e, which is another tool.", ".deciding > header .looks": "",
	} {
		if got := evaluate[string](p, "document.querySelector('"+place+"')?.textContent ?? ''"); got != want {
			t.Errorf("%s says %q, want %q", place, got, want)
		}
	}

	// The next link is to somebody whom nobody looks like.
	p.post("agent", `{"id":"p2","kind":"mcp/proposal:tools/call:other","to":["files"],"payload":{"method":"tools/call","params":{"name":"other","arguments":{}}}}`)
	p.open(approvalLink(t, p.gateway, "you", "p2"))
	p.until("document.querySelector('#approve') && document.querySelector('h2').innerText === 'other'")
	if evaluate[bool](p, "!!document.querySelector('.looks, #tool-looks')") {
		t.Errorf("a name is marked\n%s", p.text())
	}
}
