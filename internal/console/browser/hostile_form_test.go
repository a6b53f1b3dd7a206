package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parleyhq/parley/client"
)

// asJSON is a text as JSON.
func asJSON(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// answerNext opens the form that has waited longest.
func (p *page) answerNext() {
	p.t.Helper()
	p.until("document.querySelector('#answer')")
	p.do(click("#answer"))
	p.until("document.querySelector('dialog[open] .filling .buttons')")
}

// Whatever stands in a form is text, and stays where it is put.
func TestHostileForm(t *testing.T) {
	p := newPage(t, asking())
	p.signIn("you")
	zalgo := "Z" + strings.Repeat("\u0301\u0316", 500) + "!"
	hostile := asJSON(t, markup+"\u202egnp\x1b[31m\u200b"+strings.Repeat("W", 600))
	p.ask("hostile", "you", `{"message":`+asJSON(t, markup+"\n\nfiles asks you something\n\u202e"+zalgo+strings.Repeat("W", 30_000))+`,"requestedSchema":{"type":"object","properties":{
		"__proto__":{"type":"string","title":`+hostile+`,"description":`+asJSON(t, zalgo+strings.Repeat("d", 10_000))+`,"default":`+hostile+`},
		"constructor":{"type":"integer","title":"Decline"},
		"<b>":{"type":"string","enum":[`+hostile+`,"__proto__"],"enumNames":["\u202ea","b"]},
		"toString":{"type":"array","items":{"anyOf":[{"const":`+hostile+`,"title":`+hostile+`}]}}},"required":["__proto__"]}}`)
	p.answerNext()
	p.shows("<script>window.pwned=1</script>")
	p.shows("⟨U+202E⟩gnp⟨U+001B⟩[31m⟨U+200B⟩")
	p.shows("⟨+992 marks⟩")
	p.shows("What is suggested holds characters that cannot be seen")
	p.noMarkup()
	p.picture("hostile-form")
	p.size(360, 740)
	p.noMarkup()
	p.picture("hostile-form-360")
	p.size(1280, 800)
	p.do(click("#review-answers"))
	p.until("document.querySelector('#send')")
	p.noMarkup()
	p.settled("#send")
	p.until("!document.querySelector('dialog')")
	p.answered("hostile", `{"action":"accept","content":{"__proto__":`+hostile+`}}`)
}

// What is no form is shown plainly, whatever it is, and can be declined.
func TestOddForms(t *testing.T) {
	p := newPage(t, asking())
	p.signIn("you")
	for i, one := range []struct{ params, shown string }{
		{`{"message":"m","mode":"\u202eform"}`, "is not known here"},
		{`{"requestedSchema":{}}`, "there is no message"},
		{`null`, "expected an object, got null"},
		{`[1,"a"]`, "expected an object, got a list"},
		{`{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}}`, "MCP's forms have no such thing"},
		{`{"message":"m","requestedSchema":{"type":"object","properties":{"a":` + strings.Repeat(`{"type":"object","properties":{"a":`, 40) + `{"type":"string"}` + strings.Repeat("}}", 40) + `}}}`, "an object inside of a form"},
		{`{"message":"` + strings.Repeat("W", 900_000) + `"}`, "longer than 65536 bytes"},
		{`{"message":"m","requestedSchema":{"type":"object","properties":{` + fields(1001) + `}}}`, "there are more than 1000 fields"},
		{`{"message":"m","requestedSchema":{"type":"object","properties":{` + choices(12, 500) + `}}}`, "more than can be shown as a form"},
	} {
		id := fmt.Sprintf("odd-%d", i)
		p.ask(id, "you", one.params)
		p.answerNext()
		p.shows(one.shown)
		p.noMarkup()
		p.settled("#cancel")
		p.until("!document.querySelector('dialog') && !document.querySelector('#answer')")
		p.answered(id, `{"action":"cancel"}`)
	}
	// Where an object is wanted, it can be written as it is sent.
	p.ask("raw", "you", `{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"object"}}}}`)
	p.answerNext()
	p.do(chromedp.SendKeys("#raw-answer", `{"a":`))
	p.do(click("#review-answers"))
	p.until("document.querySelector('#raw-problem').innerText !== ''")
	p.picture("form-odd")
	p.do(chromedp.SendKeys("#raw-answer", `{"b":12345678901234567890.0}}`))
	p.do(click("#review-answers"))
	p.settled("#send")
	p.until("!document.querySelector('dialog')")
	p.answered("raw", `{"action":"accept","content":{"a":{"b":12345678901234567890.0}}}`)
}

// fields are so many of a form.
func fields(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"f%d":{"type":"string","title":"Field %d"}`, i, i))
	}
	return strings.Join(all, ",")
}

// choices are so many fields of a form, with so many choices each.
func choices(n, each int) string {
	var values, all []string
	for i := range each {
		values = append(values, fmt.Sprintf(`"%d"`, i))
	}
	for i := range n {
		all = append(all, fmt.Sprintf(`"c%d":{"type":"string","enum":[%s]}`, i, strings.Join(values, ",")))
	}
	return strings.Join(all, ",")
}

// The largest form is one that can be filled in, while the room goes on.
func TestLargestForm(t *testing.T) {
	p := newPage(t, asking())
	p.signIn("you")
	p.ask("large", "you", `{"message":"m","requestedSchema":{"type":"object","properties":{`+fields(1000)+`}}}`)
	p.answerNext()
	p.fillIn("f0", "first")
	p.fillIn("f999", "last")
	agent := p.join("agent")
	for i := range 50 {
		p.chat(agent, fmt.Sprintf("meanwhile %d", i))
	}
	p.until("document.querySelector('.rows').innerText.includes('meanwhile 49')")
	p.do(click("#review-answers"))
	p.settled("#send")
	p.until("!document.querySelector('dialog')")
	p.answered("large", `{"action":"accept","content":{"f0":"first","f999":"last"}}`)
}

// Whoever asks for too much has it wait, and others are not kept from asking.
func TestFloodOfForms(t *testing.T) {
	p := newPage(t, asking())
	p.signIn("you")
	for i := range 40 {
		p.ask(fmt.Sprintf("flood-%d", i), "you", fmt.Sprintf(`{"message":"number %d"}`, i))
	}
	p.post("agent", `{"id":"calm","kind":"mcp/request:elicitation/create","to":["you"],"payload":{"method":"elicitation/create","params":{"message":"me too"}}}`)
	p.shows("and 16 more")
	p.visit("?page=approvals")
	p.live()
	p.until("document.querySelectorAll('.asked-list li').length === 17")
	p.do(click(".asked-rest summary"))
	p.shows("More wait")
	p.shows("me too")
	p.picture("form-queue")
}

// lookAtForms goes through what is asked and said, as boss does.
func (p *page) lookAtForms(check func(what string)) {
	p.t.Helper()
	p.visit("")
	p.live()
	p.post("boss", fmt.Sprintf(`{"id":%q,"kind":"mcp/request:elicitation/create","to":["you"],"payload":{"method":"elicitation/create","params":%s}}`, client.NewID(), booking))
	p.answerNext()
	p.until("document.querySelector('#decline[aria-disabled=false]')")
	check("form")
	p.do(click("#review-answers"))
	p.until("document.querySelector('#field-0-problem')")
	check("form-problems")
	p.fillIn("people", "4")
	p.fillIn("name", "Ann")
	p.tick("quiet", "Yes")
	p.do(click("#review-answers"))
	p.until("document.querySelector('#send[aria-disabled=false]')")
	check("form-summary")
	p.settled("#send")
	p.until("!document.querySelector('dialog')")
	p.post("boss", `{"kind":"chat","payload":{"text":"# Plan\n\nRead the **notes**, then [ask](https://example.com/a):\n\n1. `+"`go test`"+`\n2. write it down\n\n> short, please"}}`)
	p.until("[...document.querySelectorAll('.row.chat')].at(-1)?.innerText.includes('# Plan')")
	evaluate[bool](p, "([...document.querySelectorAll('.row.chat')].at(-1).click(), true)")
	p.until("document.querySelector('dialog[open] .markdown li')")
	check("said")
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog')")
}
