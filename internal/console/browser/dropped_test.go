package browser

import (
	"testing"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// forgetting has the gateway's answers tell of proposals as where retention has
// dropped their envelopes.
func (p *page) forgetting() {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, cdpage.AddScriptToEvaluateOnNewDocument, cdpage.AddScriptToEvaluateOnNewDocumentParams{Source: `
		const all = fetch;
		globalThis.fetch = async (path, how) => {
			const answer = await all(path, how);
			if (!/\/proposals(\?|\/[^/]+$)|\/approval$/.test(String(path))) return answer;
			const text = (await answer.text()).replace(/"payload":\{.*?\},"state"/g, '"dropped":true,"state"');
			return new Response(text, { status: answer.status });
		};`})
	if err != nil {
		p.t.Fatal(err)
	}
}

// Where nobody can tell any more what a proposal asks for, that is said in the place of
// its arguments, and it can only be rejected.
func TestProposalDropped(t *testing.T) {
	p := newPage(t, nil)
	p.serve()
	p.forgetting()
	proposal := p.propose(p.join("agent"), "a.txt")
	p.signIn("you")
	p.visit("?page=approvals")
	p.live()
	p.until("document.querySelector('.detail #gone') && document.querySelector('#reject') && !document.querySelector('#approve, #amend')")
	p.until("document.querySelector('.queue .card').innerText.includes('mcp/proposal:tools/call:write_file') && document.querySelector('.detail h2').innerText.includes('mcp/proposal:tools/call:write_file')")
	p.picture("dropped")
	p.visit("?page=room")
	p.live()
	p.until("document.querySelector('#review')")
	p.do(click("#review"))
	p.until("document.querySelector('dialog[open] #gone') && !document.querySelector('#confirm, #amend-instead')")
	p.do(click("#reject-instead"), chromedp.WaitVisible("dialog form.reject"), click("dialog button[type=submit]"))
	if outcome, err := proposal.Wait(t.Context()); err != nil || outcome.Reason != "disagree" {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// The page of a link says so as well.
func TestLinkToProposalDropped(t *testing.T) {
	p, proposal, link := linked(t, "a.txt")
	p.forgetting()
	p.open(link)
	p.until("document.querySelector('main #gone') && document.querySelector('#reject') && !document.querySelector('#approve')")
	p.do(click("#reject"), chromedp.WaitVisible("dialog form.reject"), click("dialog button[type=submit]"))
	if outcome, err := proposal.Wait(t.Context()); err != nil || outcome.Reason != "disagree" {
		t.Errorf("%+v, %v", outcome, err)
	}
}
