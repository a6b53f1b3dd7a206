package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parleyhq/parley/parleytest"
)

const markup = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><a href="javascript:pwned=1">x</a>`

// noMarkup fails where a participant's text became more than text, or made the
// page wider than the screen.
func (p *page) noMarkup() {
	p.t.Helper()
	if evaluate[bool](p, "'pwned' in window || !!document.querySelector('#app script, #app a[href^=javascript], #app img[src=x]')") {
		p.t.Error("text of a participant became markup")
	}
	if wide := evaluate[int](p, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
		p.t.Errorf("the page is %d pixels wider than the screen", wide)
	}
}

func TestHostileText(t *testing.T) {
	p := newPage(t, nil)
	p.signIn("you")
	agent := p.join("agent")
	p.chat(agent, strings.Repeat("W", 1_000_000))
	p.chat(agent, markup)
	p.chat(agent, "pay \u202e000,1\u202c to \u2066me\u2069 \x00\x1b[31mred\x1b[0m\u200b\ufeff")
	p.post("agent", `{"kind":"chat","context":{"id":"a<b>/c"},"payload":{"text":{"deep":`+strings.Repeat("[", 120)+strings.Repeat("]", 120)+`}}}`)
	p.post("agent", `{"kind":"chat","payload":{"text":"last one","format":"markdown"}}`)
	p.shows("last one")
	p.shows("<script>window.pwned=1</script>")
	p.shows("⟨U+202E⟩000,1⟨U+202C⟩")
	p.shows("⟨U+001B⟩[31mred")
	p.noMarkup()
	p.picture("hostile")

	p.size(360, 740)
	p.shows("last one")
	p.noMarkup()
	p.picture("hostile-360")
	p.size(1280, 800)
	evaluate[bool](p, "(document.querySelector('.row').click(), true)") // the word of a million letters
	p.until("document.querySelector('dialog pre')?.innerText.length > 1000")
	p.noMarkup()
}

func TestHostileProposal(t *testing.T) {
	p := newPage(t, nil)
	arguments, err := json.Marshal(map[string]string{
		markup: markup, "bidi": "safe\u202etxt.exe", "long": strings.Repeat("W", 300_000),
	})
	if err != nil {
		t.Fatal(err)
	}
	p.post("agent", `{"kind":"mcp/proposal:tools/call","to":["files"],"payload":{"method":"tools/call","reason":"<b>\u202e`+strings.Repeat("x", 1900)+`","params":{"name":"rm\u202e<i>","arguments":`+string(arguments)+`}}}`)
	p.signIn("you")
	p.visit("?page=approvals")
	p.until("document.querySelector('#approve')")
	p.shows("rm⟨U+202E⟩<i>")
	p.shows("safe⟨U+202E⟩txt.exe")
	p.shows("Only the first")
	p.noMarkup()
	p.picture("hostile-proposal")
	p.size(360, 740)
	p.noMarkup()
	p.picture("hostile-proposal-360")
}

// What nobody knows, and what only breaks programs, is shown plainly: in the room, in
// full, and on every page.
func TestHostileEnvelopes(t *testing.T) {
	cast := parleytest.Cast()
	cast["agent"] = []string{"*"}
	p := newPage(t, &parleytest.Options{Participants: cast, Limits: parleytest.Limits{Nesting: 9_990, ContextDepth: 8}})
	p.signIn("you")
	longest := strings.Repeat("i", 128)
	everybody := `"` + strings.Join(strings.Split(strings.Repeat("x", 64), ""), `-of-many-addressees","`) + `"`
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, e := range []string{
		`{"kind":"acme/unheard-of","payload":{"a":1}}`,
		`{"kind":"acme/unheard-of:m:a:b/c","payload":"text"}`,
		`{"kind":"__proto__","payload":{"__proto__":{"text":"x"},"constructor":{"prototype":{"polluted":1}},"toString":1}}`,
		`{"kind":"constructor","payload":null}`,
		`{"kind":"toString","payload":[1,[2]]}`,
		`{"kind":"valueOf","payload":1e400}`,
		`{"kind":"chat","payload":true}`,
		`{"kind":"chat","payload":{"text":` + deep(100) + `}}`,
		`{"kind":"chat"}`,
		`{"kind":"acme/deep","payload":` + deep(9_900) + `}`,
		`{"kind":"acme/deep","payload":` + strings.Repeat(`{"a":`, 9_900) + `1` + strings.Repeat("}", 9_900) + `}`,
		`{"kind":"acme/wide","payload":[` + strings.Repeat("0,", 200_000) + `0]}`,
		`{"kind":"acme/in","context":{"id":"__proto__","type":"constructor","metadata":{"__proto__":1}},"payload":{}}`,
		`{"kind":"acme/in","context":{"id":"constructor","parent":"__proto__"},"payload":{}}`,
		`{"id":"` + longest + `","kind":"acme/id","context":{"id":"` + strings.Repeat("c", 128) + `"},"payload":{}}`,
		`{"kind":"acme/to","to":[` + everybody + `],"correlation_id":["` + longest + `"],"payload":{}}`,
		`{"kind":"mcp/request:tools/call:__proto__","to":["you"],"payload":{"method":"tools/call","params":{"name":"__proto__","arguments":` + deep(5000) + `}}}`,
		`{"kind":"mcp/proposal:tools/call:constructor","to":["files"],"context":{"id":"__proto__"},"payload":{"method":"tools/call","reason":{"a":1},"params":{"name":"constructor","arguments":{"__proto__":` + deep(5000) + `}}}}`,
		`{"kind":"chat","payload":{"text":"Z` + strings.Repeat(`\u0301\u0316`, 3000) + ` the end"}}`,
		`{"kind":"chat","payload":{"text":"` + strings.Repeat(`\u200b`, 20_000) + `"}}`,
		`{"kind":"chat","payload":{"text":"[click](javascript:pwned=1) ![x](x) <https://a.example> [https://bank.example](https://evil.example) <img src=x onerror=pwned=1>","format":"markdown"}}`,
		`{"kind":"chat","payload":{"text":"last one"}}`,
	} {
		p.post("agent", e)
	}
	p.shows("last one")
	p.shows("⟨+")
	p.noMarkup()
	if heights := evaluate[[]float64](p, "[...new Set([...document.querySelectorAll('.row')].map((r) => r.getBoundingClientRect().height))]"); len(heights) != 1 {
		t.Errorf("the rows are %v high", heights)
	}
	p.picture("hostile-envelopes")
	if evaluate[bool](p, "'polluted' in {} || 'text' in {}") {
		t.Error("a payload changed what all objects are made of")
	}

	// Each of them in full.
	p.do(chromedp.Focus(".rows"))
	p.keys(kb.Home)
	rows := evaluate[int](p, "Number(document.querySelector('.row').ariaSetSize)")
	for n := range rows {
		p.until(fmt.Sprintf("document.querySelector('.row.current')?.ariaPosInSet === '%d'", n+1))
		p.keys(kb.Enter)
		p.until("document.querySelector('dialog[open] .block') && !document.querySelector('dialog[open]').innerText.includes('Loading')")
		p.noMarkup()
		p.keys(kb.Escape)
		p.until("!document.querySelector('dialog')")
		p.keys(kb.ArrowDown)
	}
	for _, address := range []string{"?page=approvals", "?page=search", "?page=people", "?page=health", "?context=__proto__", "?kind=__proto__", "?q=constructor", "?page=search&id=" + longest, "?page=search&view=replay&context=__proto__", "?page=__proto__"} {
		p.visit(address)
		p.live()
		p.until("document.querySelector('#main')")
		p.noMarkup()
	}
}

// A word of a million letters, and markdown that means harm, in full.
func TestHostileMarkdown(t *testing.T) {
	p := newPage(t, nil)
	p.signIn("you")
	agent := p.join("agent")
	p.chat(agent, "[click](javascript:pwned=1) [b](data:text/html,<script>pwned=1</script>) ![x](https://evil.example/p.png)\n\n"+markup+"\n\n[https://bank.example](https://evil.example/?\u202e)\n\n"+strings.Repeat("> ", 300)+"deep "+strings.Repeat("W", 900_000))
	p.until("document.querySelector('.row.chat')")
	p.do(click(".row.chat"))
	p.until("document.querySelector('dialog[open] .markdown blockquote')")
	p.shows("(javascript:pwned=1)")
	p.noMarkup()
	p.picture("hostile-markdown")
	type anchor struct{ Href, Rel, Target, Beside string }
	for _, a := range evaluate[[]anchor](p, "[...document.querySelectorAll('dialog a')].map((a) => ({ Href: a.href, Rel: a.rel, Target: a.target, Beside: a.nextElementSibling?.textContent ?? '' }))") {
		if !strings.HasPrefix(a.Href, "https://evil.example/") || a.Rel != "noopener noreferrer" || a.Target != "_blank" || a.Beside != a.Href {
			t.Errorf("a link is %+v", a)
		}
	}
	p.do(click("#as-written"))
	p.shows("![x](https://evil.example/p.png)")
	p.size(360, 740)
	p.noMarkup()
}
