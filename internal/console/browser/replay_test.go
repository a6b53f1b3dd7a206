package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// A thread plays again: by keys, by steps, from a place that can be linked, with what
// is nested in it.
func TestReplay(t *testing.T) {
	p := busy(t)
	for i := range 12 {
		p.post("agent", fmt.Sprintf(`{"id":"thought-%d","kind":"reflection","context":{"id":"plan-1"},"payload":{"thought":"thought %d of the plan"}}`, i, i))
	}
	p.post("agent", `{"id":"nested-1","kind":"reflection","context":{"id":"deeper","parent":"plan-1"},"payload":{"thought":"nested <b>`+"\u202e"+`"}}`)
	p.signIn("you")
	p.visit("?page=search&view=replay&context=plan-1")
	said := func(n int) {
		t.Helper()
		p.until(fmt.Sprintf("document.querySelectorAll('.played .said').length === %d", n))
	}
	p.shows("1 of 12")
	said(1)
	p.keys(kb.ArrowRight, kb.ArrowRight)
	p.shows("3 of 12")
	said(3)
	p.keys(kb.ArrowLeft)
	p.shows("2 of 12")
	p.until("location.search.includes('at=')")
	p.keys("+", "+", "+")
	p.until("document.querySelector('.speeds [aria-pressed=true]').innerText === '8×'")
	p.keys(" ")
	p.until("document.querySelector('#play').innerText.startsWith('Pause')")
	said(12) // it plays to the end
	p.until("document.querySelector('#play').innerText.startsWith('Play')")
	p.picture("replay")

	evaluate[bool](p, "((f) => (f.value = 4, f.dispatchEvent(new Event('input', { bubbles: true }))))(document.querySelector('input[name=seek]'))")
	p.shows("5 of 12")
	p.visit(evaluate[string](p, "location.search"))
	p.shows("5 of 12")
	said(5)

	p.press("input[name=subtree]")
	p.shows("1 of 13")
	p.until("location.search.includes('subtree=true')")
	evaluate[bool](p, "((f) => (f.value = 12, f.dispatchEvent(new Event('input', { bubbles: true }))))(document.querySelector('input[name=seek]'))")
	p.shows("nested <b>⟨U+202E⟩")
	p.noMarkup()
	p.capture()
	evaluate[bool](p, "([...document.querySelectorAll('.heading button')].find((b) => b.innerText === 'Export').click(), true)")
	name, text := p.saved()
	contains(t, name, "demo-thread-plan-1-")
	lines := strings.SplitAfter(text, "\n")
	if len(lines) != 14 || lines[12] != p.onRecord("nested-1") {
		t.Errorf("%d lines, the last is %s", len(lines), lines[max(0, len(lines)-2)])
	}
	p.size(360, 740)
	p.picture("replay-360")
	p.noMarkup()
	p.visit("?page=search&view=replay&context=nothing")
	p.until("document.querySelector('.past .problem')?.innerText.includes('nothing')")
}
