package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// axe-core finds nothing where one may not decide, or not yet.
func TestAccessibleDecisions(t *testing.T) {
	check := axe(t)
	p, _ := limited(t, "mcp/reject:*")
	you := newPageAt(t, p.gateway)
	you.postProposal("agent", `{"name":"write_file","_meta":{"lines":`+lines(60)+`},"arguments":{"lines":`+lines(80)+`}}`)
	you.signIn("you")
	for _, dark := range []bool{false, true} {
		for _, width := range []int64{1280, 360} {
			name := fmt.Sprint(width, " dark: ", dark)
			for _, one := range []*page{p, you} {
				one.dark(dark)
				one.size(width, 800)
				one.visit("?page=approvals")
				one.until("document.querySelector('.queue li:nth-child(2)')")
			}
			p.off("#approve", "You may not approve")
			check(p, "may not, "+name)
			you.do(click(".queue li:nth-child(2) .card"))
			you.until("document.querySelector('.detail .rest')")
			you.keys("a")
			you.unread("#confirm")
			check(you, "unread, "+name)
			you.keys(kb.Escape)
			you.until("!document.querySelector('dialog')")
		}
	}
}
