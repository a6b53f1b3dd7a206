package browser

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// recorded is a chain of everything that a chain may hold.
type recorded struct {
	t    *testing.T
	all  []*journal.Record
	head journal.Head
}

var recordedAt = time.Date(2026, 3, 1, 12, 0, 0, 7e6, time.UTC)

func (c *recorded) add(r *journal.Record) {
	r.Epoch = "7f3a"
	c.head = r.Place(c.head)
	c.all = append(c.all, r)
}

// say records an envelope, given without what the gateway adds; more are those whom
// it counts as addressed to besides.
func (c *recorded) say(effective, text string, more ...string) {
	c.t.Helper()
	e, err := parley.Decode([]byte(text), 0)
	if err != nil {
		c.t.Fatal(err)
	}
	seq := c.head.Seq + 1
	e.Protocol, e.ID, e.TS, e.From = parley.ProtocolMCPx, fmt.Sprintf("e-%d", seq), recordedAt.Add(time.Duration(seq)*time.Second), "agent"
	r := journal.Envelope(e, parley.SplitKind(effective), [16]byte{byte(seq), 0xfe})
	r.To = append(slices.Clone(r.To), more...)
	c.add(r)
}

func newRecorded(t *testing.T) *recorded {
	c := &recorded{t: t, head: journal.Origin("demo")}
	c.say("chat", `{"kind":"chat","payload":{"text":"grüß dich 👋\u202e \u0041\/ \ud83d\ude00","n":12345678901234567890,"x":1.50}}`)
	c.say("reflection", `{"kind":"reflection","context":{"id":"why","type":"reasoning","parent":"plan","metadata":{"confidence": 0.95}},"payload":{"thought":"\t"}}`)
	c.say("mcp/proposal:tools/call:w", `{"kind":"mcp/proposal:tools/call","to":["files"],"correlation_id":["e-2","e-1"],"context":"audit/2026/q3","acme":{"a" : 1},"b\u0063":[],"payload":{"params":{"name":"w"}}}`)
	c.add(journal.NewCheckpoint(recordedAt, []byte(`{"state":"one"}`), [16]byte{1}))
	c.add(journal.NewRefusal(recordedAt, "eve", "x-1", "space/kick", journal.Refusal{Code: parley.RateLimited}, [16]byte{2}))
	c.add(journal.NewRefusal(recordedAt, "eve", "", "chat", journal.Refusal{Code: parley.RateLimited, Count: 9}, [16]byte{3}))
	c.say("mcp/request:tools/call:w", `{"kind":"mcp/request:tools/call:w","to":["files"],"correlation_id":"e-3","amends":true,"payload":{"id":1}}`, "agent")
	c.say("chat", `{"kind":"chat"}`)
	c.add(journal.NewCheckpoint(recordedAt, []byte("{\"state\":\n\"two\"}"), [16]byte{5}))
	c.say("space/redact", `{"kind":"space/redact","payload":{"id":"e-2"}}`)
	c.add(journal.NewCheckpoint(recordedAt, []byte(`{"state":"three"}`), [16]byte{6}))
	redacted, err := c.all[1].Redact()
	if err != nil {
		t.Fatal(err)
	}
	c.all[1], c.all[3] = redacted, c.all[3].Supersede()
	return c
}

// cut drops the records up to an index, with the marker that says so.
func (c *recorded) cut(through uint64) {
	r := c.all[through-1]
	seq := uint64(0)
	for _, before := range c.all[:through] {
		seq = max(seq, before.Seq)
	}
	h := journal.Head{Index: through, Seq: seq, Hash: r.Hash}
	c.add(journal.NewMarker(recordedAt, journal.Dropped{Through: h, Records: through, Envelopes: seq}, [16]byte{7}))
	c.all = c.all[through:]
}

func (c *recorded) export() []byte {
	c.t.Helper()
	var out bytes.Buffer
	_, err := journal.Export(&out, "demo", func(yield func(*journal.Record, error) bool) {
		for _, r := range c.all {
			if !yield(r, nil) {
				return
			}
		}
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return out.Bytes()
}

// verdict is what a walk comes to; "" is a chain that holds.
type verdict struct {
	Index  uint64 `json:"index"`
	Seq    uint64 `json:"seq"`
	Reason string `json:"reason"`
}

// general is a verdict without what each says in words of its own about a line
// that cannot be read.
func (v verdict) general() verdict {
	if strings.HasPrefix(v.Reason, "edited: line ") {
		v.Reason = "edited: line " + strings.Fields(v.Reason)[2]
	}
	return v
}

func goVerdict(t *testing.T, export []byte, kept ...journal.Head) verdict {
	t.Helper()
	_, err := journal.VerifyExport(bytes.NewReader(export), kept...)
	var b *journal.Break
	switch {
	case errors.As(err, &b):
		return verdict{b.Index, b.Seq, b.Reason}
	case err != nil:
		return verdict{Reason: "unreadable"}
	}
	return verdict{}
}

// pageVerdicts are those of the console's own verifier.
func (p *page) pageVerdicts(exports [][]byte, kept ...journal.Head) []verdict {
	p.t.Helper()
	given, err := json.Marshal(map[string]any{"exports": exports, "kept": heads(kept)})
	if err != nil {
		p.t.Fatal(err)
	}
	return evaluate[[]verdict](p, `(async ({ exports, kept }) => {
		const { verify } = await import("/console/record/verify.js");
		const { parseHead } = await import("/console/record/record.js");
		const all = [];
		for (const text of exports) {
			const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
			try {
				const { broken, outcome } = await verify({ space: "demo", kept: kept.map(parseHead), open: async () => new Blob([bytes]).stream() });
				all.push(broken ?? { index: 0, seq: 0, reason: outcome === "holds" ? "" : outcome });
			} catch (error) {
				all.push({ index: 0, seq: 0, reason: "unreadable" });
			}
		}
		return all;
	})(`+string(given)+`)`)
}

func heads(kept []journal.Head) []string {
	list := []string{}
	for _, h := range kept {
		list = append(list, h.String())
	}
	return list
}

// What the browser computes is what the gateway computed, and it finds what
// parley log verify finds, in the same place.
func TestVerifierAgrees(t *testing.T) {
	whole := newRecorded(t)
	last := whole.head
	exports := [][]byte{whole.export()}
	for _, through := range []uint64{1, 4, 6, 8} {
		c := newRecorded(t)
		c.cut(through)
		exports = append(exports, c.export())
		c.all = c.all[:len(c.all)-1] // and the marker cut off
		exports = append(exports, c.export())
	}
	text := string(exports[0])
	lines := strings.SplitAfter(text, "\n")
	without := func(from, to int) []byte {
		return []byte(strings.Join(slices.Delete(slices.Clone(lines), from, to), ""))
	}
	swapped := slices.Clone(lines)
	swapped[3], swapped[4] = swapped[4], swapped[3]
	exports = append(exports,
		without(3, 4), without(3, 6), without(1, 2), without(10, 11), without(11, 12), without(12, 13),
		[]byte(strings.Join(swapped, "")),
		[]byte(strings.Join(slices.Insert(slices.Clone(lines), 4, lines[3]), "")),
		[]byte(text+lines[1]),
		[]byte(strings.Replace(text, `"index":2,`, `"note":"approved","index":2,`, 1)),
		[]byte(strings.Replace(text, `"type":"envelope",`, `"type":"envelope","from":"boss",`, 1)),
		[]byte(strings.Replace(text, `"type":"refused",`, `"type":"refused","envelope":{},`, 1)),
		[]byte(strings.Replace(text, `"head":`, `"note":1,"head":`, 1)),
		[]byte(strings.Replace(text, `"epoch":`, `"superseded":"approved","epoch":`, 1)),
		[]byte(strings.Replace(text, `"epoch":`, `"redacted":{"note":"approved"},"epoch":`, 1)),
		[]byte(strings.Replace(text, `"epoch":`, `"effective":["approved"],"epoch":`, 1)),
		[]byte(strings.Replace(text, `"epoch":`, `"to":"approved","epoch":`, 1)),
		[]byte(strings.Replace(text, `"epoch":`, ` "epoch":`, 1)),
		[]byte(strings.Replace(text, `"redacted":true,`, `"redacted":true,"salt":"approved",`, 1)),
		[]byte(strings.Replace(text, "}\n{", "}\r\n{", 3)),
		[]byte(strings.Replace(text, `"redacted":true,"rest"`, `"salt":"00000000000000000000000000000000","rest"`, 1)),
		[]byte(strings.Replace(text, `"superseded":true,`, ``, 1)),
		[]byte(strings.Replace(text, `"effective":"mcp/proposal:tools/call:w",`, ``, 1)),
	)
	// And whatever else a byte can do.
	dice := rand.New(rand.NewPCG(7, 7))
	const marks = " \"\\{}[],:0a9f\xff"
	for range 400 {
		b := bytes.Clone(exports[dice.IntN(3)])
		b[len(lines[0])+dice.IntN(len(b)-len(lines[0]))] = marks[dice.IntN(len(marks))]
		exports = append(exports, b)
	}
	p := newPage(t, nil)
	p.visit("")
	p.do(chromedp.WaitVisible("#token"))
	other := last
	other.Hash[3]++
	first := journal.Head{Index: 1, Seq: 1, Hash: whole.all[0].Hash}
	for _, kept := range [][]journal.Head{nil, {last}, {first}, {other}, {{Index: 99, Seq: 9, Hash: last.Hash}}} {
		broken := 0
		for i, got := range p.pageVerdicts(exports, kept...) {
			want := goVerdict(t, exports[i], kept...)
			if want.Reason != "" {
				broken++
			}
			if want.Reason == "unreadable" && got.Reason != "" {
				continue // it does not begin as an export, or a head cannot be checked any more
			}
			if got.general() != want.general() {
				t.Errorf("export %d against %v: the page says %+v, parley log verify says %+v\n%s", i, heads(kept), got, want, different(exports[0], exports[i]))
			}
		}
		if broken < 300 || kept == nil && broken > 420 {
			t.Errorf("against %v, %d of %d are broken", heads(kept), broken, len(exports))
		}
	}
}

// different is where one text begins to differ from another.
func different(a, b []byte) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%d: …%s…", i, b[max(0, i-80):min(len(b), i+80)])
		}
	}
	return "one is the beginning of the other"
}

// manipulated is the page's gateway behind a proxy that edits what it says of the
// journal.
func (p *page) manipulated(edit func(journal string) string) {
	p.t.Helper()
	target, err := url.Parse(p.gateway.URL)
	if err != nil {
		p.t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(r *http.Response) error {
			if !strings.HasSuffix(r.Request.URL.Path, "/journal") {
				return nil
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			edited := edit(string(body))
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(edited)), int64(len(edited))
			r.Header.Set("Content-Length", strconv.Itoa(len(edited)))
			return nil
		},
	}
	server := httptest.NewServer(proxy)
	p.t.Cleanup(server.Close)
	p.gateway.URL = server.URL
}

// get asks the gateway as you.
func (p *page) get(path string) []byte {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), "GET", p.gateway.URL+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.gateway.Token("you"))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s: %s %v", path, resp.Status, b, err)
	}
	return b
}

// verify presses a button of the dialog, and waits for the verdict.
func (p *page) verify(button, verdict string) {
	p.t.Helper()
	p.until("document.querySelector('dialog[open] " + button + "')")
	p.press("dialog " + button + "")
	p.until(fmt.Sprintf("document.querySelector('dialog .verify [role=status]')?.innerText.includes(%q)", verdict))
}

// A journal of the gateway's own, with redactions, refusals, checkpoints and a restart,
// holds; the page remembers up to where, and goes on from there.
func TestVerify(t *testing.T) {
	p := busy(t)
	agent := p.join("agent")
	for i := range 40 {
		p.chat(agent, fmt.Sprintf("message %d", i))
	}
	p.post("agent", `{"id":"secret-1","kind":"reflection","context":{"id":"plan","type":"reasoning"},"payload":{"thought":"the key is 7"}}`)
	p.call("agent", "/v1/spaces/demo/envelopes", `{"kind":"space/kick","payload":{"participant":"boss"}}`, 403)
	p.post("boss", `{"kind":"space/redact","payload":{"id":"secret-1"}}`)
	p.gateway.Restart()
	p.signIn("you")
	p.until("fetch('/v1/spaces/demo/envelopes/secret-1').then((a) => a.text()).then((t) => t.includes('redacted') && (globalThis.redacted = true)) && globalThis.redacted")
	p.visit("?page=search")
	p.shows("not verified")
	p.press("button.verified")
	p.verify("#verify", "nothing was edited, cut out or moved")
	p.shows("1 redacted by order")
	p.picture("verified")
	head := evaluate[string](p, "document.querySelector('code.head').innerText")
	p.keys(kb.Escape)
	p.until("document.querySelector('button.verified.good')?.innerText.includes('verified up to')")

	// The next time it goes on from there, and asks for what is new alone.
	p.join("agent")
	p.visit("?page=search")
	p.until("document.querySelector('button.verified.good')")
	p.press("button.verified")
	evaluate[bool](p, `(globalThis.RealWorker = Worker, globalThis.Worker = class extends RealWorker {
		constructor(...given) { super(...given); this.addEventListener("message", ({ data }) => data.result && runs++); }
		postMessage(m) { globalThis.told = m; super.postMessage(m); }
	}, globalThis.runs = 0, true)`)
	p.verify("#verify", "nothing was edited")
	p.until("runs === 1 && document.querySelector('.compare button:enabled')")
	if from := evaluate[int](p, "told.state.head.index"); from < 40 {
		t.Errorf("it began behind record %d", from)
	}
	p.compareHead(head, "It agrees with the head that was noted.")
}

// What was edited is found, where it is, and remembered.
func TestVerifyManipulated(t *testing.T) {
	p := busy(t)
	agent := p.join("agent")
	for i := range 20 {
		p.chat(agent, fmt.Sprintf("pay %d to the bank", i))
	}
	p.post("agent", `{"id":"order-1","kind":"chat","payload":{"text":"pay 100 to the bank"}}`)
	seq := string(parley.Member(p.get("/v1/spaces/demo/envelopes/order-1"), "seq"))
	p.manipulated(func(journal string) string { return strings.Replace(journal, "pay 100 to", "pay 900 to", 1) })
	p.signIn("you")
	p.visit("?page=search")
	p.press("button.verified")
	p.verify("#verify", "The chain breaks at "+seq+" (record ")
	p.shows("payload, context or unknown fields do not match their hash")
	p.picture("broken")
	p.visit("?page=search&id=order-1")
	p.until("document.querySelector('button.verified.bad')?.innerText.includes('broken at " + seq + "')")
}

// A long record is verified in runs, and a run can be stopped.
func TestVerifyInRuns(t *testing.T) {
	p := newPage(t, nil)
	c := newRecorded(t)
	for i := range 3000 {
		c.say("chat", fmt.Sprintf(`{"kind":"chat","payload":{"text":"message %d"}}`, i))
	}
	p.visit("")
	p.do(chromedp.WaitVisible("#token"))
	text, err := json.Marshal(c.export())
	if err != nil {
		t.Fatal(err)
	}
	outcomes := evaluate[[]string](p, `(async (text) => {
		const { verify } = await import("/console/record/verify.js");
		const all = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
		const lines = new TextDecoder().decode(all).split("\n");
		const open = async (after) => new Blob([lines[0] + "\n" + lines.slice(1 + after).join("\n")]).stream();
		const told = [];
		let state;
		for (let i = 0; i < 4; i++) {
			const r = await verify({ space: "demo", state: state && JSON.parse(JSON.stringify(state)), open, most: 1000 });
			told.push(r.outcome + " " + r.head.index + " " + r.counts.records);
			state = r.state;
		}
		const stopper = new AbortController();
		const stopped = await verify({ space: "demo", open, signal: stopper.signal, progress: ({ head }) => head.index > 500 && stopper.abort() });
		told.push(stopped.outcome, String(stopped.head.index > 500 && stopped.head.index < 2000));
		const on = await verify({ space: "demo", open, state: stopped.state });
		told.push(on.outcome + " " + on.head.index);
		// What was verified before, retention has dropped since: all that is there is walked.
		const cut = await verify({ space: "demo", state, open: async (after) => new Blob([lines[0] + "\n" + lines.slice(1 + Math.max(after, 3005)).join("\n")]).stream() });
		told.push(cut.outcome);
		return told;
	})(`+string(text)+`)`)
	want := []string{"more 1000 1000", "more 2000 2000", "more 3000 3000", "holds 3011 3011", "stopped", "true", "holds 3011", "holds"}
	if !slices.Equal(outcomes, want) {
		t.Errorf("the runs end as\n%q, want\n%q", outcomes, want)
	}
}

// Where a browser computes no hashes, the page says so and what to do.
func TestVerifyWithoutHashes(t *testing.T) {
	p := busy(t)
	p.signIn("you")
	p.visit("?page=search")
	p.until("document.querySelector('button.verified')")
	evaluate[bool](p, "(Object.defineProperty(crypto, 'subtle', { value: undefined }), true)")
	p.press("button.verified")
	p.shows("This browser computes hashes only on pages that came over TLS or from this machine.")
	p.until("!document.querySelector('#verify')")
}
