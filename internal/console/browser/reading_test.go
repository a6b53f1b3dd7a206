package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// readToTheEnd presses End where a button says that there is more, until it confirms.
func (p *page) readToTheEnd(button string) {
	p.t.Helper()
	p.unread(button)
	p.keys(kb.End)
	p.until("document.querySelector('" + button + "[aria-disabled=false].primary') && document.querySelector('#to-read').innerText === 'That was all of it.'")
}

// unread waits for a button to say that there is more, to the eye and to a screen reader.
func (p *page) unread(button string) {
	p.t.Helper()
	p.until("document.querySelector('" + button + ".unread[aria-disabled=true][aria-describedby=to-read]')?.innerText.includes('Read to the end')")
	p.until("document.querySelector('#to-read[role=status]').innerText.includes('go on to its end first')")
}

// endInSight reports whether the last line of a block can be seen.
func (p *page) endInSight(block string) bool {
	p.t.Helper()
	return evaluate[bool](p, `(() => {
		const pre = document.querySelector("dialog `+block+`");
		const range = document.createRange();
		const text = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
		let last;
		while (text.nextNode()) last = text.currentNode.data.trim() ? text.currentNode : last;
		range.setStart(last, last.length - 1);
		range.setEnd(last, last.length);
		const box = range.getBoundingClientRect();
		const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
		return pre.contains(hit);
	})()`)
}

func lines(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("line %d of a long file", i))
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // strings always have one
	}
	return string(text)
}

// On a telephone an approval counts only once the last line was in sight. Until then the
// button, and its key, go on to it page by page.
func TestReadToTheEnd(t *testing.T) {
	p := newPage(t, nil)
	p.size(360, 740)
	asked := p.serve()
	p.postProposal("agent", `{"name":"write_file","arguments":{"lines":`+lines(80)+`}}`)
	p.signIn("you")
	p.visit("?page=approvals")
	p.until("document.querySelector('#approve[aria-disabled=false]')")
	p.keys("a")
	p.unread("#confirm")
	p.fits("unread-360-light")
	p.dark(true)
	p.picture("unread-360-dark")
	pages := 0
	for ; evaluate[bool](p, "!!document.querySelector('#confirm.unread')"); pages++ {
		if pages == 100 || p.endInSight(".pretty") && pages == 0 {
			t.Fatalf("after %d pages it is still unread", pages)
		}
		p.keys(kb.Enter)
		evaluate[bool](p, "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))")
	}
	if pages < 3 || !p.endInSight(".pretty") {
		t.Errorf("it is read after %d pages", pages)
	}
	p.until("document.querySelector('#confirm[aria-disabled=false]')?.innerText.startsWith('Approve and run')")
	p.picture("read-360-dark")
	if n := len(p.openProposals()); n != 1 {
		t.Fatalf("%d proposals are open, want 1", n)
	}

	// A key that is held down goes on, and confirms nothing.
	held := "document.querySelector('#confirm').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', repeat: true, bubbles: true, cancelable: true }))"
	if evaluate[bool](p, held) {
		t.Error("a key that is held down confirms")
	}
	p.keys(kb.Enter)
	contains(t, receive(t, asked), "line 79 of a long file")
}

// In the review of the room it is the same, by clicks and by its key.
func TestReadToTheEndInReview(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	p.postProposal("agent", `{"name":"write_file","arguments":{"lines":`+lines(300)+`}}`)
	p.signIn("you")
	p.do(click("#review"))
	p.unread("#confirm")
	p.picture("unread-1280-light")
	p.dark(true)
	p.picture("unread-1280-dark")
	top := "document.querySelector('dialog .pretty').scrollTop"
	for _, press := range []func(){
		func() { p.do(click("#confirm")) },
		func() { p.keys("a") },
		func() { p.keys(kb.PageDown) },
	} {
		before := evaluate[float64](p, top)
		press()
		p.until(fmt.Sprintf("%s > %v", top, before))
		p.unread("#confirm")
	}
	p.readToTheEnd("#confirm")
	if !p.endInSight(".pretty") {
		t.Error("the last line is out of sight")
	}
	if n := len(p.openProposals()); n != 1 {
		t.Fatalf("%d proposals are open, want 1", n)
	}
	p.do(click("#confirm"))
	contains(t, receive(t, asked), "line 299 of a long file")
}

// What fits is in sight at once: on a telephone, too, a short call takes two clicks.
func TestShortCallOnATelephone(t *testing.T) {
	p := newPage(t, nil)
	p.size(360, 740)
	asked := p.serve()
	p.propose(p.join("agent"), "notes/release.md")
	p.signIn("you")
	p.until("document.querySelector('#review')")
	evaluate[bool](p, `(globalThis.wasUnread = false, new MutationObserver(() => (globalThis.wasUnread ||= !!document.querySelector('.unread'))).observe(document, { subtree: true, childList: true, attributes: true }), true)`)
	p.do(click("#review"))
	p.until("document.querySelector('#confirm[aria-disabled=false]')")
	p.do(click("#confirm"))
	contains(t, receive(t, asked), "notes/release.md")
	if evaluate[bool](p, "wasUnread") {
		t.Error("it was to be read to an end that was in sight")
	}
}

// A megabyte, of which a part is shown: End shows it whole, and its end.
func TestReadMegabyte(t *testing.T) {
	p := newPage(t, nil)
	p.size(360, 740)
	asked := p.serve()
	p.postProposal("agent", `{"name":"write_file","arguments":{"lines":`+lines(20_000)+`,"text":"`+strings.Repeat("W", 400_000)+`","zz":1}}`)
	p.signIn("you")
	p.visit("?page=approvals")
	p.until("document.querySelector('#approve[aria-disabled=false]')")
	p.keys("a")
	p.unread("#confirm")
	p.shows("Only the first")
	p.readToTheEnd("#confirm")
	if !p.endInSight(".pretty") || !evaluate[bool](p, `document.querySelector("dialog .pretty").textContent.endsWith('"zz": 1\n}')`) {
		t.Error("the end is out of sight")
	}
	p.noMarkup()
	p.picture("megabyte-360")
	p.keys(kb.Enter)
	contains(t, receive(t, asked), `"zz":1}`)
}

// What the call carries beside its arguments is shown as well, and has an end of its own.
func TestReadBeside(t *testing.T) {
	p := newPage(t, nil)
	p.size(360, 740)
	asked := p.serve()
	p.postProposal("agent", `{"name":"write_file","_meta":{"n":12345678901234567890,"lines":`+lines(60)+`},"arguments":{"path":"a.txt"}}`)
	p.signIn("you")
	p.visit("?page=approvals")
	p.until("document.querySelector('#approve[aria-disabled=false]')")
	p.keys("a")
	p.unread("#confirm")
	if !p.endInSight(".pretty") {
		t.Error("the arguments are out of sight")
	}
	contains(t, evaluate[string](p, "document.querySelector('dialog .rest').textContent"), `"n": 12345678901234567890`)
	p.readToTheEnd("#confirm")
	if !p.endInSight(".rest") {
		t.Error("the end is out of sight")
	}
	p.keys(kb.Enter)
	contains(t, receive(t, asked), "line 59 of")
}

// What one amends without having been at its end is to be read as it will be sent; what
// one has seen while one edited it is not.
func TestReadAmended(t *testing.T) {
	p := newPage(t, nil)
	p.size(360, 740)
	asked := p.serve()
	p.postProposal("agent", `{"name":"write_file","arguments":{"a":1,"lines":`+lines(150)+`}}`)
	p.signIn("you")
	p.visit("?page=approvals")
	p.openAmend()
	p.replaceInText(`"a": 1`, `"a": 2`)
	p.compare()
	p.unread("#send")
	p.picture("unread-amend-360")
	p.keys(kb.Enter)
	p.unread("#send")
	p.readToTheEnd("#send")
	if !p.endInSight(".sent") {
		t.Error("the end is out of sight")
	}
	p.picture("read-amend-360")
	p.do(click("#back"))
	p.until("document.activeElement?.id === 'amended'")
	evaluate[bool](p, "(document.activeElement.scrollTop = 1e6, true)")
	evaluate[bool](p, "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))")
	p.compare()
	p.until("document.querySelector('#send[aria-disabled=false]') && !document.querySelector('details.exact[open] .sent')")
	p.sendAmended()
	contains(t, receive(t, asked), `"a":2`)
}

// By a link it is the same.
func TestReadLinked(t *testing.T) {
	p := newPage(t, nil)
	p.size(360, 740)
	asked := p.serve()
	p.post("agent", `{"id":"long-1","kind":"mcp/proposal:tools/call:write_file","to":["files"],"payload":{"method":"tools/call","params":{"name":"write_file","arguments":{"lines":`+lines(80)+`}}}}`)
	p.open(approvalLink(t, p.gateway, "you", "long-1"))
	p.do(click("#approve"))
	p.unread("#confirm")
	p.do(click("#confirm"))
	p.readToTheEnd("#confirm")
	if !p.endInSight(".pretty") {
		t.Error("the last line is out of sight")
	}
	p.do(click("#confirm"))
	contains(t, receive(t, asked), "line 79 of a long file")
}

// As long as the browser has not said what is in sight, nothing counts.
func TestReadUnknown(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	p.propose(p.join("agent"), "a.txt")
	p.signIn("you")
	p.until("document.querySelector('#review')")
	evaluate[bool](p, `(globalThis.IntersectionObserver = class {
		constructor(told) { this.told = told; }
		observe(target) { globalThis.report = () => this.told([{ target, intersectionRatio: 1 }]); }
	}, true)`)
	p.do(click("#review"))
	p.until("globalThis.report && document.querySelector('#confirm')")
	evaluate[bool](p, `(async () => {
		const now = performance.now() + 60_000; // a click counts by now
		performance.now = () => now;
		document.querySelector('#confirm').click();
		await fetch("/healthz"); // which comes after what the click may have sent
		return true;
	})()`)
	if n := len(p.openProposals()); n != 1 {
		t.Fatalf("%d proposals are open, want 1", n)
	}
	evaluate[bool](p, "(report(), true)")
	p.until("document.querySelector('#confirm[aria-disabled=false]')")
	p.do(click("#confirm"))
	contains(t, receive(t, asked), "a.txt")
}
