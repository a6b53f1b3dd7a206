package browser

import (
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// lookAtShell shows the dialogs that each page has, one after another.
func (p *page) lookAtShell(look func(what string)) {
	p.t.Helper()
	p.visit("")
	p.live()
	p.until("document.querySelector('#review')")
	p.openPalette("")
	p.until("document.querySelectorAll('.command').length > 10")
	look("palette")
	p.do(chromedp.SendKeys("#palette", "no such thing"))
	p.shows("No command is named so.")
	look("palette-empty")
	p.closeDialog()
	p.openPalette("sign out")
	p.keys(kb.Enter)
	p.until("document.querySelector('dialog[open] #sign-out-everywhere')")
	look("sign-out")
	p.closeDialog()
	p.keys("?")
	p.until("document.querySelector('dialog[open] .keys')")
	look("keys")
	p.closeDialog()
}

// openPalette has words written in the palette of commands.
func (p *page) openPalette(words string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.until("document.activeElement.id === 'palette'")
	if words != "" {
		p.do(chromedp.SendKeys("#palette", words))
	}
}

func (p *page) closeDialog() {
	p.t.Helper()
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog')")
}
