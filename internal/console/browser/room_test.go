package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// count is how often a text stands in the rows.
func (p *page) count(text string) int {
	p.t.Helper()
	return evaluate[int](p, fmt.Sprintf("[...document.querySelectorAll('.row .body')].filter((e) => e.innerText.trim() === %q).length", text))
}

// After the gateway was restarted nothing is lost and nothing doubled.
func TestReconnect(t *testing.T) {
	p := newPage(t, nil)
	p.size(1280, 2400)
	p.signIn("you")
	agent := p.join("agent")
	for i := range 10 {
		p.chat(agent, fmt.Sprintf("message %d", i))
	}
	p.shows("message 9")

	p.gateway.Stop()
	p.until("document.querySelector('.link.waiting, .link.connecting')")
	p.gateway.Restart()
	boss := p.join("boss")
	for i := 10; i < 20; i++ {
		p.chat(boss, fmt.Sprintf("message %d", i))
	}
	p.live()
	p.shows("message 19")
	for i := range 20 {
		if n := p.count(fmt.Sprintf("message %d", i)); n != 1 {
			t.Errorf("message %d is shown %d times", i, n)
		}
	}
	if p.count("gap") > 0 {
		t.Error("a gap is told where none is")
	}
}

// A call and its answer are one row, a thread can be folded, and a filter stands
// in the address.
func TestThreadsAndFilters(t *testing.T) {
	p := newPage(t, nil)
	p.serve()
	p.signIn("you")
	agent := p.join("agent")
	for i := range 4 {
		p.chat(agent, fmt.Sprintf("aside %d", i))
		p.post("agent", fmt.Sprintf(`{"kind":"chat","context":{"id":"why-notes","type":"reasoning"},"payload":{"text":"thought %d"}}`, i))
	}
	boss := p.join("boss")
	if _, err := boss.Request(t.Context(), "files", "tools/call", writeFile{"write_file", map[string]any{"path": "x"}}); err != nil {
		t.Fatal(err)
	}
	p.until("document.querySelector('.row.call .badge.good')")
	if n := evaluate[int](p, "document.querySelectorAll('.row.call, .row.answer').length"); n != 1 {
		t.Errorf("a call and its answer are %d rows", n)
	}
	p.shows("thought 3")
	p.picture("room")

	p.do(click(".threads .fold"))
	p.until("!document.querySelector('.rows').innerText.includes('thought 3')")
	p.shows("thought 0")
	p.do(click(".threads .fold"))
	p.shows("thought 3")

	p.do(click(".threads .name"))
	p.until("location.search.includes('context=why-notes')")
	p.until("!document.querySelector('.rows').innerText.includes('aside')")
	p.visit("?space=demo&q=aside+2")
	p.live()
	p.shows("aside 2")
	if rows := evaluate[int](p, "document.querySelectorAll('.row').length"); rows != 1 {
		t.Errorf("a filter from the address shows %d rows, want 1", rows)
	}
}

// Who reads what was said before is not moved away from it.
func TestNewBelow(t *testing.T) {
	p := newPage(t, nil)
	p.signIn("you")
	agent := p.join("agent")
	for i := range 60 {
		p.chat(agent, fmt.Sprintf("message %d", i))
	}
	p.shows("message 59")
	evaluate[int](p, "document.querySelector('.rows').scrollTop = 0")
	p.shows("message 0")
	for i := range 12 {
		p.chat(agent, fmt.Sprintf("later %d", i))
	}
	p.until("document.querySelector('.fresh')?.innerText.startsWith('12 new')")
	if top := evaluate[int](p, "document.querySelector('.rows').scrollTop"); top != 0 {
		t.Errorf("the list moved to %d", top)
	}
	p.picture("room-new-below")
	p.do(click(".fresh"))
	p.shows("later 11")
	p.until("!document.querySelector('.fresh')")
}

// Everything can be done without a mouse.
func TestKeyboardOnly(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	agent := p.join("agent")
	p.propose(agent, "first.txt")
	second := p.propose(agent, "second.txt")
	p.visit("")
	p.until("document.activeElement?.id === 'token'")
	p.picture("sign-in")
	p.keys(strings.Split(p.gateway.Token("you"), "")...)
	p.keys(kb.Enter)
	p.live()

	p.keys("?")
	p.until("document.querySelector('dialog[open] .keys')")
	p.picture("keys")
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog')")

	p.keys("2")
	p.until("document.querySelector('#approve')")
	p.shows("first.txt")
	p.keys("a")
	p.until("document.activeElement?.id === 'confirm' && document.activeElement.ariaDisabled === 'false'")
	p.picture("confirm")
	p.keys(kb.Enter)
	contains(t, receive(t, asked), "first.txt")
	p.until("document.querySelector('.outcome .badge.good')")

	p.keys("n")
	p.until("document.querySelector('.pretty')?.innerText.includes('second.txt') && document.querySelector('#reject')")
	p.keys("r")
	p.until("document.activeElement?.name === 'message'")
	p.keys(strings.Split("no", "")...)
	p.keys(kb.Enter)
	if outcome, err := second.Wait(t.Context()); err != nil || outcome.Message != "no" {
		t.Errorf("%+v, %v", outcome, err)
	}

	p.until("!document.querySelector('dialog')")
	p.keys("n")
	p.shows("All is decided.")
	p.keys("1")
	p.until("document.querySelector('.rows')")
	p.keys("k", kb.Enter)
	p.until("document.querySelector('dialog.message')")
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog')")
	p.keys("/")
	p.until("document.activeElement?.name === 'q'")
}

// A link signs in once, and its code leaves the address.
func TestLink(t *testing.T) {
	p := newPage(t, nil)
	code := p.signInCode("you")
	p.visit("#code=" + code)
	p.live()
	if hash := evaluate[string](p, "location.hash"); hash != "" {
		t.Errorf("the code stays in the address: %s", hash)
	}
	other := newPageAt(t, p.gateway)
	other.visit("#code=" + code)
	other.shows("That link was used before")
	if hash := evaluate[string](other, "location.hash"); hash != "" {
		t.Errorf("the code stays in the address: %s", hash)
	}
	other.picture("stale-link")
}

func TestSignOut(t *testing.T) {
	p := newPage(t, nil)
	p.signIn("you")
	p.visit("")
	p.live() // the cookie signs in
	p.do(click(".bar button:last-child"), click("#sign-out"), chromedp.WaitVisible("#token"))
	p.visit("")
	p.do(chromedp.WaitVisible("#token"))
	if text := evaluate[string](p, "document.body.innerText"); strings.Contains(text, "demo") {
		t.Errorf("who is signed out still sees: %s", text)
	}
}

// Signing out everywhere ends what is open in another browser.
func TestSignOutEverywhere(t *testing.T) {
	p := newPage(t, nil)
	p.signIn("you")
	lost := newPageAt(t, p.gateway)
	lost.signIn("you")
	p.do(click(".bar button:last-child"), click("#sign-out-everywhere"), chromedp.WaitVisible("#token"))
	lost.do(chromedp.WaitVisible("#token"))
}
