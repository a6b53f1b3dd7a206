package browser

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/parleytest"
)

// asking is a room in which files may ask people.
func asking() *parleytest.Options {
	cast := parleytest.Cast()
	cast["files"] = append(cast["files"], "mcp/request:elicitation/create", "mcp/request:sampling/createMessage")
	cast["agent"] = append(cast["agent"], "mcp/request:elicitation/create")
	return &parleytest.Options{Participants: cast}
}

// booking is a form with a field of each sort.
const booking = `{"mode":"form","message":"How is the table to be?","requestedSchema":{"type":"object","properties":{
	"people":{"type":"integer","title":"How many","description":"Children count.","minimum":1,"maximum":8},
	"name":{"type":"string","minLength":2,"maxLength":40},
	"seat":{"type":"string","oneOf":[{"const":"in","title":"Inside"},{"const":"out","title":"Terrace"}],"default":"in"},
	"room":{"type":"string","enum":["a","b","c","d","e","f","g"],"enumNames":["Ash","Beech","Cedar","Dogwood","Elm","Fir","Gorse"]},
	"extras":{"type":"array","items":{"type":"string","enum":["candles","music","cake"]},"minItems":1,"maxItems":2},
	"quiet":{"type":"boolean","title":"A quiet place"},
	"mail":{"type":"string","format":"email"},
	"site":{"type":"string","format":"uri"},
	"day":{"type":"string","format":"date"},
	"at":{"type":"string","format":"date-time","default":"2026-03-31T15:04:05.50+02:00"},
	"budget":{"type":"number","default":1234567890123456789.00},
	"note":{"type":"string"}},
	"required":["people","name","quiet"]}}`

// ask has files ask somebody for something, under an id.
func (p *page) ask(id, to, params string) {
	p.t.Helper()
	p.post("files", fmt.Sprintf(`{"id":%q,"kind":"mcp/request:elicitation/create","to":[%q],"payload":{"jsonrpc":"2.0","id":"rpc-%s","method":"elicitation/create","params":%s}}`, id, to, id, params))
}

// answers are the payloads of the answers on record to what was asked under an id.
func (p *page) answers(id string) (all []string) {
	p.t.Helper()
	for _, e := range p.envelopes("?kind=mcp/response:elicitation/create&correlation=" + id) {
		all = append(all, string(parley.Member([]byte(e), "payload")))
	}
	return all
}

// envelopes are those on record that a query finds.
func (p *page) envelopes(query string) (all []string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), "GET", p.gateway.URL+"/v1/spaces/"+p.gateway.Space+"/envelopes"+query, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.gateway.Token("boss"))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s %v", resp.Status, b, err)
	}
	for e := range parley.Elements(parley.Member(b, "items")) {
		all = append(all, string(e))
	}
	return all
}

// answered fails unless what was asked under an id has one answer, with this result.
func (p *page) answered(id, result string) {
	p.t.Helper()
	want := fmt.Sprintf(`{"jsonrpc":"2.0","id":"rpc-%s","result":%s}`, id, result)
	if got := p.answers(id); len(got) != 1 || got[0] != want {
		p.t.Errorf("%s is answered\n%q, want\n%q", id, got, want)
	}
}

// fillIn types into the field of a form that is called so.
func (p *page) fillIn(name, text string) {
	p.t.Helper()
	evaluate[bool](p, fmt.Sprintf(`(() => {
		const field = [...document.querySelectorAll(".field")].find((f) => (f.querySelector(".code") ?? f.querySelector("bdi")).textContent === %q);
		const control = field.querySelector("input, select, textarea");
		control.focus();
		control.value = %q;
		control.dispatchEvent(new Event("input", { bubbles: true }));
		control.dispatchEvent(new Event("change", { bubbles: true }));
		return true;
	})()`, name, text))
}

// tick chooses an option of the field that is called so.
func (p *page) tick(name, option string) {
	p.t.Helper()
	evaluate[bool](p, fmt.Sprintf(`(() => {
		const field = [...document.querySelectorAll(".field")].find((f) => (f.querySelector("legend .code") ?? f.querySelector("legend bdi"))?.textContent === %q);
		[...field.querySelectorAll("label")].find((l) => l.textContent.trim().startsWith(%q)).click();
		return true;
	})()`, name, option))
}

// settled clicks what takes no click in the first moments.
func (p *page) settled(selector string) {
	p.t.Helper()
	p.until(fmt.Sprintf("document.querySelector(%q)", selector+"[aria-disabled=false]"))
	p.do(click(selector))
}

// A form is filled in and sent: each sort of field, and every digit.
func TestFillForm(t *testing.T) {
	p := newPage(t, asking())
	p.signIn("you")
	p.ask("table", "you", booking)
	p.until("document.querySelector('#answer')")
	p.shows("files asks you something")
	p.until("document.title.startsWith('(1)')")
	p.picture("form-strip")
	p.do(click("#answer"))
	p.until("document.querySelector('dialog[open] .field')")
	p.until("document.activeElement.id === 'field-0'")
	p.picture("form")

	p.do(click("#review-answers"))
	p.shows("3 answers do not fit yet.")
	p.until("document.activeElement.id === 'field-0' && document.activeElement.getAttribute('aria-describedby').includes('field-0-problem')")
	p.shows("expected an integer from 1 to 8, got nothing")
	p.picture("form-problems")
	p.fillIn("people", "9")
	p.shows("expected an integer from 1 to 8, got 9")
	p.fillIn("people", "4")
	p.until("!document.querySelector('#field-0-problem')")
	p.fillIn("name", "Ann")
	p.fillIn("room", "2")
	p.tick("extras", "music")
	p.tick("extras", "cake")
	p.tick("quiet", "No")
	p.fillIn("mail", "ann@example.com")
	p.fillIn("site", "https://example.com/a?b")
	p.fillIn("day", "2026-04-01")
	p.do(click("#review-answers"))
	p.until("document.querySelector('#send')")
	p.shows("Exactly as it will be sent")
	p.picture("form-summary")
	const result = `{"action":"accept","content":{"people":4,"name":"Ann","seat":"in","room":"c","extras":["music","cake"],"quiet":false,"mail":"ann@example.com","site":"https://example.com/a?b","day":"2026-04-01","at":"2026-03-31T15:04:05.50+02:00","budget":1234567890123456789.00}}`
	if got := evaluate[string](p, "document.querySelector('dialog .bytes').textContent"); got != result {
		t.Errorf("the summary says\n%s, want\n%s", got, result)
	}
	p.settled("#send")
	p.until("!document.querySelector('dialog') && !document.querySelector('#answer')")
	p.answered("table", result)
	p.until("document.querySelector('.row.call .badge.good')")
}

// Declining and cancelling are told apart, and take nothing that was typed along.
func TestDeclineAndCancel(t *testing.T) {
	p := newPage(t, asking())
	p.ask("first", "you", booking) // before the page is there
	p.ask("second", "you", booking)
	p.signIn("you")
	p.shows("and 1 more")
	p.keys("i")
	p.settled("#decline")
	p.until("!document.querySelector('dialog')")
	p.answered("first", `{"action":"decline"}`)
	p.until("document.querySelector('#answer') && !document.body.innerText.includes('and 1 more')")
	p.do(click("#answer"))
	p.settled("#cancel")
	p.until("!document.querySelector('dialog') && !document.querySelector('#answer')")
	p.answered("second", `{"action":"cancel"}`)
}

// Esc leaves a form for later, with what was typed; so does an answer that is refused.
func TestFormKeepsWhatWasTyped(t *testing.T) {
	p := newPage(t, asking())
	p.signIn("you")
	p.ask("note", "you", `{"message":"A note?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"},"note":{"type":"string"}}}}`)
	p.until("document.querySelector('#answer')")
	p.do(click("#answer"))
	p.until("document.activeElement.id === 'field-0'")
	p.do(chromedp.SendKeys("#field-0", "123456789012345678901234567890"))
	p.do(chromedp.SendKeys("#field-1", "one\ntwo"))
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog')")
	if got := p.answers("note"); len(got) != 0 {
		t.Fatalf("Esc answers: %s", got)
	}
	p.chat(p.join("agent"), "meanwhile")
	p.shows("meanwhile")
	p.do(click(".row.call"))
	p.until("document.querySelector('dialog[open] #field-1')?.value === 'one\\ntwo'")

	// The right to answer is taken, and given back.
	const answering = `{"recipient":"you","capabilities":["mcp/response:elicitation/create"]}`
	p.post("boss", `{"kind":"capability/revoke","payload":`+answering+`}`)
	p.do(click("#review-answers"))
	p.settled("#send")
	p.shows("Nothing you typed is lost.")
	p.picture("form-refused")
	p.post("boss", `{"kind":"capability/grant","payload":`+answering+`}`)
	p.settled("#send")
	p.until("!document.querySelector('dialog')")
	p.answered("note", `{"action":"accept","content":{"n":123456789012345678901234567890,"note":"one\ntwo"}}`)
}

// A form that was answered elsewhere, or is no longer asked, says so where it stood, and
// what is typed on does nothing else.
func TestFormEndsElsewhere(t *testing.T) {
	p := newPage(t, asking())
	p.signIn("you")
	other := newPageAt(t, p.gateway)
	other.signIn("you")
	const params = `{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","maxLength":20}},"required":["name"]}}`
	open := func(p *page) {
		p.until("document.querySelector('#answer')")
		p.do(click("#answer"))
		p.until("document.activeElement.id === 'field-0'")
	}
	p.ask("name", "you", params)
	open(p)
	open(other)
	p.keys("A")
	other.fillIn("name", "Bea")
	other.do(click("#review-answers"))
	other.settled("#send")
	p.shows("You answered it elsewhere.")
	p.keys("a", "r", "e")
	p.until("document.querySelector('dialog[open] .outcome')")
	p.picture("form-ended")
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog') && !document.querySelector('#answer')")
	p.answered("name", `{"action":"accept","content":{"name":"Bea"}}`)

	p.ask("again", "you", params)
	open(p)
	p.post("files", `{"kind":"mcp/request:notifications/cancelled","to":["you"],"correlation_id":"again","payload":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"again","reason":"\u202egave up"}}}`)
	p.shows("It is no longer asked: ⟨U+202E⟩gave up")
	p.until("document.querySelectorAll('.row.call .badge')[1].innerText === 'cancelled'")
	if got := p.answers("again"); len(got) != 0 {
		t.Errorf("what is no longer asked is answered: %s", got)
	}
}

// Forms that were asked before what the page begins with are found on record.
func TestOlderForms(t *testing.T) {
	o := asking()
	o.Limits = parleytest.Limits{History: 5}
	p := newPage(t, o)
	p.ask("old", "you", `{"message":"An old question?"}`)
	p.ask("done", "you", `{"message":"Answered long ago?"}`)
	p.ask("for-boss", "boss", `{"message":"Not yours?"}`)
	p.post("you", `{"kind":"mcp/response:elicitation/create","to":["files"],"correlation_id":"done","payload":{"jsonrpc":"2.0","id":"rpc-done","result":{"action":"decline"}}}`)
	agent := p.join("agent")
	for i := range 20 {
		p.chat(agent, fmt.Sprint(i))
	}
	p.signIn("you")
	p.shows("An old question?")
	if evaluate[bool](p, "document.body.innerText.includes('Answered long ago?') || document.querySelector('.strip').innerText.includes('more')") {
		t.Error("more is asked than the one that waits")
	}
	// There is nothing to fill in: only something to agree to.
	p.do(click("#answer"))
	p.until("document.querySelector('dialog[open] #send')")
	p.picture("form-empty")
	p.settled("#send")
	p.until("!document.querySelector('dialog')")
	p.answered("old", `{"action":"accept","content":{}}`)
}

// Without a mouse: from the strip to the answer.
func TestFormByKeyboard(t *testing.T) {
	p := newPage(t, asking())
	p.signIn("you")
	p.ask("keys", "you", `{"message":"Which?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","maxLength":20},"seat":{"type":"string","enum":["in","out"]},"sure":{"type":"boolean"}},"required":["name","seat","sure"]}}`)
	p.until("document.querySelector('#answer')")
	p.keys("i")
	p.until("document.activeElement.id === 'field-0'")
	p.keys("A", "n", "n", kb.Tab, " ", kb.ArrowDown, kb.Tab, " ", kb.Enter)
	p.until("document.activeElement.id === 'send'")
	p.until("document.querySelector('#send[aria-disabled=false]')")
	p.keys(kb.Enter)
	p.until("!document.querySelector('dialog')")
	p.answered("keys", `{"action":"accept","content":{"name":"Ann","seat":"out","sure":true}}`)
}

// A link is shown with where it leads, and opened after a confirmation alone.
func TestLinkForm(t *testing.T) {
	p := newPage(t, asking())
	p.signIn("you")
	evaluate[bool](p, "(globalThis.opened = [], globalThis.open = (...how) => { opened.push(how.join(' ')); return null; }, true)")
	p.ask("link", "you", `{"mode":"url","message":"Sign in, please.","elicitationId":"1","url":"https://bank.example@Evil.example/a?b#c"}`)
	p.until("document.querySelector('#answer')")
	p.do(click("#answer"))
	p.until("document.querySelector('dialog[open] #confirm-link')")
	if got := evaluate[string](p, "document.querySelector('.url').textContent + ' ' + document.querySelector('.url strong').textContent"); got != "https://bank.example@evil.example/a?b#c evil.example" {
		t.Errorf("the link is shown as %s", got)
	}
	p.shows("What stands before the @ is a name")
	p.picture("form-link")
	p.do(click("#confirm-link"))
	p.shows("You leave the room for evil.example")
	p.picture("form-link-confirm")
	p.settled("#open-link")
	p.until("!document.querySelector('dialog')")
	p.answered("link", `{"action":"accept"}`)
	if got := evaluate[[]string](p, "opened"); len(got) != 1 || got[0] != "https://bank.example@evil.example/a?b#c _blank noopener,noreferrer" {
		t.Errorf("opened %q", got)
	}

	for i, url := range []string{"javascript:alert(1)", "data:text/html,x", "http://example.com/", "not a link", "file:///etc/passwd"} {
		id := fmt.Sprintf("bad-%d", i)
		p.ask(id, "you", fmt.Sprintf(`{"mode":"url","message":"Here.","elicitationId":"2","url":%q}`, url))
		p.until("document.querySelector('#answer')")
		p.do(click("#answer"))
		p.shows("This cannot be opened from here")
		if evaluate[bool](p, "!!document.querySelector('#confirm-link, dialog a')") {
			t.Errorf("%s can be opened", url)
		}
		p.settled("#decline")
		p.until("!document.querySelector('dialog') && !document.querySelector('#answer')")
		p.answered(id, `{"action":"decline"}`)
	}
	if n := len(evaluate[[]string](p, "opened")); n != 1 {
		t.Errorf("%d links were opened", n)
	}
}

// A pattern is tried where it cannot hold up the page.
func TestPatterns(t *testing.T) {
	p := newPage(t, asking())
	p.signIn("you")
	p.ask("pattern", "you", `{"message":"m","requestedSchema":{"type":"object","properties":{"code":{"type":"string","pattern":"^[a-z]+(?!\\d)$"},"slow":{"type":"string","pattern":"^(a+)+$"},"none":{"type":"string","pattern":"("}}}}`)
	p.until("document.querySelector('#answer')")
	p.do(click("#answer"))
	p.until("document.querySelector('dialog[open] .field')")
	p.fillIn("code", "ABC")
	p.shows(`expected a text that matches "^[a-z]+(?!\\d)$", got "ABC"`)
	p.fillIn("code", "abc")
	p.fillIn("slow", strings.Repeat("a", 60)+"!")
	p.fillIn("none", "x")
	p.do(click("#review-answers"))
	p.settled("#send")
	p.until("!document.querySelector('dialog')")
	p.answered("pattern", `{"action":"accept","content":{"code":"abc","slow":"`+strings.Repeat("a", 60)+`!","none":"x"}}`)
}

// A request that is no form stands in the room, says that nothing here answers it, and
// can be refused.
func TestUnservedRequest(t *testing.T) {
	p := newPage(t, asking())
	p.signIn("you")
	p.post("files", `{"id":"sample","kind":"mcp/request:sampling/createMessage","to":["you"],"payload":{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":10}}}`)
	p.until("document.querySelector('.row.call .badge.warn')?.innerText === 'asks you'")
	if evaluate[bool](p, "!!document.querySelector('#answer')") {
		t.Error("a request that is no form is shown as one")
	}
	p.do(click(".row.call"))
	p.shows("The console does not answer sampling/createMessage")
	p.shows(`"maxTokens": 10`) // and nothing moves any more
	p.picture("form-unserved")
	p.do(click("#refuse"))
	p.until("document.querySelector('.row.call .badge.bad')")
	p.until("!document.querySelector('#refuse')")
	p.shows("you does not serve this")
}

// A form says for whose call it is asked, where that call was made of the asker; the
// answer goes into the request's context.
func TestFormSaysWhy(t *testing.T) {
	o := asking()
	p := newPage(t, o)
	p.signIn("you")
	p.post("you", `{"id":"call","kind":"mcp/request:tools/call:book_table","to":["files"],"context":{"id":"dinner","type":"reasoning"},"payload":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book_table","arguments":{"on":"Friday"}}}}`)
	p.post("you", `{"id":"other","kind":"mcp/request:tools/call:pay","to":["boss"],"payload":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay"}}}`)
	p.post("files", `{"id":"why","kind":"mcp/request:elicitation/create","to":["you"],"correlation_id":["other","call"],"context":{"id":"dinner","metadata":{"n":12345678901234567890}},"payload":{"jsonrpc":"2.0","id":12345678901234567890,"method":"elicitation/create","params":`+booking+`}}`)
	p.answerNext()
	p.shows("It is asked for your call of book_table.")
	p.fillIn("people", "4")
	p.fillIn("name", "Ann")
	p.tick("quiet", "Yes")
	evaluate[int](p, "document.querySelector('dialog .scroll').scrollTop = 0")
	p.picture("console-form")
	p.do(click("#review-answers"))
	p.settled("#send")
	p.until("!document.querySelector('dialog')")
	wire := p.envelopes("?kind=mcp/response:elicitation/create&correlation=why")
	if len(wire) != 1 {
		t.Fatalf("the answers are %q", wire)
	}
	contains(t, wire[0], `"context":{"id":"dinner"}`)
	contains(t, wire[0], `"to":["files"]`)
	contains(t, wire[0], `"id":12345678901234567890,"result"`)
}
