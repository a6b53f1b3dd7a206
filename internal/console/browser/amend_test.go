package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
)

// openAmend opens the editor for what is looked at on the page of approvals.
func (p *page) openAmend() {
	p.t.Helper()
	p.until("document.querySelector('#amend')")
	p.keys("m")
	p.until("document.querySelector('dialog[open]') && document.activeElement.id === 'amended'")
}

// replaceInText types over a part of the edited text.
func (p *page) replaceInText(part, with string) {
	p.t.Helper()
	found := evaluate[bool](p, fmt.Sprintf(`(() => {
		const area = document.querySelector("#amended");
		const at = area.value.indexOf(%s);
		area.focus();
		area.setSelectionRange(at, at + %s.length);
		return at >= 0 && document.execCommand("insertText", false, %s);
	})()`, inScript(part), inScript(part), inScript(with)))
	if !found {
		p.t.Fatalf("%q is not in the text", part)
	}
}

// inScript is a text as JavaScript has it.
func inScript(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always has one
	}
	return string(b)
}

func (p *page) compare() {
	p.t.Helper()
	p.do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
}

func (p *page) sendAmended() {
	p.t.Helper()
	p.until("document.querySelector('#send[aria-disabled=false]') && document.activeElement.id === 'send'")
	p.keys(kb.Enter)
	p.until("!document.querySelector('dialog')")
}

// The arguments are edited, compared and sent by keyboard alone; what was not edited
// keeps its bytes.
func TestAmend(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	proposal := p.propose(p.join("agent"), "first.md")
	p.gateway.ListTools("files", `{"name":"write_file","description":"writes","inputSchema":{"type":"object","required":["path"],"properties":{"path":{"type":"string"}}}}`)
	p.signIn("you")
	p.keys("2")
	p.openAmend()
	p.shows("As the tool’s schema has it.")
	p.replaceInText("first.md", "second.md")
	p.picture("amend-edit")
	p.compare()
	p.until("document.querySelector('.diff .removed')")
	contains(t, evaluate[string](p, "document.querySelector('.diff').innerText"), "Removed")
	contains(t, evaluate[string](p, "document.querySelector('.diff .removed').textContent"), `"path": "first.md"`)
	contains(t, evaluate[string](p, "document.querySelector('.diff .added ins').textContent"), `second`)
	p.picture("amend-confirm")
	p.sendAmended()
	contains(t, receive(t, asked), `"params":{"name":"write_file","arguments":{"content":"Hello!\n","path":"second.md"}}`)
	p.until("document.querySelector('.outcome')?.innerText.includes('Approved with changes by you')")
	p.shows("What was sent instead")
	p.picture("amended")

	outcome, err := proposal.Wait(t.Context())
	if err != nil || outcome.By != "you" || outcome.Decision != client.Amended {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// Big integers, escapes and members beside the arguments are sent as they are written.
func TestAmendKeepsBytes(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	p.postProposal("agent", `{"_meta":{"n":1.00},"name":"write_file","arguments":{"n":12345678901234567890.0100,"path":"\u0041/b","e":1E+2,"b":"\u202e","raw":"`+"\u202e"+`","l":[]},"x":1}`)
	p.signIn("you")
	p.visit("?page=approvals")
	p.openAmend()
	text := evaluate[string](p, "document.querySelector('#amended').value")
	contains(t, text, `"raw": "\u202e"`) // what turns the direction of text is seen in the editor
	p.replaceInText("[]", `["new"]`)
	p.compare()
	p.sendAmended()
	contains(t, receive(t, asked), `"params":{"_meta":{"n":1.00},"name":"write_file","arguments":{"n":12345678901234567890.0100,"path":"\u0041/b","e":1E+2,"b":"\u202e","raw":"\u202e","l":["new"]},"x":1}`)
}

// What is wrong is told while one types, with its place; what is no change is told.
func TestAmendText(t *testing.T) {
	p := newPage(t, nil)
	p.serve()
	p.gateway.ListTools("files", `{"name":"write_file","inputSchema":{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"content":{"type":"string"}}}}`)
	p.propose(p.join("agent"), "a.txt")
	p.signIn("you")
	p.visit("?page=approvals")
	p.openAmend()
	p.compare()
	p.shows("Nothing is changed: this is what was proposed.")
	p.replaceInText(`"a.txt"`, `a.txt`)
	p.shows("Line 3, column 11: a value is expected")
	p.until("document.querySelector('#amended[aria-invalid=true]') && document.querySelector('#compare[aria-disabled=true]')")
	p.picture("amend-wrong")
	p.compare()
	p.until("document.activeElement.id === 'amended'")
	if got := evaluate[string](p, "(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(document.activeElement)"); got != "a" {
		t.Errorf("%q is selected", got)
	}
	p.replaceInText(`a.txt`, `17`)
	p.shows("path should be a string, and is a number")
	p.picture("amend-hint")
	p.compare()
	p.until("document.querySelector('#send')") // it is a hint, and forbids nothing
	p.do(click("#back"))
	p.until("document.querySelector('#amended')?.value.includes('17')")
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog')")
	p.do(click("#go-on")) // closing it loses nothing
	p.until("document.querySelector('#amended')?.value.includes('17')")
	p.do(click("#anew"))
	p.until("document.querySelector('#amended')?.value.includes('a.txt')")
	p.compare()
	p.do(click("#approve-instead"))
	p.until("document.querySelector('#confirm[aria-disabled=false]')")
}

// A refused amendment, and one that somebody else was faster than, keep the text.
func TestAmendMeanwhile(t *testing.T) {
	p := newPage(t, nil)
	agent, boss := p.join("agent"), p.join("boss")
	absent := p.propose(agent, "a.txt")
	p.signIn("you")
	p.visit("?page=approvals")
	p.openAmend()
	p.replaceInText("a.txt", "b.txt")
	p.compare()
	p.until("document.querySelector('#send[aria-disabled=false]')")
	p.keys(kb.Enter)
	p.until("document.querySelector('dialog .problem')?.innerText.includes('is not here')") // files is away
	p.do(click("#back"))
	p.until("document.querySelector('#amended')?.value.includes('b.txt')")

	// It is decided while the text is edited.
	if _, err := boss.Reject(t.Context(), absent.Envelope, "unsafe", "on my watch"); err != nil {
		t.Fatal(err)
	}
	p.until("document.querySelector('dialog .outcome')?.innerText.includes('Rejected by boss')")
	p.shows("unsafe: on my watch")
	p.until("document.querySelector('#amended')?.value.includes('b.txt')")
	p.picture("amend-meanwhile")
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog')")
	p.do(click("#go-on"))
	p.until("document.querySelector('#amended')?.value.includes('b.txt') && !document.querySelector('#send')")
}

// One amends and one approves at once: exactly one call comes of it, and both pages
// say whose.
func TestAmendAgainstApprove(t *testing.T) {
	you := newPage(t, nil)
	asked := you.serve()
	you.propose(you.join("agent"), "a.txt")
	boss := newPageAt(t, you.gateway)
	you.signIn("you")
	you.visit("?page=approvals")
	you.openAmend()
	you.replaceInText("a.txt", "b.txt")
	you.compare()
	you.until("document.querySelector('#send[aria-disabled=false]')")
	boss.signIn("boss")
	boss.visit("?page=approvals")
	boss.until("document.querySelector('#approve')")
	boss.keys("a")
	boss.until("document.querySelector('#confirm[aria-disabled=false]')")

	boss.do(click("#confirm"))
	evaluate[bool](you, "document.querySelector('#send')?.click() ?? true") // the page may have heard of it by now
	call := receive(t, asked)
	var told []string
	for _, p := range []*page{you, boss} {
		p.until("document.querySelector('.detail .outcome') && document.querySelector('#next')")
		told = append(told, evaluate[string](p, "document.querySelector('.detail .outcome strong').innerText + ' ' + document.querySelector('.detail .outcome .person').innerText"))
	}
	want := "Approved boss"
	if strings.Contains(call, "b.txt") {
		want = "Approved with changes you"
	}
	if told[0] != want || told[1] != want {
		t.Errorf("told %q, want %q", told, want)
	}
	select {
	case again := <-asked:
		t.Errorf("it ran twice: %s", again)
	default:
	}
}

// An answer that is lost is asked for again under the same id: it is sent once.
func TestAmendSentOnce(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	p.propose(p.join("agent"), "a.txt")
	p.signIn("you")
	p.visit("?page=approvals")
	p.openAmend()
	p.replaceInText("a.txt", "b.txt")
	p.compare()
	p.until("document.querySelector('#send[aria-disabled=false]')")
	evaluate[bool](p, `(() => {
		const real = window.fetch;
		window.sent = [];
		window.fetch = async (path, options) => {
			if (!String(path).endsWith("/envelopes") || options?.method !== "POST") return real(path, options);
			window.sent.push(options.body);
			if (window.sent.length > 1) await real(path, options); // it arrives, and its answer is lost
			throw new TypeError("the network is gone");
		};
		return true;
	})()`)
	p.keys(kb.Enter)
	p.until("document.querySelector('dialog .problem')?.innerText.includes('cannot be reached')")
	p.sendAmended() // the stream tells that it arrived
	contains(t, receive(t, asked), "b.txt")
	p.until("document.querySelector('.outcome')?.innerText.includes('Approved with changes by you')")
	if evaluate[bool](p, "!!document.querySelector('#go-on, .detail .problem')") {
		t.Error("it is told of as not sent")
	}
	if sent := evaluate[[]string](p, "window.sent"); len(sent) != 2 || sent[0] != sent[1] {
		t.Errorf("sent %q", sent)
	}
}

// A proposal that expires while its dialog is open is told of at once.
func TestExpiresMeanwhile(t *testing.T) {
	p := newPage(t, nil)
	p.serve()
	agent := p.join("agent")
	p.signIn("you")
	for after := time.Second; ; after *= 2 { // longer where the machine is slow
		one := p.propose(agent, "a.txt", client.Expires(time.Now().Add(after)))
		p.visit("?page=approvals&proposal=" + one.Envelope.ID)
		p.live()
		p.until("document.querySelector('#amend, #next')")
		p.keys("m")
		p.until("document.querySelector('#amended, #next')")
		if evaluate[bool](p, "!!document.querySelector('#amended')") {
			break
		}
	}
	p.until("document.querySelector('dialog .outcome')?.innerText.includes('Expired: nobody decided in time')")
	p.until("document.querySelector('#amended')")
	p.picture("amend-expired")
}

// A call of a method without arguments is edited as a whole, and stays of what it is.
func TestAmendParams(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	p.post("agent", `{"kind":"mcp/proposal:resources/read","to":["files"],"payload":{"method":"resources/read","params":{"uri":"file:///w/a","_meta":{"n":1}}}}`)
	p.signIn("you")
	p.visit("?page=approvals")
	p.openAmend()
	p.replaceInText("file:///w/a", "file:///w/b")
	p.shows("What it asks for has to stay")
	p.replaceInText("file:///w/b", "file:///w/a")
	p.replaceInText(`"n": 1`, `"n": 1e1`)
	p.compare()
	p.sendAmended()
	contains(t, receive(t, asked), `"params":{"uri":"file:///w/a","_meta":{"n":1e1}}`)
}

// A megabyte of arguments can be edited.
func TestAmendLarge(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	var lines []string
	for i := range 16_000 {
		lines = append(lines, fmt.Sprintf("%d the quick brown fox jumps over the lazy dog", i))
	}
	arguments, err := json.Marshal(map[string]any{"list": lines[:8000], "text": strings.Join(lines[8000:], " "), "zz": 1})
	if err != nil {
		t.Fatal(err)
	}
	p.postProposal("agent", `{"name":"write_file","arguments":`+string(arguments)+`}`)
	p.signIn("you")
	p.visit("?page=approvals")
	p.openAmend()
	p.replaceInText(`"7999 the quick`, `"7999 the slow`)
	p.until("!document.querySelector('#amend-said').innerText.includes('…')")
	p.replaceInText(`15999 the quick brown`, `15999 the quick red`)
	p.compare()
	p.until("document.querySelectorAll('.diff .added').length === 2")
	p.picture("amend-large")
	if length := evaluate[int](p, "document.querySelector('.diff').innerText.length"); length > 10_000 {
		t.Errorf("the difference takes %d characters", length)
	}
	p.readToTheEnd("#send")
	p.sendAmended()
	want := strings.NewReplacer("7999 the quick", "7999 the slow", "15999 the quick brown", "15999 the quick red").Replace(string(arguments))
	if got := receive(t, asked); !strings.Contains(got, want) {
		t.Errorf("what was sent differs: %.200q", got)
	}
}

// What a participant wrote is text in the editor and in the difference.
func TestAmendHostile(t *testing.T) {
	p := newPage(t, nil)
	p.serve()
	arguments, err := json.Marshal(map[string]string{markup: markup, "bidi": "safe\u202etxt.exe", "zz": strings.Repeat("W", 100_000)})
	if err != nil {
		t.Fatal(err)
	}
	p.postProposal("agent", `{"name":"write_file","arguments":`+string(arguments)+`}`)
	p.signIn("you")
	p.visit("?page=approvals")
	p.openAmend()
	p.replaceInText("onerror", "onload")
	p.replaceInText("WWWWWWWW", "x\u202e\u200b")
	p.compare()
	p.until("document.querySelector('.diff .removed')")
	contains(t, evaluate[string](p, "document.querySelector('.diff').innerText"), `x\u202e\u200b`)
	p.noMarkup()
	p.size(360, 740)
	p.noMarkup()
	p.picture("amend-hostile-360")
}

// From the room it is amended as well: review, m.
func TestAmendFromTheRoom(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	p.propose(p.join("agent"), "a.txt")
	p.signIn("you")
	p.until("document.querySelector('#review')")
	p.do(click("#review"))
	p.until("document.querySelector('#confirm[aria-disabled=false]')")
	p.keys("m")
	p.until("document.querySelector('dialog[open]') && document.activeElement.id === 'amended'")
	p.replaceInText("a.txt", "b.txt")
	p.compare()
	p.sendAmended()
	contains(t, receive(t, asked), "b.txt")
	p.until("document.querySelector('.row.proposal .badge.good')")
}

// What was decided before on calls alike stands beside a proposal.
func TestEarlierDecisions(t *testing.T) {
	p := newPage(t, nil)
	p.serve()
	agent, boss := p.join("agent"), p.join("boss")
	reject := func(one *client.Proposal, reason, message string) {
		t.Helper()
		if _, err := boss.Reject(t.Context(), one.Envelope, reason, message); err != nil {
			t.Fatal(err)
		}
	}
	approved := p.propose(agent, "docs/a.md")
	if _, err := boss.Fulfil(t.Context(), approved.Envelope); err != nil {
		t.Fatal(err)
	}
	other, err := agent.Propose(t.Context(), "files", "tools/call", writeFile{"read_file", map[string]any{"path": "docs/b.md"}})
	if err != nil {
		t.Fatal(err)
	}
	reject(other, "busy", "another tool")
	reject(p.propose(agent, "docs/b.md"), "policy", "the docs are frozen")
	p.propose(agent, "docs/b.md")

	p.signIn("you")
	p.visit("?page=approvals")
	p.until("document.querySelectorAll('.earlier li').length === 2")
	list := evaluate[[]string](p, "[...document.querySelectorAll('.earlier li')].map((li) => li.innerText)")
	contains(t, list[0], "rejected by boss")
	contains(t, list[0], "policy: the docs are frozen")
	contains(t, list[0], "The same arguments.")
	contains(t, list[1], "approved by boss")
	contains(t, list[1], "path")
	contains(t, list[1], `was "docs/a.md", is "docs/b.md"`)
	p.shows("The same call was rejected before")
	p.picture("earlier")
	p.do(click(".earlier li:nth-child(2) a"))
	p.until("document.querySelector('.detail .outcome')?.innerText.includes('Approved by boss')")
	p.call("you", "/v1/spaces/"+p.gateway.Space+"/proposals/"+other.Envelope.ID+"/fulfil", `{}`, http.StatusConflict)
}

// A decision on a proposal from before what the page has seen of the stream is
// noticed all the same.
func TestDecidedOutOfSight(t *testing.T) {
	p := newPage(t, &parleytest.Options{Limits: parleytest.Limits{History: 5}})
	p.serve()
	agent, boss := p.join("agent"), p.join("boss")
	proposal := p.propose(agent, "old.txt")
	for i := range 20 {
		p.chat(agent, fmt.Sprint("later ", i))
	}
	p.signIn("you")
	p.visit("?page=approvals")
	p.openAmend()
	if _, err := boss.Reject(t.Context(), proposal.Envelope, "unsafe", ""); err != nil {
		t.Fatal(err)
	}
	p.until("document.querySelector('dialog .outcome')?.innerText.includes('Rejected by boss')")
}
