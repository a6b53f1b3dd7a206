package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/parleyhq/parley/parleytest"
)

// axe-core finds nothing on any page, in light and dark, wide and narrow.
func TestAccessible(t *testing.T) {
	check := axe(t)
	cast := parleytest.Cast()
	cast["agent"] = append(cast["agent"], "reflection")
	p := newPage(t, &parleytest.Options{Participants: cast})
	look := func(what string) {
		t.Helper()
		check(p, what)
	}
	p.visit("")
	p.do(chromedp.WaitVisible("#token"))
	look("sign in")
	p.furnish()
	p.signIn("you")
	for _, dark := range []bool{false, true} {
		for _, width := range []int64{1280, 360} {
			p.dark(dark)
			p.size(width, 800)
			p.visit("")
			p.live()
			p.until("document.querySelector('#review')")
			look("room")
			p.do(click("#review"))
			p.until("document.querySelector('#confirm[aria-disabled=false]')")
			look("review")
			p.visit("?page=approvals")
			p.until("document.querySelector('.beside li')")
			look("approvals")
			p.keys("r")
			p.until("document.querySelector('form.reject')")
			look("reject")
			p.lookAtShell(look)
			p.lookAtApprovals(look)
			p.lookAtPeople(look)
			p.lookAtHealth(look)
			p.lookAtPast(look)
			p.lookAtForms(look)
		}
	}
}
