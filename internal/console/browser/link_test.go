package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
)

// approvalLink is a link that somebody makes with their token.
func approvalLink(t *testing.T, g *parleytest.Gateway, who, proposal string) string {
	t.Helper()
	return postAs(t, g, who, "proposals/"+proposal+"/links", "{}")["url"].(string)
}

// postAs makes a call in the space, as somebody.
func postAs(t *testing.T, g *parleytest.Gateway, who, path, body string) (answer map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL+"/v1/spaces/"+g.Space+"/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+g.Token(who))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 || json.Unmarshal(said, &answer) != nil {
		t.Fatalf("%s: %s, %v\n%s", path, res.Status, err, said)
	}
	return answer
}

// linked is a page, at a gateway with a proposal that somebody has a link to.
func linked(t *testing.T, path string) (p *page, proposal *client.Proposal, link string) {
	t.Helper()
	p = newPage(t, nil)
	proposal = p.propose(p.join("agent"), path)
	return p, proposal, approvalLink(t, p.gateway, "you", proposal.Envelope.ID)
}

func (p *page) open(link string) {
	p.t.Helper()
	p.do(chromedp.Navigate(link))
}

func TestApproveByLink(t *testing.T) {
	p, _, link := linked(t, "notes/release.md")
	asked := p.serve()
	p.open(link)
	p.until("document.querySelector('#approve')")
	p.shows(`"path": "notes/release.md"`)
	p.shows("the release notes are ready")
	p.shows("You decide as you.")
	if got := evaluate[string](p, "location.href"); strings.Contains(got, "code") {
		t.Errorf("the code stays in the address bar: %s", got)
	}
	if got := evaluate[string](p, "document.cookie"); got != "" {
		t.Errorf("there is a cookie: %s", got)
	}
	p.picture("link")

	// It can be loaded again, and nothing is decided by looking.
	p.do(chromedp.Reload())
	p.until("document.querySelector('#approve')")
	if n := len(p.openProposals()); n != 1 {
		t.Fatalf("%d proposals are open, want 1", n)
	}
	p.do(click("#approve"))
	p.until("document.querySelector('#confirm[aria-disabled=false]')")
	p.picture("link-confirm")
	p.do(click("#confirm"))
	contains(t, receive(t, asked), `"params":{"name":"write_file","arguments":{"content":"Hello!\n","path":"notes/release.md"}}`)
	p.until("document.querySelector('h1')?.innerText === 'Approved'")
	p.shows("The link is used up")
	p.picture("link-approved")

	// Nobody is signed in by it, and it works once.
	p.visit("")
	p.until("document.querySelector('#token')")
	other := newPageAt(t, p.gateway)
	other.open(link)
	other.until("document.querySelector('h1')?.innerText === 'This link was used already'")
	other.shows("The proposal was approved by you")
	other.picture("link-used")
	select {
	case again := <-asked:
		t.Errorf("it was called again: %s", again)
	default:
	}
}

func TestRejectByLink(t *testing.T) {
	p, proposal, link := linked(t, "notes/secret.md")
	p.size(360, 740)
	p.open(link)
	p.until("document.querySelector('#reject')")
	p.picture("link-360")
	p.do(click("#reject"), chromedp.WaitVisible("dialog form.reject"), chromedp.SendKeys("dialog input[name=message]", "not this week"))
	p.picture("link-360-reject")
	p.do(click("dialog button[type=submit]"))
	p.until("document.querySelector('h1')?.innerText === 'Rejected'")
	outcome, err := proposal.Wait(t.Context())
	if err != nil || outcome.By != "you" || outcome.Reason != "disagree" || outcome.Message != "not this week" {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// A click that was meant for something else approves nothing.
func TestDoubleClickOnALink(t *testing.T) {
	p, _, link := linked(t, "a.txt")
	p.open(link)
	p.until("document.querySelector('#approve')")
	evaluate[bool](p, `(async () => {
		const now = performance.now(); // which stands still
		performance.now = () => now;
		document.querySelector('#approve').click();
		while (!document.querySelector('#confirm')) await new Promise(requestAnimationFrame);
		document.querySelector('#confirm').click();
		delete performance.now;
		return true;
	})()`)
	p.until("document.querySelector('#confirm[aria-disabled=false]')")
	if n := len(p.openProposals()); n != 1 {
		t.Errorf("%d proposals are open, want 1", n)
	}
}

// Somebody else decides while the page is open: it is told at the next look, and at
// the latest when one tries.
func TestDecidedMeanwhileByOthers(t *testing.T) {
	p, proposal, link := linked(t, "a.txt")
	late := newPageAt(t, p.gateway)
	for _, one := range []*page{p, late} {
		one.open(link)
		one.until("document.querySelector('#approve')")
	}
	late.do(click("#approve"))
	late.until("document.querySelector('#confirm[aria-disabled=false]')")
	if _, err := p.join("boss").Reject(t.Context(), proposal.Envelope, "unsafe", "on my watch"); err != nil {
		t.Fatal(err)
	}
	evaluate[bool](p, "document.dispatchEvent(new Event('visibilitychange'))")
	late.do(click("#confirm"))
	for _, one := range []*page{p, late} {
		one.until("document.querySelector('.outcome')?.innerText.includes('boss')")
		one.until("!document.querySelector('#approve') && !document.querySelector('dialog')")
		one.shows("This proposal is decided")
	}
	p.picture("link-decided")
}

func TestLinksThatLeadNowhere(t *testing.T) {
	p := newPage(t, nil)
	p.visit("decide.html")
	p.shows("This is not a whole link")
	p.visit("decide.html#code=" + strings.Repeat("x", 32))
	p.shows("This link is not known")
	p.visit("decide.html#code=<img src=x onerror=alert(1)>")
	p.shows("This link is not known")
}

// What a proposer writes is shown as it is, and cannot pretend to be more.
func TestHostileLink(t *testing.T) {
	p, _, link := linked(t, "a\u202Etxt.<script>alert(1)</script>\u200B"+strings.Repeat("x", 3000))
	p.size(360, 740)
	p.open(link)
	p.until("document.querySelector('#approve')")
	p.shows("⟨U+202E⟩")
	p.shows("<script>alert(1)</script>")
	if wide := evaluate[float64](p, "document.documentElement.scrollWidth"); wide > 360 {
		t.Errorf("the page is %v wide", wide)
	}
	if seen := evaluate[bool](p, "document.querySelector('#approve').getBoundingClientRect().bottom <= innerHeight"); !seen {
		t.Error("the buttons are out of sight")
	}
}

// What led to the proposal stands below it, and above the arguments that the tool is
// no longer what it was.
func TestLinkShowsWhatLedToIt(t *testing.T) {
	cast := parleytest.Cast()
	cast["agent"] = append(cast["agent"], "reflection")
	p := newPage(t, &parleytest.Options{Participants: cast})
	p.gateway.ListTools("files", `{"name":"write_file","description":"Write a text file."}`)
	agent := p.join("agent")
	why := &parley.Context{ID: "release-notes", Type: "reasoning"}
	for _, thought := range []string{"Two fixes since the last release.", "The notes belong beside those of 0.4."} {
		postAs(t, p.gateway, "agent", "envelopes", fmt.Sprintf(`{"kind":"reflection","context":{"id":%q,"type":%q},"payload":{"thought":%q}}`, why.ID, why.Type, thought))
	}
	proposal := p.propose(agent, "docs/release-0.5.md", client.InContext(why))
	link := approvalLink(t, p.gateway, "you", proposal.Envelope.ID)
	p.size(360, 740)
	p.open(link)
	p.shows("Write a text file.")
	p.until("[...document.querySelectorAll('.beside li')].map((e) => e.innerText).join().match(/Two fixes.*beside those/)")
	p.until("!document.querySelector('.warning')")
	p.picture("link-360-context")
	p.gateway.ListTools("files", `{"name":"write_file","description":"Write a text file, and mail it."}`)
	p.do(chromedp.Reload())
	p.shows("The tool's definition has changed since it was accepted.")
	p.picture("link-360-changed")
}

// A call that leaves open whom to ask is one's own choice.
func TestLinkChoosesTheTarget(t *testing.T) {
	p := newPage(t, nil)
	asked := p.serve()
	agent := p.join("agent")
	sent, err := agent.Send(t.Context(), &parley.Envelope{
		Kind: "mcp/proposal:tools/call", Payload: []byte(`{"method":"tools/call","params":{"name":"write_file","arguments":{"n":9007199254740993}}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	p.open(approvalLink(t, p.gateway, "you", sent.ID))
	p.until("document.querySelector('select[name=to]')")
	p.shows(`"n": 9007199254740993`)
	p.do(click("#approve"))
	p.until("document.querySelector('dialog #confirm')")
	p.shows("Choose whom to ask first.")
	evaluate[bool](p, `(() => {
		const to = document.querySelector('dialog select[name=to]');
		to.value = 'files';
		return to.dispatchEvent(new Event('change'));
	})()`)
	p.until("document.querySelector('#confirm[aria-disabled=false]')")
	p.do(click("#confirm"))
	contains(t, receive(t, asked), `9007199254740993`)
	p.until("document.querySelector('h1')?.innerText === 'Approved'")
}

// axe-core finds nothing on the page of a link, light and dark, wide and narrow.
func TestLinkIsAccessible(t *testing.T) {
	check := axe(t)
	p, _, link := linked(t, "a.txt")
	for _, dark := range []bool{false, true} {
		for _, width := range []int64{1280, 360} {
			p.dark(dark)
			p.size(width, 800)
			p.visit("decide.html?" + fmt.Sprint(dark, width)) // a page of its own, not another place on it
			p.open(link)
			p.until("document.querySelector('#approve')")
			check(p, "link")
			p.do(click("#approve"))
			p.until("document.querySelector('#confirm[aria-disabled=false]')")
			check(p, "confirm")
			p.open(strings.Replace(link, "#code=", "?other#code=x", 1))
			p.shows("This link is not known")
			check(p, "unknown")
		}
	}
}
