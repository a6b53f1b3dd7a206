package browser

import (
	"fmt"
	"testing"

	"github.com/parleyhq/parley/parleytest"
)

// furnish makes a room that looks like one at work.
func (p *page) furnish() {
	p.t.Helper()
	p.serve()
	agent, boss := p.join("agent"), p.join("boss")
	p.gateway.ListTools("files", `{"name":"write_file","description":"Write a text file. What was in it before is replaced.","inputSchema":{"type":"object"}}`)
	p.chat(agent, "Good morning. I am reading the repository and will propose the release notes.")
	for _, thought := range []string{
		"Eleven commits since v0.4.1: two are fixes that people asked for.",
		"The change of the journal's format needs a line of its own.",
		"The notes belong into docs/, beside those of the last release.",
	} {
		p.post("agent", fmt.Sprintf(`{"kind":"reflection","context":{"id":"release-notes","type":"reasoning"},"payload":{"thought":%q}}`, thought))
	}
	if _, err := boss.Request(p.t.Context(), "files", "tools/call", writeFile{"read_file", map[string]any{"path": "CHANGELOG.md"}}); err != nil {
		p.t.Fatal(err)
	}
	p.chat(boss, "Keep it short, please.")
	rejected := p.propose(agent, "README.md")
	if _, err := boss.Reject(p.t.Context(), rejected.Envelope, "policy", "the README is for people"); err != nil {
		p.t.Fatal(err)
	}
	p.post("agent", `{"kind":"mcp/proposal:tools/call:write_file","to":["files"],"context":{"id":"release-notes"},"payload":{"method":"tools/call",
		"reason":"The notes are ready; you asked for them to be short.","params":{"name":"write_file","arguments":{"path":"docs/release-0.5.md","content":"# 0.5\n\nTwo fixes, and a journal that is half as large.\n"}}}}`)
	p.propose(agent, "docs/index.md")
}

// Each page at each size and in each light: nothing is wider than the screen, and
// what is needed to decide can be seen.
func TestLooks(t *testing.T) {
	cast := parleytest.Cast()
	cast["agent"] = append(cast["agent"], "reflection")
	p := newPage(t, &parleytest.Options{Participants: cast})
	p.furnish()
	p.signIn("you")
	for _, size := range []struct{ width, height int64 }{{360, 740}, {640, 800}, {1280, 800}, {3840, 2160}} {
		for _, dark := range []bool{false, true} {
			p.size(size.width, size.height)
			p.dark(dark)
			name := fmt.Sprintf("%d-%v", size.width, map[bool]string{false: "light", true: "dark"}[dark])
			if got := evaluate[bool](p, "getComputedStyle(document.documentElement).backgroundColor === 'rgb(16, 18, 22)'"); got != dark {
				t.Errorf("%s: dark is %v", name, got)
			}
			p.visit("")
			p.live()
			p.until("document.querySelector('#review')")
			p.fits("room-" + name)
			p.do(click("#review"))
			p.until("document.querySelector('#confirm[aria-disabled=false]')")
			p.fits("review-" + name)
			p.visit("?page=approvals")
			p.until("document.querySelector('.beside li')")
			p.shows("What was in it before is replaced.")
			p.fits("approvals-" + name)
			p.lookAtShell(func(what string) { p.fits(what + "-" + name) })
			p.lookAtApprovals(func(what string) { p.fits(what + "-" + name) })
			p.lookAtPeople(func(what string) { p.fits(what + "-" + name) })
			p.lookAtHealth(func(what string) { p.fits(what + "-" + name) })
			p.lookAtPast(func(what string) { p.fits(what + "-" + name) })
			p.lookAtForms(func(what string) { p.fits(what + "-" + name) })
		}
	}
}

// The choice of light or dark stays.
func TestTheme(t *testing.T) {
	p := newPage(t, nil)
	p.dark(false)
	p.signIn("you")
	p.keys("t")
	p.until("document.documentElement.dataset.theme === 'dark'")
	p.visit("")
	p.until("getComputedStyle(document.documentElement).backgroundColor === 'rgb(16, 18, 22)'")
}

// fits fails where the page is wider or higher than the screen, or a button lies
// outside of it.
func (p *page) fits(name string) {
	p.t.Helper()
	p.picture(name)
	out := evaluate[[]string](p, `(() => {
		const out = [];
		const root = document.documentElement;
		if (root.scrollWidth > innerWidth) out.push("the page is " + root.scrollWidth + " wide");
		if (root.scrollHeight > innerHeight) out.push("the page is " + root.scrollHeight + " high");
		for (const e of document.querySelectorAll((document.querySelector("dialog") ? "dialog " : "") + ":is(button, input, select)")) {
			const box = e.getBoundingClientRect();
			if (box.width && (box.left < 0 || box.right > innerWidth + 1)) out.push(e.outerHTML.slice(0, 80) + " lies outside");
		}
		const primary = document.querySelector("dialog #confirm, #approve, #review");
		if (primary?.getBoundingClientRect().bottom > innerHeight) out.push("the button to decide is below the screen");
		return out;
	})()`)
	for _, what := range out {
		p.t.Errorf("%s: %s", name, what)
	}
}
