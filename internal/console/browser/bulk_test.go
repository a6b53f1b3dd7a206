package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
)

// castOfTwo has a second agent, and an agent that is you.
func castOfTwo() *parleytest.Options {
	cast := parleytest.Cast()
	cast["bot"] = cast["agent"]
	return &parleytest.Options{Participants: cast}
}

func (p *page) waiting(n int) {
	p.t.Helper()
	p.until(fmt.Sprintf("document.querySelectorAll('.queue li').length === %d", n))
}

// wantChosen waits until exactly these are chosen, an x each.
func (p *page) wantChosen(what, want string) {
	p.t.Helper()
	p.t.Log(what)
	p.until("[...document.querySelectorAll('.queue li')].map((li) => li.querySelector('input')?.checked ? 'x' : '.').join('') === '" + want + "'")
}

// Several are chosen by keys and by the mouse, and rejected for one reason.
func TestRejectSeveral(t *testing.T) {
	p := newPage(t, castOfTwo())
	agent, bot := p.join("agent"), p.join("bot")
	var proposals []*client.Proposal
	for i := range 4 {
		proposals = append(proposals, p.propose(agent, fmt.Sprintf("notes/%d.md", i)))
	}
	for i := range 2 {
		proposals = append(proposals, p.propose(bot, fmt.Sprintf("bot/%d.md", i)))
	}
	p.postProposal("you", `{"name":"write_file","arguments":{"own":true}}`)
	p.signIn("you")
	p.keys("2")
	p.waiting(7)

	p.until("document.querySelector('#approve')")
	p.keys("x")
	p.wantChosen("x", "x......")
	p.keys("j", "j")
	p.until("document.querySelector('.queue li:nth-child(3) .current')")
	p.keys("X")
	p.wantChosen("a range by key", "xxx....")
	p.keys("x")
	p.wantChosen("let go", "xx.....")
	evaluate[bool](p, "(document.querySelector('.queue li:nth-child(5) input').click(), true)")
	p.wantChosen("by mouse", "xx..x..")
	evaluate[bool](p, "document.querySelector('.queue li:nth-child(6) input').dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: true }))")
	p.wantChosen("a range by mouse", "xx..xx.")
	p.do(click("#choose-none"))
	p.wantChosen("none", ".......")
	p.keys("j", "j", "j", "x") // the one of its own cannot be chosen, and is no end of a range
	p.until("document.querySelector('.queue li:nth-child(6) .current')")
	p.wantChosen("one of the bot", ".....x.")
	p.do(click("#choose-from"))
	p.wantChosen("all of the bot", "....xx.")
	p.do(click("#choose-alike"))
	p.wantChosen("all alike", "xxxxxx.")
	if !evaluate[bool](p, "document.querySelector('.queue li:nth-child(7) input').disabled") {
		t.Error("the proposal of one's own can be chosen")
	}
	p.picture("bulk-chosen")

	p.keys("R")
	p.until("document.querySelector('dialog[open] #reject-all')?.innerText.includes('6')")
	p.until("document.querySelectorAll('.bulk li').length === 6")
	p.picture("bulk-dialog")
	// Two are decided by somebody else while the dialog is open.
	boss := p.join("boss")
	if _, err := boss.Reject(t.Context(), proposals[5].Envelope, "unsafe", "mine"); err != nil {
		t.Fatal(err)
	}
	p.until("document.querySelector('#reject-all')?.innerText.includes('5')")
	p.until("document.querySelector('.bulk .ended')?.innerText.includes('rejected meanwhile by boss')")
	p.do(chromedp.SendKeys("dialog input[name=message]", "one by one, please"))
	p.keys(kb.Enter)
	p.until("document.querySelector('#bulk-result')?.innerText === '5 are rejected. 1 was decided by others meanwhile.'")
	p.picture("bulk-done")
	p.until("document.activeElement.id === 'bulk-close'")
	p.keys(kb.Enter)
	p.waiting(1)
	for _, one := range proposals[:5] {
		outcome, err := one.Wait(t.Context())
		if err != nil || outcome.By != "you" || outcome.Reason != "disagree" || outcome.Message != "one by one, please" {
			t.Errorf("%+v, %v", outcome, err)
		}
	}
}

// What fails is told with its reason, and can be tried again; nothing is sent twice.
func TestRejectSeveralFails(t *testing.T) {
	p := newPage(t, nil)
	agent := p.join("agent")
	for i := range 3 {
		p.propose(agent, fmt.Sprintf("notes/%d.md", i))
	}
	p.signIn("you")
	p.visit("?page=approvals")
	p.waiting(3)
	p.until("document.querySelector('#approve')")
	p.keys("x")
	p.do(click("#choose-alike"))
	evaluate[bool](p, `(() => {
		const real = window.fetch;
		window.sent = [];
		window.broken = true;
		window.fetch = async (path, options) => {
			if (!String(path).endsWith("/reject")) return real(path, options);
			const { id } = JSON.parse(options.body);
			window.sent.push(id);
			if (window.broken && window.sent.length === 1) return new Response(JSON.stringify({ code: "capability_violation", detail: "you may not" }), { status: 403 });
			if (window.broken && window.sent.length === 2) {
				await real(path, options); // it arrives, and its answer is lost
				throw new TypeError("the network is gone");
			}
			if (window.broken && window.sent.length === 3) return new Response(JSON.stringify({ code: "rate_limited", detail: "slowly", retry_after_ms: 1 }), { status: 429 });
			return real(path, options);
		};
		return true;
	})()`)
	p.keys("R")
	p.until("document.querySelector('dialog[open] #reject-all')")
	p.keys(kb.Enter)
	p.until("document.querySelector('#bulk-result')?.innerText.startsWith('2 are rejected. 1 is not rejected')") // the stream says what the lost answer did not
	p.shows("capability_violation: you may not")
	p.picture("bulk-failed")
	evaluate[bool](p, "!(window.broken = false)")
	p.do(click("#again"))
	p.until("document.querySelector('#bulk-result')?.innerText === '3 are rejected.'")
	if n := evaluate[int](p, "new Set(window.sent).size"); n != 3 {
		t.Errorf("%d ids were used for three", n)
	}
	if left := p.openProposals(); len(left) != 0 {
		t.Errorf("%d are open", len(left))
	}
}

// While several are rejected, somebody approves: each is decided once, and the page
// says by whom.
func TestRejectSeveralAgainstApprove(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	agent, boss := p.join("agent"), p.join("boss")
	const many = 30
	var last *client.Proposal
	for i := range many {
		last = p.propose(agent, fmt.Sprintf("notes/%d.md", i))
	}
	p.signIn("you")
	p.visit("?page=approvals")
	p.waiting(many)
	p.until("document.querySelector('#approve')")
	p.keys("x")
	p.do(click("#choose-from"))
	p.keys("R")
	p.until("document.querySelector('dialog[open] #reject-all')")
	// The approval comes after the page's first rejection, and before its last.
	evaluate[bool](p, `(() => {
		const real = window.fetch;
		const until = new Promise((go) => (window.goOn = go));
		window.held = 0;
		window.fetch = async (path, options) => {
			if (String(path).endsWith("/reject") && window.held++ >= 1) await until;
			return real(path, options);
		};
		return true;
	})()`)
	p.keys(kb.Enter)
	p.until("window.held > 1 && document.querySelector('progress')")
	p.picture("bulk-progress")
	if _, err := boss.Fulfil(t.Context(), last.Envelope); err != nil {
		t.Fatal(err)
	}
	receive(t, asked)
	p.until("document.querySelector('.bulk .ended')?.innerText.includes('approved meanwhile by boss')")
	evaluate[bool](p, "(window.goOn(), true)")
	p.until(fmt.Sprintf("document.querySelector('#bulk-result')?.innerText === '%d are rejected. 1 was decided by others meanwhile.'", many-1))
}

// With many that wait, the one that is looked at by keys stays in sight.
func TestQueueInSight(t *testing.T) {
	p := newPage(t, nil)
	agent := p.join("agent")
	for i := range 12 {
		p.propose(agent, fmt.Sprintf("notes/%d.md", i))
	}
	p.signIn("you")
	p.visit("?page=approvals")
	p.waiting(12)
	p.until("document.querySelector('#approve')")
	for range 11 {
		p.keys("j")
	}
	p.until("document.querySelector('.queue li:last-child .current')")
	p.until(`(() => {
		const [card, queue] = [".queue .current", ".queue"].map((s) => document.querySelector(s).getBoundingClientRect());
		return card.top > queue.top - 1 && card.bottom < queue.bottom + 1;
	})()`)
}
