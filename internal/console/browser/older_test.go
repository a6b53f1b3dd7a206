package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
)

// Scrolling up goes on to what was said before the page began, and what is looked
// at keeps its place. A proposal from there and what became of it are one row.
func TestOlder(t *testing.T) {
	needBrowser(t)
	g := parleytest.Start(t, &parleytest.Options{Limits: parleytest.Limits{History: 60, Rate: 1e6, Burst: 1e6}})
	p := newPageAt(t, g)
	p.serve()
	agent, boss := p.join("agent"), p.join("boss")
	old := p.propose(agent, "old.txt")
	for i := range 1200 {
		p.chat(agent, fmt.Sprintf("message %d", i))
	}
	if _, err := boss.Fulfil(t.Context(), old.Envelope); err != nil {
		t.Fatal(err)
	}
	p.chat(agent, "the last one")
	p.signIn("you")
	p.shows("the last one")
	p.until("document.querySelector('.row.call .badge.good')") // whose proposal is not known yet

	evaluate[int](p, "document.querySelector('.rows').scrollTop = 0")
	p.shows("message 1150")
	p.until("document.querySelector('.row').ariaSetSize > 400 && document.querySelector('.rows').innerText.includes('message 1150')")
	p.picture("room-older")
	// On to the beginning.
	p.until("(document.querySelector('.rows').scrollTop = 0, document.querySelector('.rows').innerText.includes('old.txt'))")
	p.until("document.querySelector('.row.proposal .badge.good')")
	p.until("!document.querySelector('.older')")
	if n := evaluate[int](p, "(document.querySelector('.rows').scrollTop = 1e9, document.querySelectorAll('.row.call').length)"); n != 0 {
		t.Errorf("the call of an older proposal is still a row of its own, %d times", n)
	}
	for _, text := range []string{"message 700", "old.txt", "message 1199"} {
		p.fill("input[name=q]", text)
		p.until(fmt.Sprintf("document.querySelector('.rows').innerText.includes(%q)", text))
	}
}

// A filter by state follows what becomes of a row.
func TestStateFilter(t *testing.T) {
	p := newPage(t, nil)
	p.serve()
	agent, boss := p.join("agent"), p.join("boss")
	first, second := p.propose(agent, "first.txt"), p.propose(agent, "second.txt")
	p.signIn("you")
	p.visit("?state=open")
	p.until("document.querySelectorAll('.row').length === 2")
	if got := evaluate[string](p, "document.querySelector('select[name=state]').selectedOptions[0].innerText"); got != "waiting" {
		t.Errorf("the filter says %q", got)
	}
	reject(t, boss, first)
	p.until("document.querySelectorAll('.row').length === 1 && document.querySelector('.row').innerText.includes('second.txt')")
	p.visit("?state=rejected")
	p.until("document.querySelectorAll('.row').length === 1 && document.querySelector('.row').innerText.includes('first.txt')")
	reject(t, boss, second)
	p.until("document.querySelectorAll('.row').length === 2")
}

func reject(t *testing.T, boss *client.Room, p *client.Proposal) {
	t.Helper()
	if _, err := boss.Reject(t.Context(), p.Envelope, "policy", "no"); err != nil {
		t.Fatal(err)
	}
}

// Where the screen is narrow, a button leads to who is here, and to the threads.
func TestDrawer(t *testing.T) {
	p := newPage(t, nil)
	p.size(360, 740)
	p.join("agent")
	p.post("agent", `{"kind":"chat","context":{"id":"why-notes"},"payload":{"text":"a thought"}}`)
	p.signIn("you")
	p.shows("a thought")
	p.press("button.aside")
	p.until("document.querySelector('dialog[open] .people button')")
	p.picture("room-drawer")
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog')")
	p.press("button.aside")
	p.until("document.querySelector('dialog[open] .threads .name')")
	p.press("dialog .threads .name")
	p.until("location.search.includes('context=why-notes') && !document.querySelector('dialog')")
}

// fill puts a text into a field in place of what is there.
func (p *page) fill(field, text string) {
	p.t.Helper()
	evaluate[bool](p, fmt.Sprintf("((f) => (f.value = %q, f.dispatchEvent(new Event('input', { bubbles: true }))))(document.querySelector(%q))", text, field))
}
