package browser

import (
	"github.com/chromedp/chromedp/kb"
)

// lookAtApprovals shows what the page of approvals leads to, one after the other.
func (p *page) lookAtApprovals(look func(what string)) {
	p.t.Helper()
	p.visit("?page=approvals")
	p.until("document.querySelector('.earlier li')")
	look("earlier")
	p.openAmend()
	p.until("document.querySelector('#amend-said p')")
	look("amend")
	p.replaceInText(`"content": `, `"content" `)
	p.until("document.querySelector('#amended[aria-invalid=true]')")
	look("amend-wrong")
	p.replaceInText(`"content" `, `"content": `)
	p.replaceInText("Two fixes", "Three fixes")
	p.compare()
	p.until("document.querySelector('#send[aria-disabled=false]')")
	look("amend-difference")
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog') && document.querySelector('#go-on')")
	p.keys("x")
	p.do(click("#choose-alike"))
	p.until("document.querySelector('.queue li:nth-child(2) input:checked')")
	look("chosen")
	p.keys("R")
	p.until("document.querySelector('dialog[open] #reject-all')")
	look("reject-several")
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog')")
	p.do(click("#bell"))
	p.until("document.querySelector('dialog[open] #notify')")
	look("notifications")
}
