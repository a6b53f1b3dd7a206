package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/parleytest"
)

// busy is a page whose gateway takes many messages at once.
func busy(t *testing.T) *page {
	t.Helper()
	cast := parleytest.Cast()
	cast["agent"] = append(cast["agent"], "reflection", "conclusion")
	return newPage(t, &parleytest.Options{Participants: cast, Limits: parleytest.Limits{Rate: 1e6, Burst: 1e6, History: 100}})
}

// found waits for a number of rows in the list of what was found.
func (p *page) found(n int) {
	p.t.Helper()
	p.until(fmt.Sprintf("document.querySelectorAll('.rows .row').length === %d", n))
}

// captured has the page hand over what it saves, as {name, text}.
func (p *page) capture() {
	p.t.Helper()
	evaluate[bool](p, `(globalThis.saved = [], URL.createObjectURL = (blob) => { saved.push(blob); return "#saved"; },
		HTMLAnchorElement.prototype.click = function () { saved.name = this.download; }, true)`)
}

func (p *page) saved() (name, text string) {
	p.t.Helper()
	p.until("saved.length === 1 && saved.name")
	text = evaluate[string](p, "saved[0].text()")
	return evaluate[string](p, "saved.splice(0).length && saved.name"), text
}

// onRecord is an envelope as the gateway delivers it.
func (p *page) onRecord(id string) string {
	p.t.Helper()
	return evaluate[string](p, fmt.Sprintf("fetch('/v1/spaces/demo/envelopes/%s').then((a) => a.text())", id))
}

// What is on record is found by each part of a question, and the question stands in
// the address.
func TestSearch(t *testing.T) {
	p := busy(t)
	p.serve()
	agent, boss := p.join("agent"), p.join("boss")
	for i := range 250 {
		p.chat(agent, fmt.Sprintf("the lamp is number %d", i))
	}
	p.chat(boss, "a lamp of brass")
	p.post("agent", `{"id":"thought-1","kind":"reflection","context":{"id":"plan-1"},"payload":{"thought":"which lamp?"}}`)
	p.post("agent", `{"id":"thought-2","kind":"reflection","context":{"id":"deeper","parent":"plan-1"},"payload":{"thought":"the lamp in the hall"}}`)
	p.signIn("you")
	p.visit("?page=search&q=lamp")
	p.until("document.querySelector('.row')?.ariaSetSize === '100'")
	p.until("document.querySelector('#told').innerText.includes('and more')")
	if first := evaluate[string](p, "document.querySelector('.row .body').innerText"); !strings.Contains(first, "the lamp in the hall") {
		t.Errorf("the newest is %q", first)
	}
	p.picture("search")
	p.until("(document.querySelector('.rows').scrollTop = 1e9, document.querySelector('.row')?.ariaSetSize === '253')")
	p.until("document.querySelector('#told').innerText.includes('253 messages')")

	p.fill("input[name=from]", "boss")
	p.found(1)
	p.shows("a lamp of brass")
	p.until("location.search.includes('from=boss') && location.search.includes('q=lamp')")
	p.visit("?page=search&kind=reflection")
	p.found(2)
	p.visit("?page=search")
	p.until("document.querySelector('.rows .row') && (document.querySelector('.rows').scrollTop = 1e9, document.querySelector('#told').innerText.includes('comings and goings left out'))")
	if evaluate[bool](p, "document.querySelector('.rows').innerText.includes('joined')") {
		t.Error("who came is listed among what was said")
	}
	p.until("document.querySelector('#presence') && (document.querySelector('#presence').click(), true)")
	p.until("location.search.includes('kind=*') && document.querySelector('.rows').innerText.includes('you joined')")
	p.visit("?page=search&context=plan-1")
	p.found(1)
	p.press("input[name=subtree]")
	p.found(2)
	p.until("location.search.includes('subtree=true')")
	p.visit("?page=search&to=files")
	p.shows("Nothing on record matches.")
	p.visit("?page=search&kind=%7B")
	p.until("document.querySelector('#told .bad')?.innerText.includes('not a pattern of kinds')")
	p.visit("?page=search&q=brass&until=2020-01-01T00:00:00.000Z")
	p.shows("Nothing on record matches.")
	p.press(".search .empty button")
	p.found(1)
}

// Times are local on the page and UTC in the address.
func TestSearchTimes(t *testing.T) {
	p := busy(t)
	if _, err := chromedp.Call(p.ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "America/St_Johns"}); err != nil {
		t.Fatal(err)
	}
	p.chat(p.join("agent"), "just now")
	p.signIn("you")
	p.visit("?page=search&q=now&since=1h")
	p.found(1)
	if label := evaluate[string](p, "document.querySelector('select[name=span]').selectedOptions[0].innerText"); label != "Last hour" {
		t.Errorf("the time is %q", label)
	}
	p.visit("?page=search&q=now&since=2020-01-01T12:00:00.000Z")
	p.found(1)
	if local := evaluate[string](p, "document.querySelector('input[name=since]').value"); local != "2020-01-01T08:30:00" && local != "2020-01-01T08:30" {
		t.Errorf("noon in UTC is %q there", local)
	}
	evaluate[bool](p, "((f) => (f.value = '2020-06-01T10:00', f.dispatchEvent(new Event('change', { bubbles: true }))))(document.querySelector('input[name=until]'))")
	p.until("location.search.includes('until=2020-06-01T12%3A30%3A00.000Z')")
	p.shows("Nothing on record matches.")
}

// A message leads to its chain, to what stands around it, and to its thread.
func TestSearchLeadsOn(t *testing.T) {
	p := busy(t)
	agent := p.join("agent")
	for i := range 300 {
		p.chat(agent, fmt.Sprintf("message %d", i))
	}
	p.post("agent", `{"id":"thought-1","kind":"reflection","context":{"id":"plan-1"},"payload":{"thought":"which lamp?"}}`)
	p.signIn("you")
	p.visit("?page=search&q=150")
	p.found(1)
	p.keys("j")
	p.keys(kb.Enter)
	p.until("document.querySelector('dialog[open] #chain')")
	p.press("dialog #chain + button")
	p.until("location.search.includes('at=') && document.querySelector('.row.current')?.innerText.includes('message 150')")
	p.until("document.querySelector('.rows').innerText.includes('message 151') && document.querySelector('.rows').innerText.includes('message 149')")
	p.picture("search-around")
	p.until("(document.querySelector('.rows').scrollTop = 0, document.querySelector('.rows').innerText.includes('which lamp?'))")
	evaluate[bool](p, "([...document.querySelectorAll('.row')].find((r) => r.innerText.includes('which lamp?')).click(), true)")
	p.until("document.querySelector('dialog[open] pre')?.innerText.includes('thought-1')")
	p.picture("message")
	evaluate[bool](p, "([...document.querySelectorAll('dialog button')].find((b) => b.innerText === 'Only this thread').click(), true)")
	p.until("location.search.includes('context=plan-1') && !location.search.includes('at=')")
	p.found(1)
	p.do(chromedp.NavigateBack())
	p.until("location.search.includes('at=')")
}

// A question that changes ends the search before, one at a time is asked, and a search
// that takes long can be stopped.
func TestSearchCancel(t *testing.T) {
	p := busy(t)
	p.chat(p.join("agent"), "a lamp")
	p.signIn("you")
	p.visit("?page=search")
	p.until("document.querySelector('.rows .row')")
	evaluate[bool](p, `(globalThis.asked = [], globalThis.ended = [], globalThis.real = fetch, globalThis.fetch = (url, o) => {
		if (!/envelopes\?.*limit=100/.test(url)) return real(url, o); // what is asked of us is looked for as well
		asked.push(String(url));
		return new Promise((done, failed) => o.signal.addEventListener("abort", () => { ended.push(String(url)); failed(new DOMException("", "AbortError")); }));
	}, true)`)
	// At one moment: somebody types faster than it is asked.
	evaluate[bool](p, `(["l", "la", "lam"].forEach((words) => {
		const field = document.querySelector("input[name=q]");
		field.value = words;
		field.dispatchEvent(new Event("input", { bubbles: true }));
	}), true)`)
	p.until("asked.length === 1 && asked[0].includes('q=lam')")
	p.shows("Searching…")
	if rows := evaluate[int](p, "document.querySelectorAll('.rows .row').length"); rows == 0 {
		t.Error("what was found before is gone before there is something new")
	}
	p.fill("input[name=q]", "lamp")
	p.until("asked.length === 2 && ended.length === 1")
	p.press("#told button")
	p.until("ended.length === 2")
	p.shows("Stopped.")
	evaluate[bool](p, "(globalThis.fetch = real, true)")
	p.press("#told button")
	p.until("document.querySelector('#told').innerText.includes('1 message')")
}

// The file holds all that is found, byte for byte, in order.
func TestExportSearch(t *testing.T) {
	p := busy(t)
	agent := p.join("agent")
	for i := range 1100 { // more than a page
		p.chat(agent, fmt.Sprintf("lamp %d", i))
	}
	p.post("agent", `{"id":"exact-1","kind":"chat","payload":{"text":"lamp \u0041\/ 👋 `+"\u202e"+`","n":12345678901234567890,"x":1.50}}`)
	p.signIn("you")
	p.visit("?page=search&q=lamp")
	p.until("document.querySelector('.row')?.ariaSetSize === '100'")
	p.capture()
	p.press("#export")
	name, text := p.saved()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 1101 || lines[1100]+"\n" != p.onRecord("exact-1") {
		t.Errorf("%d lines, the last is %s", len(lines), lines[len(lines)-1])
	}
	contains(t, lines[0], "lamp 0")
	contains(t, lines[1100], `12345678901234567890,"x":1.50`)
	if seq := func(line string) string { return string(parley.Member([]byte(line), "seq")) }; name != "demo-search-"+seq(lines[0])+"-"+seq(lines[1100])+".jsonl" {
		t.Errorf("the file is named %s", name)
	}
}

// A page that one comes back to shows what it showed.
func TestPagesKeepTheirFilters(t *testing.T) {
	p := busy(t)
	p.chat(p.join("agent"), "a lamp")
	p.signIn("you")
	p.visit("?q=lamp")
	p.live()
	p.keys("3")
	p.until("location.search.includes('page=search') && !location.search.includes('q=')")
	p.fill("input[name=q]", "nothing-like-it")
	p.shows("Nothing on record matches.")
	p.keys(kb.Escape)
	p.keys("1")
	p.until("!location.search.includes('page=') && location.search.includes('q=lamp')")
	p.keys("3")
	p.until("location.search.includes('q=nothing-like-it')")
}

// lookAtPast shows all that Search has, one after the other.
func (p *page) lookAtPast(seen func(what string)) {
	p.t.Helper()
	p.visit("?page=search")
	p.until("document.querySelector('.rows .row') && document.querySelector('#review')")
	seen("search")
	p.visit("?page=search&q=nothing-like-it&since=2026-01-01T00:00:00.000Z")
	p.shows("Nothing on record matches.")
	p.until("document.querySelector('#review')")
	if evaluate[int](p, "innerWidth") <= 620 {
		p.press("button.unfold")
		p.until("document.querySelector('input[name=since]').offsetWidth > 0")
	}
	seen("search-empty")
	p.press("button.verified")
	p.until("document.querySelector('dialog[open] #verify') && document.querySelector('code.head')")
	seen("verify")
	p.visit("?page=search&id=" + p.openProposals()[0].ID)
	p.until("document.querySelectorAll('.step').length > 1 && document.querySelector('#review')")
	p.press(".step.here summary")
	p.until("document.querySelector('.step pre')")
	seen("chain")
	p.visit("?page=search&view=replay&context=release-notes&at=99999")
	p.until("document.querySelectorAll('.played .said').length === 4 && document.querySelector('#review')")
	seen("replay")
	p.visit("")
	p.live()
	p.until("document.querySelector('#review')")
	if evaluate[int](p, "innerWidth") <= 860 {
		p.press("button.aside")
		p.until("document.querySelector('dialog[open] .people')")
		seen("people-and-threads")
	}
	p.press(".row.chat")
	p.until("document.querySelector('dialog[open] #chain')")
	seen("message")
}
