package browser

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// Everything has a name: Ctrl K, a part of it, Enter.
func TestPalette(t *testing.T) {
	p := newPage(t, nil)
	p.dark(false)
	p.signIn("you")
	p.openPalette("to appr")
	p.shows("Go to Approvals")
	p.keys(kb.Enter)
	p.until("location.search.includes('page=approvals') && !document.querySelector('dialog')")
	p.openPalette("oldest")
	p.until("document.querySelectorAll('.command').length === 1") // a command of this page
	p.closeDialog()
	p.openPalette("verify")
	p.keys(kb.Enter)
	p.until("document.querySelector('dialog[open] .verify')")
	p.closeDialog()
	p.openPalette("no such thing")
	p.shows("No command is named so.")
}
