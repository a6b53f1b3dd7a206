package browser

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/parleyhq/parley/parleytest"
)

// What happens is seen in the figures, and read by keys, by words and in a table.
func TestHealth(t *testing.T) {
	p := newPage(t, nil)
	p.signIn("you")
	p.visit("?page=health")
	p.live()
	p.until("document.querySelector('.tiles .badge.good')?.innerText === 'ready'")
	p.shows("Nothing was refused since the gateway started.")
	for i := range 20 {
		p.call("agent", "/v1/spaces/demo/envelopes", fmt.Sprintf(`{"kind":"chat","payload":{"text":"message %d"}}`, i), http.StatusAccepted)
	}
	for range 3 {
		p.call("agent", "/v1/spaces/demo/envelopes", `{"kind":"space/kick","payload":{"participant":"you"}}`, http.StatusForbidden)
	}
	p.until(`[...document.querySelectorAll('.tables tbody tr')].some((r) => /^capability_violation\s+\d\s+3$/.test(r.innerText))`)
	p.until("document.querySelectorAll('.plot .trace-0[d*=L]').length >= 2") // two looks and more
	p.until("/on record \\d.*\\/s/.test(document.querySelector('.plot .legend').innerText.replaceAll('\\n', ' '))")
	p.picture("health")

	reading := `document.querySelector('.plot input[type=range]')`
	evaluate[bool](p, reading+".focus(), true")
	p.keys(kb.ArrowLeft)
	p.until("document.querySelector('.plot .cursor').getAttribute('d') !== ''")
	p.until("/^at \\d\\d:\\d\\d:\\d\\d$/.test(document.querySelector('.plot .when').innerText)")
	contains(t, evaluate[string](p, reading+".getAttribute('aria-valuetext')"), "on record")
	p.press(".plot summary")
	p.until("document.querySelectorAll('.plot table tbody tr').length >= 2")

	// Elsewhere the figures are kept, and come back whole.
	looks := "document.querySelectorAll('.plot table tbody tr').length"
	before := evaluate[int](p, looks)
	p.keys("1")
	p.until("document.querySelector('.rows')")
	p.do(click("nav a[href*='page=health']"))
	p.until("document.querySelector('.plot .trace-0[d*=L]')")
	p.press(".plot summary")
	p.until(fmt.Sprintf("%s >= %d", looks, before))
}

// lookAtHealth shows the page with figures of more than one look, and a table.
func (p *page) lookAtHealth(look func(what string)) {
	p.t.Helper()
	p.visit("?page=health")
	p.live()
	p.until("document.querySelector('.tiles .badge.good') && document.querySelectorAll('.plot .trace-0[d*=L]').length >= 2")
	look("health")
	p.press(".plot summary")
	p.until("document.querySelector('.plot table tbody tr')")
	look("health-table")
}

// A gateway that is away and comes back leaves a gap, and its counters begin anew.
func TestHealthAfterRestart(t *testing.T) {
	p := newPage(t, nil)
	p.signIn("you")
	p.visit("?page=health")
	p.live()
	p.until("document.querySelector('.tiles .badge.good')")
	p.gateway.Restart()
	p.live()
	p.until("document.querySelector('.tiles .badge.good') && !document.querySelector('.health .problem')")
	p.until("document.querySelector('.plot .trace-0[d*=L]')")
	if text := evaluate[string](p, "document.querySelector('.health').innerText"); strings.Contains(text, "-") && regexp.MustCompile(`-\d`).MatchString(text) {
		t.Errorf("a figure is below zero: %s", text)
	}
}

// Where the figures are kept back, by a proxy perhaps, the page says so and shows the rest.
func TestHealthWithoutFigures(t *testing.T) {
	p := newPage(t, nil)
	p.signIn("you")
	evaluate[bool](p, `(() => { const all = fetch; globalThis.fetch = (path, ...more) => path === "/metrics" ? Promise.resolve(new Response("<h1>Forbidden</h1>", { status: 403 })) : all(path, ...more); return true; })()`)
	p.do(click("nav a[href*='page=health']"))
	p.shows("The figures are kept from you (403).")
	p.until("document.querySelector('.tiles .badge.good')")
	p.shows("The gateway runs no MCP servers of this space.")
}

// A server that fails is told with its last words, and one that runs is restarted.
func TestServers(t *testing.T) {
	needBrowser(t)
	p := upWith(t, `
listen: 127.0.0.1:0
spaces:
  demo:
    participants:
      you: {token: token-of-you, capabilities: ["mcp/*", "chat", "capability/*", "space/*"]}
      guest: {token: token-of-guest, capabilities: [chat]}
    mcp_servers:
      files: {command: PARLEY, args: [tools, files, .], response: wrap}
      broken: {command: sh, args: ["-c", "echo 'no such \u202e folder <b>' >&2; exit 3"]}
`)
	server := func(name string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('.servers li')].find((l) => l.querySelector('.person').innerText === '%s')`, name)
	}
	p.signIn("you")
	p.do(click("nav a[href*='page=health']"))
	p.until(server("files") + "?.querySelector('.badge').innerText === 'running'")
	p.until(server("broken") + "?.querySelector('.badge').innerText === 'failed'")
	p.until(server("broken") + "?.innerText.includes('exit status 3')")
	evaluate[bool](p, server("broken")+".querySelector('details').open = true")
	p.shows("no such ⟨U+202E⟩ folder <b>")
	p.post("you", `{"to":["files"],"kind":"mcp/request:tools/call:list_directory","payload":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_directory","arguments":{"path":"."}}}}`)
	p.until(`[...document.querySelectorAll('.tables tbody tr')].some((r) => /^you\s+1\s+\d+\s+\d+$/.test(r.innerText))`)
	process := server("files") + "?.innerText.match(/process (\\d+)/)?.[1]"
	before := evaluate[string](p, process)
	p.picture("health-servers")
	evaluate[bool](p, server("files")+".querySelector('.restart').click(), true")
	p.until("document.querySelector('#confirm[aria-disabled=false]')")
	p.set("reason", "it forgot its folder")
	p.picture("health-restart")
	p.press("#confirm")
	p.until("!document.querySelector('dialog')")
	p.until(server("files") + "?.innerText.includes('1 restart')")
	p.until(fmt.Sprintf("%s?.querySelector('.badge').innerText === 'running' && %s !== '%s'", server("files"), process, before))

	other := newPageAt(t, p.gateway)
	other.signIn("guest")
	other.do(click("nav a[href*='page=health']"))
	other.shows("takes a right that you lack: space/restart-bridge")
	if n := evaluate[int](other, "document.querySelectorAll('.restart, .servers details').length"); n != 0 {
		t.Errorf("a guest is shown %d buttons and last words", n)
	}
}

// An event that nobody took is looked at, sent again, and dropped.
func TestWebhooks(t *testing.T) {
	needBrowser(t)
	var asked atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(receiver.Close)
	p := upWith(t, `
listen: 127.0.0.1:0
webhooks:
  - {name: ops, url: "`+receiver.URL+`/secret-path", secret: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=", retries: 0}
spaces:
  demo:
    participants:
      you: {token: token-of-you, capabilities: ["mcp/*", "chat", "space/*"]}
      guest: {token: token-of-guest, capabilities: [chat, "mcp/proposal:*"]}
`)
	p.signIn("you")
	p.post("guest", `{"kind":"mcp/proposal:tools/call:w","payload":{"method":"tools/call","params":{"name":"w"}}}`)
	p.do(click("nav a[href*='page=health']"))
	p.until("document.querySelector('.webhooks .badge')?.innerText === 'active'")
	p.shows("Given up 1")
	p.press(".webhooks summary")
	p.until("document.querySelector('.webhooks tbody tr')?.innerText.includes('proposal.opened')")
	p.picture("health-webhooks")
	before := asked.Load()
	p.press(".webhooks tbody button")
	p.until("document.querySelector('.webhooks tbody tr')")
	for deadline := time.Now().Add(patience); asked.Load() == before && time.Now().Before(deadline); {
		evaluate[bool](p, "new Promise((done) => setTimeout(() => done(true), 20))")
	}
	if asked.Load() == before {
		t.Error("it was not sent again")
	}
	p.until("document.querySelector('.webhooks .danger')")
	p.press(".webhooks .danger")
	p.until("document.querySelector('dialog[open]')")
	p.press("#confirm")
	p.until("!document.querySelector('dialog') && !document.querySelector('.webhooks details')")

	other := newPageAt(t, p.gateway)
	other.signIn("guest")
	other.do(click("nav a[href*='page=health']"))
	other.shows("takes a right that you lack: space/webhook")
}

// upWith is a tab at "parley up" with a configuration, in which PARLEY is the program.
func upWith(t *testing.T, config string) *page {
	t.Helper()
	folder := t.TempDir()
	binary, file := filepath.Join(folder, "parley"), filepath.Join(folder, "parley.yaml")
	if out, err := exec.Command("go", "build", "-C", "../../..", "-o", binary, "./cmd/parley").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(config, "PARLEY", binary)), 0o600); err != nil {
		t.Fatal(err)
	}
	up := exec.CommandContext(t.Context(), binary, "up", "--config", file)
	up.WaitDelay = patience
	up.Cancel = func() error { return up.Process.Signal(os.Interrupt) }
	out, err := up.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	up.Stderr = os.Stderr
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = up.Wait() }) // it was interrupted
	address := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if found := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(lines.Text()); found != "" {
				select {
				case address <- found:
				default:
				}
			}
		}
	}()
	return newPageAt(t, &parleytest.Gateway{URL: receive(t, address), Space: "demo"})
}
