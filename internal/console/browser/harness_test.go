package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
)

// patience is how long a page may take for one step, on a machine that is busy.
const patience = 60 * time.Second

// What is waited for is looked for so often, and for as long as patience lasts.
var (
	pollingInterval = chromedp.WithPollingInterval(20 * time.Millisecond)
	patiently       = chromedp.WithPollingTimeout(0)
)

// shared is the one browser; nil where there is none.
var shared context.Context

func TestMain(m *testing.M) {
	path := chromium()
	if path == "" {
		os.Exit(m.Run())
	}
	os.Exit(func() int {
		allocator, stop := chromedp.NewExecAllocator(context.Background(),
			append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)...)
		defer stop()
		ctx, cancel := chromedp.NewContext(allocator)
		defer cancel()
		if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
			fmt.Fprintf(os.Stderr, "the browser %s does not start: %v\n", path, err)
			return 1
		}
		shared = ctx
		return m.Run()
	}())
}

// chromium is where a browser is, "" without one.
func chromium() string {
	if path := os.Getenv("PARLEY_CHROMIUM"); path != "" {
		return path
	}
	if path, err := filepath.Abs("../../../.cache/debian/chromium/run"); err == nil {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// page is a tab at a gateway of its own. At the end of the test it fails where the
// page threw an exception or broke its content policy.
type page struct {
	t       testing.TB
	ctx     context.Context
	gateway *parleytest.Gateway

	mu     sync.Mutex
	faults []string
}

// needBrowser skips a test where there is no browser.
func needBrowser(t testing.TB) {
	t.Helper()
	if shared == nil {
		t.Skip("there is no Chromium: scripts/fetch-test-deps fetches Debian's")
	}
}

func newPage(t testing.TB, o *parleytest.Options) *page {
	t.Helper()
	needBrowser(t)
	return newPageAt(t, parleytest.Start(t, o))
}

// newPageAt is another browser at the same gateway: another person.
func newPageAt(t testing.TB, g *parleytest.Gateway) *page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(shared, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &page{t: t, ctx: ctx, gateway: g}
	// The tab lives as long as the context of its first step.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800)); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, struct{}{}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, f := range p.faults {
			t.Errorf("the page: %s", f)
		}
	})
	return p
}

func (p *page) hear(event any) {
	var fault string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		fault = e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			fault += " " + x.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceSecurity {
			fault = e.Entry.Text
		}
	}
	if fault != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.faults = append(p.faults, fault)
	}
}

// do runs steps, each as far as it goes within patience.
func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	for i, step := range steps {
		ctx, cancel := context.WithTimeout(p.ctx, patience)
		err := chromedp.Do(ctx, step)
		cancel()
		if err != nil {
			p.t.Fatalf("step %d: %v\n%s", i+1, err, p.text())
		}
	}
}

// text is what the page shows, for a failure's message.
func (p *page) text() string {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.title + '\\n' + document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return "The page shows:\n" + text
}

// until waits for an expression to become true.
func (p *page) until(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool]("!!("+expression+")", pollingInterval, patiently)); err != nil {
		p.t.Fatalf("waiting for %s: %v\n%s", expression, err, p.text())
	}
}

// shows waits for a text.
func (p *page) shows(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

func evaluate[T any](p *page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func (p *page) keys(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.do(chromedp.KeyEvent(key))
	}
}

func (p *page) size(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

func (p *page) dark(on bool) {
	p.t.Helper()
	scheme := "light"
	if on {
		scheme = "dark"
	}
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// visit goes to a page of the console, as "?page=approvals".
func (p *page) visit(address string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.gateway.URL + "/console/" + address))
}

// signIn signs in by a pasted token and waits for the room to be live.
func (p *page) signIn(who string) {
	p.t.Helper()
	p.visit("")
	p.do(chromedp.WaitVisible("#token"), chromedp.SendKeys("#token", p.gateway.Token(who)), click("form button.primary"))
	p.live()
}

func (p *page) live() {
	p.t.Helper()
	p.until("document.querySelector('.link.live')")
}

// picture keeps a screenshot, where they are wanted.
func (p *page) picture(name string) {
	p.t.Helper()
	folder := os.Getenv("PARLEY_SCREENSHOTS")
	if folder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644)
	}
	if err != nil {
		p.t.Errorf("screenshot %s: %v", name, err)
	}
}

// join is a participant beside the page.
func (p *page) join(who string) *client.Room {
	p.t.Helper()
	room, err := client.Dial(p.t.Context(), p.gateway.URL, &client.Options{Token: p.gateway.Token(who), Space: p.gateway.Space})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(room.Close)
	return room
}

// serve has files answer calls, and returns what it is asked for.
func (p *page) serve() (asked <-chan string) {
	p.t.Helper()
	room := p.join("files")
	calls := make(chan string, 100)
	var served sync.WaitGroup
	ctx, cancel := context.WithCancel(p.t.Context())
	p.t.Cleanup(func() { cancel(); served.Wait() })
	served.Go(func() {
		_ = room.Serve(ctx, func(_ context.Context, r *client.Request) (any, error) {
			calls <- string(r.Envelope.Payload)
			return map[string]any{"content": []any{map[string]any{"type": "text", "text": "wrote it"}}}, nil
		})
	})
	return calls
}

type writeFile struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

func (p *page) propose(agent *client.Room, path string, opts ...client.SendOption) *client.Proposal {
	p.t.Helper()
	one, err := agent.Propose(p.t.Context(), "files", "tools/call",
		writeFile{"write_file", map[string]any{"path": path, "content": "Hello!\n"}}, append(opts, client.Reason("the release notes are ready"))...)
	if err != nil {
		p.t.Fatal(err)
	}
	return one
}

func (p *page) chat(room *client.Room, text string) {
	p.t.Helper()
	if _, err := room.Chat(p.t.Context(), text); err != nil {
		p.t.Fatal(err)
	}
}

func contains(t testing.TB, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%.400q lacks %q", text, part)
	}
}
