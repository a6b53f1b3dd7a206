package gateway

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// joinPacked joins with a client that compresses.
func (h *harness) joinPacked(id, query string) *peer {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	defer cancel()
	ws, res, err := websocket.Dial(ctx, strings.Replace(h.url, "http", "ws", 1)+"/ws?topic=demo&"+query, &websocket.DialOptions{
		HTTPClient:      h.client,
		HTTPHeader:      http.Header{"Authorization": {"Bearer token-" + id}},
		CompressionMode: websocket.CompressionNoContextTakeover,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	if got := res.Header.Get("Sec-WebSocket-Extensions"); got != agreed {
		h.t.Fatalf("agreed on %q", got)
	}
	ws.SetReadLimit(-1)
	h.t.Cleanup(func() { ws.CloseNow() })
	p := &peer{t: h.t, ws: ws}
	p.welcome = p.next()
	return p
}

// wire is a connection whose frames a test reads itself.
type wire struct {
	t      testing.TB
	nc     net.Conn
	r      *bufio.Reader
	agreed string
}

// offer upgrades a connection with that offer of extensions.
func (h *harness) offer(id, offer, query string) *wire {
	h.t.Helper()
	nc, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprintf(nc, "GET /ws?topic=demo&%s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: %s\r\nAuthorization: Bearer token-%s\r\n\r\n", query, offer, id)
	w := &wire{t: h.t, nc: nc, r: bufio.NewReader(nc)}
	res, err := http.ReadResponse(w.r, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		h.t.Fatalf("%v, %v", res, err)
	}
	w.agreed = res.Header.Get("Sec-WebSocket-Extensions")
	return w
}

func (w *wire) write(frames ...[]byte) {
	w.t.Helper()
	if _, err := w.nc.Write(bytes.Join(frames, nil)); err != nil {
		w.t.Fatal(err)
	}
}

// next is the next frame: its first byte, and what it says.
func (w *wire) next() (first byte, text []byte) {
	w.t.Helper()
	frame := make([]byte, 2, 10)
	w.fill(frame)
	n := int(frame[1])
	if n >= 126 {
		size := frame[:framePrefix(frame)]
		w.fill(size[2:])
		n = 0
		for _, b := range size[2:] {
			n = n<<8 | int(b)
		}
	}
	text = make([]byte, n)
	w.fill(text)
	if frame[0]&compressed != 0 {
		var err error
		if text, err = inflate(nil, text, 10<<20); err != nil {
			w.t.Fatal(err)
		}
	}
	return frame[0], text
}

func (w *wire) fill(b []byte) {
	w.t.Helper()
	if _, err := io.ReadFull(w.r, b); err != nil {
		w.t.Fatal(err)
	}
}

// until is the first frame that holds a text.
func (w *wire) until(part string) (first byte, text string) {
	w.t.Helper()
	for {
		if first, text := w.next(); bytes.Contains(text, []byte(part)) {
			return first, string(text)
		}
	}
}

// closed is the code of the close frame that comes.
func (w *wire) closed() int {
	w.t.Helper()
	for {
		if first, text := w.next(); first == final|opClose {
			code, _ := closeFrameCode(text)
			return code
		}
	}
}

// Those who agreed on compression and those who did not see the same, whoever
// sends how.
func TestCompressedAndNot(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "presence=off")
	bob := h.joinPacked("bob", "presence=off")
	cy := h.joinPacked("cy", "presence=off&kinds=note")
	for i, size := range []int{0, 10, 400, 512, 700, 5_000, 70_000, 100_000, 300_000, 900_000, 900, 3} {
		text := strings.Repeat(fmt.Sprint(i, " and so on "), size/10+1)[:size]
		for _, from := range []*peer{ann, bob} {
			from.send(chat(text))
			for _, to := range []*peer{ann, bob} {
				if got := field(t, to.until("chat"), "text"); got != text {
					t.Fatalf("%d bytes: %d arrive", size, len(got.(string)))
				}
			}
		}
		note := strings.Replace(chat(text), `"chat"`, `"note"`, 1)
		bob.send(note)
		if got := field(t, cy.next(), "text"); got != text {
			t.Fatalf("%d bytes in a note: %d arrive", size, len(got.(string)))
		}
	}
}

// What has a compressed form comes so, the rest as it is, and to those who did
// not agree everything does.
func TestWhatIsCompressed(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "presence=off")
	packed := h.offer("bob", "permessage-deflate; client_max_window_bits", "presence=off")
	plain := h.offer("bob", "permessage-deflate; server_max_window_bits=9", "presence=off")
	if packed.agreed != agreed || plain.agreed != "" {
		t.Fatalf("agreed on %q and %q", packed.agreed, plain.agreed)
	}
	for size, want := range map[int]byte{10: final | opText, 2_000: final | opText | compressed} {
		ann.send(chat(strings.Repeat("z", size)))
		first, text := packed.until("zzz")
		if first != want {
			t.Errorf("%d bytes begin with %x", size, first)
		}
		if first, other := plain.until("zzz"); first != final|opText || other != text {
			t.Errorf("without compression: %x and %.100q, with it %.100q", first, other, text)
		}
	}
}

// Where it is switched off it is not agreed on, and what cannot be read is a
// mistake all the same.
func TestNoCompression(t *testing.T) {
	h := serve(t, Options{NoCompression: true})
	w := h.offer("bob", "permessage-deflate", "")
	if w.agreed != "" {
		t.Errorf("agreed on %q", w.agreed)
	}
	w.write(clientFrame(final|compressed|opText, string(deflated(chat("x")))))
	if code := w.closed(); code != statusProtocol {
		t.Errorf("closed with %d", code)
	}
	req, _ := http.NewRequest("GET", h.url+"/ws?topic=demo", nil)
	req.Header = http.Header{
		"Authorization": {"Bearer token-ann"}, "Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}, "Sec-Websocket-Extensions": {"permessage-deflate;;"},
	}
	res, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("an offer that cannot be read: %s", res.Status)
	}
}

// A compressed message may come in fragments, with control frames between them.
func TestCompressedFragments(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "presence=off")
	w := h.offer("bob", "permessage-deflate", "")
	message := string(deflated(chat(strings.Repeat("in pieces ", 100))))
	for i := range len(message) {
		first := byte(opContinue)
		if i == 0 {
			first = opText | compressed
		}
		if i == len(message)-1 {
			first |= final
		}
		w.write(clientFrame(first, message[i:i+1]))
		if i%7 == 3 {
			w.write(clientFrame(final|opPing, "still there"))
		}
	}
	if got := field(t, ann.until("chat"), "text"); got != strings.Repeat("in pieces ", 100) {
		t.Errorf("got %.100q", got)
	}
	w.until("still there")
	w.write(clientFrame(final|opText, chat("plain")), clientFrame(final|opText|compressed, string(append(ended(chat("ended")), 0))))
	for _, want := range []string{"plain", "ended"} {
		if got := field(t, ann.until("chat"), "text"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The bit belongs to the first frame of a message and to no other.
func TestCompressedBitElsewhere(t *testing.T) {
	h := serve(t, Options{})
	for name, tc := range map[string]struct {
		frames []byte
		code   int
	}{
		"ping":             {clientFrame(final|compressed|opPing, ""), statusProtocol},
		"close":            {clientFrame(final|compressed|opClose, ""), statusProtocol},
		"further fragment": {append(clientFrame(compressed|opText, "a"), clientFrame(final|compressed|opContinue, "b")...), statusProtocol},
		"second bit":       {clientFrame(final|0x20|opText, "x"), statusProtocol},
		"third bit":        {clientFrame(final|compressed|0x10|opText, "x"), statusProtocol},
		"binary":           {clientFrame(final|compressed|opBinary, string(deflated("x"))), statusBinary},
		"no deflate":       {clientFrame(final|compressed|opText, "this is text"), statusNotUTF8},
		"cut":              {clientFrame(final|compressed|opText, string(deflated(chat("cut"))[:20])), statusNotUTF8},
		"not UTF-8":        {clientFrame(final|compressed|opText, string(deflated("{\"kind\":\"\xff\"}"))), statusNotUTF8},
	} {
		w := h.offer("bob", "permessage-deflate", "")
		w.write(tc.frames)
		if code := w.closed(); code != tc.code {
			t.Errorf("%s: closed with %d, want %d", name, code, tc.code)
		}
	}
}

// What becomes too large is refused, whatever little came, and the connection
// goes on.
func TestBomb(t *testing.T) {
	s := demo("ann", "bob")
	s.Rules.Limits.EnvelopeBytes = 100_000
	h := serve(t, Options{Spaces: []Space{s}})
	ann := h.join("ann", "presence=off")
	w := h.offer("bob", "permessage-deflate", "")
	bomb := deflated(chat(strings.Repeat("0", 32<<20)))
	for range 3 {
		w.write(clientFrame(final|opText|compressed, string(bomb)))
		if _, text := w.until("system/error"); !strings.Contains(text, string(parley.EnvelopeTooLarge)) {
			t.Errorf("the bomb is answered with %s", text)
		}
	}
	fits := chat(strings.Repeat("1", 100_000-len(chat(""))))
	w.write(clientFrame(final|opText|compressed, string(deflated(fits))))
	if got := field(t, ann.until("chat"), "text").(string); len(got) != 100_000-len(chat("")) {
		t.Errorf("%d bytes arrive", len(got))
	}
	w.nc.Close()
	h.stop()
	reader, _ := h.journal.Reader(t.Context(), "demo")
	refused := 0
	for rec := range reader.Read(t.Context(), journal.Query{Chain: true}) {
		if rec.Type == journal.Refused {
			refused++
		}
	}
	if refused != 3 {
		t.Errorf("%d refusals are on record", refused)
	}
}

// What is resumed from, or asked for as history, is the same in either form,
// whether it is in memory or not.
func TestCompressedHistory(t *testing.T) {
	s := demo("ann", "bob", "cy")
	s.Rules.Limits.Rate, s.Rules.Limits.Burst = 1e6, 1e6
	h := serve(t, Options{Spaces: []Space{s}, RetainBytes: 64 << 10})
	ann := h.join("ann", "echo=off&presence=off")
	const sent = 200
	for i := range sent {
		ann.send(chat(fmt.Sprint(i, strings.Repeat(" and so on", 200*(i%2)))))
		ann.until(parley.KindAck)
	}
	if first, _ := h.g.rooms["demo"].frames.bounds(); first < 20 {
		t.Fatalf("all is in memory, from %d on", first)
	}
	for _, query := range []string{"history=200", "history=50", "after=2&epoch=e1", "after=190&epoch=e1", "history=200&kinds=chat"} {
		plain, packed := h.join("bob", "presence=off&"+query), h.joinPacked("cy", "presence=off&"+query)
		for {
			a, b := plain.until("chat"), packed.until("chat")
			if a.Seq != b.Seq || string(a.Payload) != string(b.Payload) {
				t.Fatalf("%s: %d %.50s and %d %.50s", query, a.Seq, a.Payload, b.Seq, b.Payload)
			}
			if strings.HasPrefix(field(t, a, "text").(string), fmt.Sprint(sent-1)) {
				break
			}
		}
	}
}
