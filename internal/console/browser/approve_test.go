package browser

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// The first approval takes two clicks, from signing in to the answer on record.
func TestApproveInTwoClicks(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	p.propose(p.join("agent"), "notes/release.md")
	p.signIn("you")
	p.until("document.querySelector('#review')")
	p.picture("room-proposal")

	p.do(click("#review"))
	p.until("document.querySelector('#confirm[aria-disabled=false]')")
	p.shows(`"path": "notes/release.md"`)
	p.picture("review")
	p.do(click("#confirm"))

	contains(t, receive(t, asked), `"params":{"name":"write_file","arguments":{"content":"Hello!\n","path":"notes/release.md"}}`)
	p.until("!document.querySelector('dialog') && !document.querySelector('#review')")
	p.until("document.querySelector('.row.proposal .badge.good')")
	p.shows("wrote it")
}

// A click that was meant for something else does not approve.
func TestDoubleClickApprovesNothing(t *testing.T) {
	p := newPage(t, nil)
	p.serve()
	p.propose(p.join("agent"), "a.txt")
	p.signIn("you")
	p.until("document.querySelector('#review')")
	open := evaluate[bool](p, `(async () => {
		const now = performance.now(); // which stands still
		performance.now = () => now;
		document.querySelector('#review').click();
		while (!document.querySelector('#confirm')) await new Promise(requestAnimationFrame);
		document.querySelector('#confirm').click();
		await fetch("/healthz"); // which comes after what the click may have sent
		return document.querySelector('dialog').open;
	})()`)
	if !open {
		t.Error("the dialog was closed by a click at once")
	}
	if n := len(p.openProposals()); n != 1 {
		t.Errorf("%d proposals are open, want 1", n)
	}
}

func TestRejectWithReason(t *testing.T) {
	p := newPage(t, nil)
	proposal := p.propose(p.join("agent"), "notes/secret.md")
	p.signIn("you")
	p.do(click("nav a:nth-child(2)"))
	p.until("document.querySelector('#reject')")
	p.shows("the release notes are ready")
	p.picture("approvals")
	p.do(click("#reject"), chromedp.WaitVisible("dialog form.reject"))
	p.do(chromedp.SendKeys("dialog input[name=message]", "not this week"))
	p.picture("reject")
	p.do(click("dialog button[type=submit]"))
	p.until("document.querySelector('.outcome .badge.bad')")
	p.shows("disagree: not this week")

	outcome, err := proposal.Wait(t.Context())
	if err != nil || outcome.By != "you" || outcome.Reason != "disagree" || outcome.Message != "not this week" {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// Who else decided is shown at once, and nothing is left to press.
func TestDecidedMeanwhile(t *testing.T) {
	p := newPage(t, nil)
	proposal := p.propose(p.join("agent"), "a.txt")
	p.signIn("you")
	p.visit("?page=approvals")
	p.live()
	p.until("document.querySelector('#approve')")
	p.keys("a")
	p.until("document.querySelector('dialog #confirm')")

	boss := p.join("boss")
	if _, err := boss.Reject(t.Context(), proposal.Envelope, "unsafe", "on my watch"); err != nil {
		t.Fatal(err)
	}
	p.until("document.querySelector('dialog .outcome')?.innerText.includes('boss')")
	p.until("!document.querySelector('#confirm') && document.activeElement.closest('dialog .buttons')")
	p.shows("unsafe: on my watch")
	p.picture("decided-meanwhile")
}

// Two people approve at once: one is the one who did.
func TestTwoDeciders(t *testing.T) {
	you := newPage(t, nil)
	asked := you.serve()
	you.propose(you.join("agent"), "a.txt")
	boss := newPageAt(t, you.gateway)
	for _, p := range []*page{you, boss} {
		who := map[*page]string{you: "you", boss: "boss"}[p]
		p.signIn(who)
		p.until("document.querySelector('#review')")
		p.do(click("#review"))
		p.until("document.querySelector('#confirm[aria-disabled=false]')")
	}
	you.do(click("#confirm"))
	// The other's page may have heard of it by now or not, and may even be first.
	evaluate[bool](boss, "document.querySelector('#confirm')?.click() ?? true")
	receive(t, asked)
	var told []string
	for _, p := range []*page{you, boss} {
		p.until("!document.querySelector('#confirm') && document.querySelector('.row.proposal .badge.good')")
		told = append(told, evaluate[string](p, "document.querySelector('.row.proposal .head').innerText"))
	}
	if told[0] != told[1] {
		t.Errorf("one is told %q, the other %q", told[0], told[1])
	}
	select {
	case again := <-asked:
		t.Errorf("it ran twice: %s", again)
	default:
	}
}

// Nobody is asked to decide on what they proposed themselves.
func TestOwnProposal(t *testing.T) {
	p := newPage(t, nil)
	p.postProposal("you", `{"name":"write_file","arguments":{}}`)
	p.signIn("you")
	p.visit("?page=approvals")
	p.shows("This proposal is yours")
	p.keys("a")
	p.visit("")
	p.live()
	p.until("document.querySelector('.row.proposal')")
	p.do(click(".row.proposal"))
	p.until("document.querySelector('dialog')?.innerText.includes('This proposal is yours')")
	if evaluate[bool](p, "!!document.querySelector('#review, #confirm, #approve')") {
		t.Error("there is a button to approve one's own proposal")
	}
}

// Who approves is told that the tool's definition is another one than was accepted.
func TestChangedTool(t *testing.T) {
	p := newPage(t, nil)
	p.gateway.ListTools("files", `{"name":"write_file","description":"writes"}`)
	p.gateway.ListTools("files", `{"name":"write_file","description":"writes and mails"}`)
	p.propose(p.join("agent"), "a.txt")
	p.signIn("you")
	p.do(click("#review"))
	p.shows("The tool's definition has changed since it was accepted.")
	p.shows(`"writes" → "writes and mails"`)
	p.until("[...document.querySelectorAll('dialog blockquote')].at(-1)?.innerText.includes('writes and mails')")
	p.picture("changed-tool")
}

// A proposal to nobody in particular is sent to whom one chooses, and to nobody before.
func TestChooseTarget(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	p.post("agent", `{"kind":"mcp/proposal:tools/call:write_file","payload":{"method":"tools/call","params":{"name":"write_file","arguments":{"a":1}}}}`)
	p.signIn("you")
	p.do(click("#review"))
	p.shows("Choose whom to ask first.")
	p.do(chromedp.SetValue("dialog select[name=to]", "files"))
	evaluate[bool](p, "document.querySelector('dialog select[name=to]').dispatchEvent(new Event('change', { bubbles: true }))")
	p.until("document.querySelector('#confirm[aria-disabled=false]')")
	p.do(click("#confirm"))
	contains(t, receive(t, asked), `{"a":1}`)
}

// What is approved is shown as it will be sent: a big number is not rounded.
func TestExactArguments(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	p.postProposal("agent", `{"name":"write_file","arguments":{"n":12345678901234567890.0100,"path":"\u0041/b","b":"\u202e"},"x":1}`)
	p.signIn("you")
	p.visit("?page=approvals")
	p.until("document.querySelector('.pretty')")
	contains(t, evaluate[string](p, "document.querySelector('.pretty').textContent"), `"n": 12345678901234567890.0100`)
	contains(t, evaluate[string](p, "document.querySelector('.queue .card.current').textContent"), `"n":12345678901234567890.0100`)
	exact := evaluate[string](p, "document.querySelector('.bytes').textContent")
	contains(t, exact, `{"name":"write_file","arguments":{"n":12345678901234567890.0100,"path":"\u0041/b","b":"\u202e"},"x":1}`)
	p.keys("a")
	p.until("document.querySelector('#confirm[aria-disabled=false]')")
	p.do(click("#confirm"))
	contains(t, receive(t, asked), exact)
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}
