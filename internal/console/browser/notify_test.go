package browser

import (
	"strings"
	"testing"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// elsewhere makes the page one that nobody looks at, with notifications that the
// test can read. answer is what the browser's user says to the question.
func (p *page) elsewhere(answer string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, cdpage.AddScriptToEvaluateOnNewDocument, cdpage.AddScriptToEvaluateOnNewDocumentParams{Source: `
		document.hasFocus = () => false;
		window.told = [];
		window.Notification = class {
			static permission = sessionStorage.getItem("permission") ?? "default";
			static async requestPermission() {
				sessionStorage.setItem("permission", "` + answer + `");
				return (Notification.permission = "` + answer + `");
			}
			constructor(title, options) {
				Object.assign(this, { title, ...options, open: true });
				window.told.push(this);
			}
			close() {
				this.open = false;
			}
		};`})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *page) told() string {
	p.t.Helper()
	return strings.Join(evaluate[[]string](p, "window.told.map((n) => n.title + ' | ' + n.body)"), "\n")
}

func (p *page) allowNotifications() {
	p.t.Helper()
	p.do(click("#bell"))
	p.until("document.querySelector('dialog[open] #notify')")
	p.do(click("#notify"))
}

// A new proposal is told once, by its tool and proposer; old ones are not, and
// neither is one's own.
func TestNotifications(t *testing.T) {
	p := newPage(t, nil)
	p.elsewhere("granted")
	agent := p.join("agent")
	p.propose(agent, "old.md")
	p.signIn("you")
	p.visit("?page=approvals")
	p.waiting(1)
	p.propose(agent, "before-consent.md")
	p.waiting(2)
	p.allowNotifications()
	p.until("document.querySelector('#notify')?.checked")
	p.shows("nothing of the arguments")
	p.picture("notifications")
	p.do(click("dialog .close"))
	p.until("document.querySelector('#bell')?.innerText.includes('on')")

	p.postProposal("you", `{"name":"write_file","arguments":{"own":true}}`)
	p.propose(agent, "secret-name.md")
	p.waiting(4)
	p.until("window.told.length === 1")
	if got, want := p.told(), "write_file: proposed by agent | It waits for a decision in demo."; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	// Nothing is told again over a restart of the gateway; what came meanwhile is.
	p.gateway.Restart()
	last := p.propose(p.join("agent"), "after.md")
	p.waiting(5)
	p.until("window.told.length === 2")

	// A click leads to it, and what is decided is taken back.
	evaluate[bool](p, "(window.told[1].onclick(), true)")
	p.until("location.search.includes('proposal=" + last.Envelope.ID + "')")
	p.until("document.querySelector('.queue li:nth-child(5) .current')")
	p.join("boss")
	p.until("document.querySelector('#reject')")
	p.keys("r")
	p.until("document.querySelector('dialog[open] form.reject')")
	p.do(click("dialog button[type=submit]"))
	p.waiting(4)
	p.until("!window.told[1].open")

	// A crowd is told of as one.
	crowd := p.join("agent")
	evaluate[bool](p, `(async () => {
		const { Notifier } = await import("/console/approvals/notify.js");
		window.crowd = new Notifier({ me: "you", address: { space: "demo" }, mine: [], store: { last: 0, epoch: "e" }, go() {} });
		window.crowd.heard();
		window.crowd.app.mine = Array.from({ length: 50 }, (_, i) => ({ id: "p" + i, seq: i + 1, title: "x", from: "y" }));
		window.crowd.heard();
		window.crowd.heard();
		window.crowd.stop();
		return true;
	})()`)
	if got := p.told(); strings.Count(got, "\n") != 2 || !strings.HasSuffix(got, "50 proposals wait for you | in demo") {
		t.Errorf("told %q", got)
	}

	// Turned off, nothing is told; and what is chosen stays over a reload.
	p.visit("?page=approvals")
	p.live()
	p.until("document.querySelector('#bell')?.innerText.includes('on')")
	p.waiting(4)
	p.allowNotifications()
	p.until("document.querySelector('#notify')?.checked === false")
	p.do(click("dialog .close"))
	p.until("!document.querySelector('dialog')")
	p.propose(crowd, "quiet.md")
	p.waiting(5)
	if got := p.told(); got != "" {
		t.Errorf("told %q", got)
	}
}

func TestNotificationsForbidden(t *testing.T) {
	p := newPage(t, nil)
	p.elsewhere("denied")
	p.signIn("you")
	p.visit("?page=approvals")
	p.live()
	p.allowNotifications()
	p.shows("Your browser does not allow this page to notify you.")
	p.until("document.querySelector('#notify')?.checked === false")
}

// How many wait stands in the title and on the icon, unless one wants that not.
func TestBadge(t *testing.T) {
	p := newPage(t, nil)
	p.propose(p.join("agent"), "a.txt")
	p.signIn("you")
	p.until("document.title === '(1) demo · Parley' && document.querySelector('link[rel=icon]').href.endsWith('icon_waiting.svg')")
	p.keys("2")
	p.do(click("#bell"), chromedp.WaitVisible("dialog[open] #badge"), click("#badge"))
	p.until("document.title === 'demo · Parley' && document.querySelector('link[rel=icon]').href.endsWith('/icon.svg')")
	if status := evaluate[int](p, "fetch('/console/icon_waiting.svg').then((r) => r.status)"); status != 200 {
		t.Errorf("the icon: %d", status)
	}
}
