package browser

import (
	"runtime"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parleyhq/parley/client"
)

// A call whose tool changed since it was proposed can only be rejected, which is told
// as it happens, on the page and in a dialog that is open.
func TestToolChangedSinceProposed(t *testing.T) {
	p := newPage(t, nil)
	p.serve()
	p.gateway.ListTools("files", `{"name":"write_file","description":"writes"}`)
	proposal := p.propose(p.join("agent"), "a.txt")
	p.signIn("you")
	p.visit("?page=approvals")
	p.live()
	p.until("document.querySelector('#approve')")
	p.keys("a")
	p.until("document.querySelector('dialog[open] #confirm[aria-disabled=false]')")

	p.gateway.ListTools("files", `{"name":"write_file","description":"writes and mails"}`)
	p.until("document.querySelector('dialog[open] #stale') && !document.querySelector('#confirm, #approve, #amend')")
	p.until("document.activeElement.closest('dialog .buttons')")
	p.shows(`"writes" → "writes and mails"`)
	p.picture("changed-since")

	p.gateway.ListTools("files", `{"name":"write_file","description":"writes"}`)
	p.until("document.querySelector('dialog[open] #confirm') && !document.querySelector('#stale')")
	p.gateway.ListTools("files", `{"name":"write_file","description":"writes and mails"}`)
	p.until("document.querySelector('dialog[open] #reject-instead')")
	p.do(chromedp.Click("#reject-instead"), chromedp.WaitVisible("dialog form.reject"), chromedp.Click("dialog button[type=submit]"))
	if outcome, err := proposal.Wait(t.Context()); err != nil || outcome.Reason != "disagree" {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// A tool that changes again while the page looks at what it was before is looked at
// again, and an answer that comes late does not count.
func TestToolChangesWhileLookedAt(t *testing.T) {
	p := newPage(t, nil)
	p.serve()
	p.gateway.ListTools("files", `{"name":"write_file","description":"writes"}`)
	p.propose(p.join("agent"), "a.txt")
	p.signIn("you")
	p.visit("?page=approvals")
	p.live()
	p.until("document.querySelector('#approve')")
	p.keys("a")
	p.until("document.querySelector('dialog[open] #confirm[aria-disabled=false]')")
	p.gateway.ListTools("files", `{"name":"write_file","description":"writes and mails"}`)
	p.shows(`"writes" → "writes and mails"`)
	p.until("document.querySelector('dialog[open] #stale') && !document.querySelector('#confirm')")

	evaluate[bool](p, `(() => {
		const real = window.fetch;
		Object.assign(window, { holding: true, held: [], passed: 0 });
		const released = new Promise((release) => (window.release = release));
		window.fetch = async (path, options) => {
			const late = window.holding && /\/(may|tools)(\?|$)/.test(path);
			const answer = real(path, options);
			if (late) {
				window.held.push(answer);
				await Promise.all([answer, released]);
			}
			answer.then(() => late || window.passed++);
			return answer;
		};
		return true;
	})()`)
	p.gateway.ListTools("files", `{"name":"write_file","description":"writes"}`)
	p.until("window.held.length > 2") // one look is under way: the tool, and what one may do
	evaluate[bool](p, "Promise.all(window.held).then(() => !(window.holding = false))")
	p.gateway.ListTools("files", `{"name":"write_file","description":"writes and mails"}`)
	p.until("window.passed > 2")
	evaluate[bool](p, "window.release(), new Promise((seen) => setTimeout(() => requestAnimationFrame(() => seen(true)), 100))")
	if !evaluate[bool](p, "!!document.querySelector('dialog[open] #stale') && !document.querySelector('#confirm')") {
		t.Errorf("it may be approved after it changed\n%s", p.text())
	}
}

// The keyboard goes on where what had it is gone, and what came of a call is told.
func TestKeyboardAfterApproval(t *testing.T) {
	p := newPage(t, nil)
	p.serve()
	p.propose(p.join("agent"), "a.txt")
	p.signIn("you")
	p.until("document.querySelector('#review')")
	evaluate[bool](p, "document.querySelector('#review').focus(), true")
	p.keys(kb.Enter)
	p.until("document.querySelector('dialog[open] #confirm[aria-disabled=false]')")
	p.do(chromedp.Click("#confirm"))
	p.until("document.querySelector('[role=status] .followed .badge.good') && document.querySelector('.followed').innerText.includes('wrote it')")
	p.until("!document.querySelector('#review, dialog') && document.activeElement.matches('.rows')")
	p.picture("approved")
}

// What was decided last stands first, whatever was proposed first.
func TestEarlierDecisionsByTime(t *testing.T) {
	p := newPage(t, nil)
	p.serve()
	agent, boss := p.join("agent"), p.join("boss")
	first, second := p.propose(agent, "first.txt"), p.propose(agent, "second.txt")
	for _, one := range []*client.Proposal{second, first} {
		if _, err := boss.Reject(t.Context(), one.Envelope, "unsafe", one.Envelope.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := one.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for now := time.Now().UnixMilli(); time.Now().UnixMilli() == now; {
			runtime.Gosched() // so that the next one is later, in whole milliseconds
		}
	}
	p.propose(agent, "third.txt")
	p.signIn("you")
	p.visit("?page=approvals")
	p.until("document.querySelectorAll('.earlier li').length === 2")
	contains(t, evaluate[string](p, "document.querySelector('.earlier li').innerText"), first.Envelope.ID)
}

// A search for nothing in particular leaves out who comes and goes.
func TestSearchWithoutPresence(t *testing.T) {
	p := newPage(t, nil)
	p.chat(p.join("agent"), "hello there")
	p.signIn("you")
	p.visit("?page=search")
	p.live()
	p.shows("hello there")
	if evaluate[bool](p, "document.querySelector('#main').innerText.includes('joined')") {
		t.Error("it lists who joined")
	}
}
