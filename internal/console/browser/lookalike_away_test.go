package browser

import (
	"testing"

	"github.com/parleyhq/parley/parleytest"
)

// A name that looks like another's is marked while the other is away, too; and a dialog
// goes with the page below it.
func TestLookalikeOfSomebodyAway(t *testing.T) {
	cast := parleytest.Cast()
	cast["agent-1"], cast["agent-l"] = cast["agent"], cast["agent"]
	p := newPage(t, &parleytest.Options{Participants: cast})
	p.propose(p.join("agent-l"), "a.txt")
	p.signIn("you")
	p.visit("?page=approvals")
	p.live()
	p.until("document.querySelector('.queue .card')?.innerText.includes('looks like agent-1')")
	p.keys("1")
	p.until("document.querySelector('#review')")
	p.keys("2")
	p.until("document.querySelector('#approve')")
	p.keys("a")
	p.until("document.querySelector('dialog[open] #confirm')")
	evaluate[bool](p, "history.back(), true")
	p.until("document.querySelector('.rows') && !document.querySelector('dialog')")
}
