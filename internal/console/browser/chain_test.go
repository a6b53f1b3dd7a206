package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The chain says at a glance who let the agent do that: what was thought, proposed,
// decided, called and answered.
func TestChain(t *testing.T) {
	p := busy(t)
	p.serve()
	for i, thought := range []string{"Eleven commits since v0.4.1.", "Two of them are fixes that people asked for."} {
		p.post("agent", fmt.Sprintf(`{"id":"thought-%d","kind":"reflection","context":{"id":"release-notes","type":"reasoning"},"payload":{"thought":%q}}`, i, thought))
	}
	p.post("agent", `{"id":"conclusion-1","kind":"conclusion","context":{"id":"release-notes"},"payload":{"decision":"Write the notes, and keep them short."}}`)
	p.post("agent", `{"id":"proposal-1","kind":"mcp/proposal:tools/call:write_file","to":["files"],"correlation_id":["release-notes"],
		"payload":{"method":"tools/call","reason":"The notes are ready; you asked for them to be short.","params":{"name":"write_file","arguments":{"path":"docs/release-0.5.md","n":12345678901234567890}}}}`)
	p.signIn("you")
	p.visit("?page=search&id=proposal-1")
	p.shows("agent proposed write_file to files; nobody has decided on it yet.")
	p.call("boss", "/v1/spaces/demo/proposals/proposal-1/fulfil", `{"id":"call-1"}`, 202)
	// What becomes of it while one looks is told as well.
	p.until(`/agent proposed write_file to files; boss approved it .+ later; files answered in .+\./.test(document.querySelector('.story').innerText)`)
	p.picture("chain")
	roles := evaluate[[]string](p, "[...document.querySelectorAll('.step .role, .crossing')].map((e) => e.innerText)")
	want := "Reasoning|Reasoning|Conclusion|From the thread release-notes to what followed from it|Proposal|Decision and call|Result"
	if got := strings.Join(roles, "|"); got != want {
		t.Errorf("the steps are\n%s, want\n%s", got, want)
	}
	p.shows("because The notes are ready; you asked for them to be short.")
	p.shows("the conclusion of agent: Write the notes, and keep them short.")
	p.until("document.querySelector('.step.here .role').innerText === 'Proposal' && document.querySelector('.step.here .badge').innerText === 'done'")

	p.press(".step.here summary")
	p.until("document.querySelector('.step.here pre')?.innerText.includes('12345678901234567890')")
	p.capture()
	evaluate[bool](p, "([...document.querySelectorAll('.heading button')].find((b) => b.innerText === 'Export').click(), true)")
	name, text := p.saved()
	contains(t, name, "demo-chain-proposal-1-")
	contains(t, text, strings.TrimSuffix(p.onRecord("proposal-1"), "\n"))
	if n := strings.Count(text, "\n"); n != 6 {
		t.Errorf("the file has %d lines", n)
	}
	p.size(360, 740)
	p.picture("chain-360")
	p.noMarkup()
}

// Each way in which a proposal ends has its words.
func TestChainWords(t *testing.T) {
	p := busy(t)
	p.serve()
	agent, boss := p.join("agent"), p.join("boss")
	rejected, withdrawn := p.propose(agent, "a.txt"), p.propose(agent, "b.txt")
	if _, err := boss.Reject(t.Context(), rejected.Envelope, "policy", "not on a Sunday"); err != nil {
		t.Fatal(err)
	}
	p.call("agent", "/v1/spaces/demo/proposals/"+withdrawn.Envelope.ID+"/withdraw", `{}`, 202)
	p.post("boss", `{"id":"direct-1","kind":"mcp/request:tools/call:write_file","to":["files"],"payload":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{}}}}`)
	p.post("agent", `{"id":"said-1","kind":"chat","payload":{"text":"`+"\u202e"+`hello <b>"}}`)
	p.signIn("you")
	for id, words := range map[string]string{
		rejected.Envelope.ID:  `agent proposed write_file to files; boss rejected it .+ later: policy: not on a Sunday\.`,
		withdrawn.Envelope.ID: `agent proposed write_file to files; agent withdrew it .+ later\.`,
		"direct-1":            `boss called write_file at files, without a proposal; files answered in .+\.`,
		"said-1":              `1 message of agent; nothing was called\.`,
	} {
		p.visit("?page=search&id=" + id)
		p.until(fmt.Sprintf("/^%s$/.test(document.querySelector('.story')?.innerText)", words))
	}
	p.visit("?page=search&id=said-1")
	p.shows("⟨U+202E⟩hello <b>")
	p.noMarkup()
	p.visit("?page=search&id=nobody")
	p.until("document.querySelector('.past .problem')?.innerText.includes('nobody')")
}

// The room's dialog of a message leads to the chain, by the keyboard alone, and back.
func TestChainFromTheRoom(t *testing.T) {
	p := busy(t)
	p.serve()
	p.propose(p.join("agent"), "a.txt")
	p.signIn("you")
	p.visit("?page=approvals")
	p.until("document.querySelector('#approve')")
	p.keys("a")
	p.until("document.activeElement?.id === 'confirm' && document.activeElement.ariaDisabled === 'false'")
	p.keys(kb.Enter)
	p.until("document.querySelector('.outcome .badge.good')")
	p.press(".outcome button.chain")
	p.shows("you approved it")
	p.do(chromedp.NavigateBack())
	p.until("document.querySelector('.outcome button.chain')")
	p.keys("1")
	p.until("document.querySelector('.row.proposal .badge.good')")
	p.keys("k", kb.Enter)
	p.until("document.querySelector('dialog[open] #chain')")
	evaluate[bool](p, "(document.querySelector('dialog #chain').focus(), true)")
	p.keys(kb.Enter)
	p.until("!document.querySelector('dialog') && /you approved it/.test(document.querySelector('.story')?.innerText)")
}
