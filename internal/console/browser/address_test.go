package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// An address with a space that one does not have shows another one, and says so; it
// asks for nothing of the space that is not there.
func TestUnknownSpace(t *testing.T) {
	p := newPage(t, nil)
	p.signIn("you")
	p.visit("?space=d%C3%A9mo%E2%80%AE&page=approvals&proposal=p-1")
	p.live()
	p.until("document.querySelector('.strip[role=alert]')?.innerText.includes('You have no space called “démo⟨U+202E⟩”. This is “demo”.')")
	if got := evaluate[string](p, "location.search"); got != "?space=demo&page=approvals" {
		t.Errorf("the address is %s", got)
	}
	p.picture("unknown-space")
	p.do(click(".strip[role=alert] button"))
	p.until("!document.querySelector('.strip[role=alert]')")

	// Without a space in the address there is nothing to tell.
	p.visit("?page=approvals")
	p.live()
	if evaluate[bool](p, "!!document.querySelector('.strip[role=alert]')") {
		t.Error("there is a notice")
	}

	// So it is on the way back, too.
	evaluate[bool](p, "(history.pushState(null, '', '?space=other&page=people&who=x'), history.pushState(null, '', '?space=demo'), true)")
	p.do(chromedp.NavigateBack())
	p.shows("You have no space called “other”.")
	p.until("location.search === '?space=demo&page=people'")
}
