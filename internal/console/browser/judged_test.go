package browser

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/parleyhq/parley/parleytest"
)

// limited is a gateway at which boss may send this alone, and a proposal waits.
func limited(t *testing.T, capabilities ...string) (p *page, asked <-chan string) {
	cast := parleytest.Cast()
	cast["boss"] = append(capabilities, "chat")
	p = newPage(t, &parleytest.Options{Participants: cast})
	asked = p.serve()
	p.postProposal("agent", `{"name":"write_file","arguments":{"path":"a.txt"}}`)
	p.signIn("boss")
	return p, asked
}

// off waits until a button is shown as unavailable, with the reason that describes it.
func (p *page) off(button, reason string) {
	p.t.Helper()
	p.until("document.querySelector('" + button + "[aria-disabled=true]') && document.getElementById(document.querySelector('" + button + "').getAttribute('aria-describedby'))?.innerText.includes(" + inScript(reason) + ")")
}

func (p *page) on(button string) {
	p.t.Helper()
	p.until("document.querySelector('" + button + "[aria-disabled=false]') && !document.querySelector('" + button + "[aria-describedby]')")
}

const needsToCall = "no pattern matches. It takes mcp/request:tools/call:write_file."

// What one may not do is not offered, and the reason is told: on the page and in the
// dialog, for buttons and keys. What one may do is not touched by that.
func TestMayOnlyReject(t *testing.T) {
	p, _ := limited(t, "mcp/reject:*")
	p.do(click("#review"))
	p.off("#confirm", "You may not approve or amend this, the gateway says: "+needsToCall)
	p.off("#amend-instead", needsToCall)
	p.picture("may-not-review")
	p.keys("m")
	p.until("document.activeElement.id === 'amend-instead'")
	p.keys("a", kb.Enter)
	p.until("document.activeElement.id === 'confirm' && document.querySelector('dialog[open].decide')")
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog')")

	p.visit("?page=approvals")
	p.off("#approve", "You may not approve or amend this, the gateway says: "+needsToCall)
	p.off("#amend", needsToCall)
	p.on("#reject")
	p.keys("a")
	p.until("document.activeElement.id === 'approve'")
	p.keys("m")
	p.until("document.activeElement.id === 'amend' && !document.querySelector('dialog')")
	p.size(360, 740)
	p.fits("may-not-360")
	p.dark(true)
	p.picture("may-not-360-dark")
	p.size(1280, 800)
	p.picture("may-not-dark")
	if n := len(p.openProposals()); n != 1 {
		t.Errorf("%d proposals are open, want 1", n)
	}
	p.keys("r")
	p.until("document.querySelector('dialog form.reject')")
	p.keys(kb.Enter)
	p.until("document.querySelector('.outcome .badge.bad')")
}

// Who may approve and may not reject is offered to approve.
func TestMayNotReject(t *testing.T) {
	p, asked := limited(t, "mcp/request:*", "mcp/reject:*", "!mcp/reject:tools/call:write_*")
	p.visit("?page=approvals")
	p.off("#reject", "You may not reject this, the gateway says: this denial matches, and a denial wins over any number of grants: !mcp/reject:tools/call:write_*.")
	p.on("#approve")
	p.on("#amend")
	p.keys("r")
	p.until("document.activeElement.id === 'reject' && !document.querySelector('dialog')")
	p.keys("a")
	p.on("#confirm")
	p.do(click("#confirm"))
	contains(t, receive(t, asked), "a.txt")
}

// A grant and a revocation count at once, on the page and in an open dialog.
func TestMayNoMore(t *testing.T) {
	p, asked := limited(t)
	p.visit("?page=approvals")
	p.off("#approve", "You may not approve or amend this, the gateway says: "+needsToCall)
	p.off("#reject", "You may not reject this, the gateway says: no pattern matches. It takes mcp/reject:tools/call:write_file.")
	grant := `{"kind":"capability/grant","payload":{"recipient":"boss","capabilities":["mcp/request:tools/call:write_*"]}}`
	p.post("you", grant)
	p.on("#approve")
	p.on("#amend")
	p.off("#reject", "no pattern matches")
	p.keys("a")
	p.on("#confirm")
	p.post("you", `{"kind":"capability/revoke","payload":{"recipient":"boss","capabilities":["mcp/request:tools/call:write_*"]}}`)
	p.off("#confirm", "You may not approve this")
	p.keys(kb.Enter) // the button has the keyboard
	p.post("you", grant)
	p.on("#confirm")
	if n := len(p.openProposals()); n != 1 {
		t.Fatalf("%d proposals are open, want 1", n)
	}

	// It counts for what was not in sight, too.
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog')")
	p.keys("1")
	p.until("document.querySelector('.rows')")
	p.post("you", `{"kind":"capability/revoke","payload":{"recipient":"boss","capabilities":["mcp/request:tools/call:write_file"]}}`)
	p.until("[...document.querySelectorAll('.row')].some((r) => r.innerText.includes('capability/revoke') && r.innerText.includes('write_file'))")
	p.keys("2")
	p.off("#approve", "this denial matches")
	p.post("you", `{"kind":"capability/grant","payload":{"recipient":"boss","capabilities":["mcp/request:tools/call:write_*"]}}`)
	p.on("#approve")
	p.keys("a")
	p.on("#confirm")
	p.do(click("#confirm"))
	contains(t, receive(t, asked), "a.txt")
}

// Who may not make this call may be allowed another one: what was amended is judged as
// it would be sent.
func TestMayAmendAlone(t *testing.T) {
	p, asked := limited(t)
	p.post("you", `{"kind":"capability/grant","payload":{"recipient":"boss","capabilities":[{"kind":"mcp/request:tools/call","params":{"arguments":{"path":"docs/*"}}}]}}`)
	p.visit("?page=approvals")
	p.off("#approve", `You may not approve this, the gateway says: no pattern matches; this one asks for other params: {"kind":"mcp/request:tools/call","params":{"arguments":{"path":"docs/*"}}}.`)
	p.on("#amend")
	p.openAmend()
	p.compare()
	p.off("#approve-instead", "You may not approve this")
	p.replaceInText("a.txt", "b.txt")
	p.compare()
	p.off("#send", "You may not send this, the gateway says: no pattern matches; this one asks for other params")
	p.picture("may-not-amend")
	p.keys(kb.Enter)
	p.do(click("#back"))
	p.until("document.activeElement.id === 'amended'")
	p.replaceInText("b.txt", "docs/b.txt")
	p.compare()
	p.sendAmended()
	contains(t, receive(t, asked), `"path":"docs/b.txt"`)
}

// A question that is not answered, or fails, keeps nobody from anything.
func TestMayUnanswered(t *testing.T) {
	p, _ := limited(t, "mcp/reject:*")
	for _, answer := range []string{"new Promise(() => {})", "Promise.reject(new TypeError('no network'))", "Promise.resolve(new Response('{', { status: 500 }))", "Promise.resolve(new Response('null'))"} {
		p.visit("")
		p.live()
		evaluate[bool](p, `(globalThis.asked = 0, globalThis.real = fetch, globalThis.fetch = (path, o) => (String(path).endsWith("/may") ? (asked++, `+answer+`) : real(path, o)), true)`)
		p.keys("2")
		p.until("asked > 1")
		p.on("#approve")
		p.on("#reject")
		p.keys("a")
		p.on("#confirm")
	}
	p.do(click("#confirm"))
	p.until("document.querySelector('dialog .problem')?.innerText.includes('mcp/request:tools/call:write_file')") // which the gateway says
}
