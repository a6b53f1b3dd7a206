package browser

import (
	"fmt"
	"testing"
)

// withTypes is a room in which the thread "yearly" is of a type that expects other kinds
// than chat, and says so with signs that want to be more than text.
func withTypes(t *testing.T) *page {
	t.Helper()
	needBrowser(t)
	p := upWith(t, `
listen: 127.0.0.1:0
spaces:
  demo:
    participants:
      you: {token: token-of-you, capabilities: ["mcp/*", chat]}
      agent: {token: token-of-agent, capabilities: ["mcp/*", chat, acme/audit]}
    context_types:
      audit:
        description: "who changed what <img src=x onerror=pwned()>&\" \u202e and why"
        kinds: [acme/audit, "mcp/proposal:*"]
`)
	p.signIn("you")
	p.post("agent", `{"kind":"acme/audit","context":{"id":"yearly","type":"audit"},"payload":{"text":"expected"}}`)
	p.post("agent", `{"kind":"chat","context":{"id":"yearly"},"payload":{"text":"an aside"}}`)
	p.post("agent", `{"kind":"chat","context":{"id":"free"},"payload":{"text":"of no type"}}`)
	p.post("agent", `{"kind":"chat","payload":{"text":"in no thread"}}`)
	p.until("document.querySelectorAll('.row').length === 4 && document.querySelector('.threads .name[aria-description]')")
	return p
}

// What a thread is for is told where it is named, and a kind that its type does not
// expect is marked; nothing is refused for it.
func TestThreadTypes(t *testing.T) {
	const (
		about   = `audit: who changed what <img src=x onerror=pwned()>&" ⟨U+202E⟩ and why`
		unusual = `chat is not among the kinds that audit expects: acme/audit, mcp/proposal:*`
	)
	p := withTypes(t)
	p.until(fmt.Sprintf("document.querySelector('.row .thread').title === %q", about))
	p.until(fmt.Sprintf("document.querySelector('.threads .name[aria-description]').ariaDescription === %q", about))
	p.until(fmt.Sprintf("document.querySelector('.threads .name[aria-description]').title === %q", "yearly\n"+about))
	p.until("document.querySelectorAll('.threads .name').length === 2 && document.querySelectorAll('.threads .name[aria-description]').length === 1")
	p.until(fmt.Sprintf("[...document.querySelectorAll('.row')].filter((r) => r.querySelector('.unexpected')?.title === %q).map((r) => r.querySelector('.body').innerText).join() === 'an aside'", unusual))
	p.until("document.querySelectorAll('.unexpected').length === 1")
	p.noMarkup()
	p.picture("threads")

	p.do(click(".row:has(.unexpected)"))
	p.shows(about)
	p.shows(unusual)
	p.picture("thread-message")
	p.closeDialog()
	p.do(click(".row:nth-child(3)"))
	p.until("document.querySelector('dialog .scroll')?.innerText.includes('of no type') && !document.querySelector('.of-thread')")
}

// Where it is told nothing is wider than a small screen, and axe-core finds nothing.
func TestThreadTypesLook(t *testing.T) {
	check := axe(t)
	p := withTypes(t)
	for _, dark := range []bool{false, true} {
		for _, width := range []int64{1280, 360} {
			p.dark(dark)
			p.size(width, 740)
			name := fmt.Sprint(width, "-dark-", dark)
			look := func(what string) {
				p.fits(what + "-" + name)
				check(p, what+"-"+name)
			}
			p.visit("") // where no colour is on its way to another
			p.live()
			p.until("document.querySelector('.row .unexpected')")
			look("threads")
			p.do(click(".row:has(.unexpected)"))
			p.until("document.querySelector('dialog .of-thread')")
			look("thread-message")
			p.closeDialog()
		}
	}
}
