package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/parleyhq/parley"
)

// parleyProtocol speaks to Parley's gateway: envelopes in WebSocket frames.
type parleyProtocol struct{}

// Receive joins the space and takes the welcome.
func (parleyProtocol) Receive(ctx context.Context, t Target, i int) (*Stream, error) {
	return dialParley(ctx, t, i, t.Query)
}

// Send joins with a filter that keeps away everything but what answers.
func (parleyProtocol) Send(ctx context.Context, t Target, i int) (*Feed, error) {
	query := "presence=off&echo=off&kinds=bench/none"
	if t.Work == WorkCall {
		query += ",mcp/response&routing=directed"
	}
	s, err := dialParley(ctx, t, i, query)
	if err != nil {
		return nil, err
	}
	if t.Work == WorkCall {
		s.Next = nextAnswer
	}
	e, err := newTemplate(t)
	if err != nil {
		s.Conn.Close()
		return nil, err
	}
	return &Feed{Append: e.append, Stream: *s, Check: checkAnswer}, nil
}

// handshakeTime bounds how long it takes to be let in.
const handshakeTime = 60 * time.Second

func dialParley(ctx context.Context, t Target, i int, query string) (*Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	nc, err := dial(ctx, t)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })()
	s, err := join(nc, t, i, query)
	if err != nil {
		nc.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return s, nil
}

func dial(ctx context.Context, t Target) (net.Conn, error) {
	if t.TLS {
		return new(tls.Dialer).DialContext(ctx, "tcp", t.Address)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", t.Address)
}

// join makes the handshake, and reads up to the welcome.
func join(nc net.Conn, t Target, i int, query string) (*Stream, error) {
	req := fmt.Sprintf("GET /ws?space=%s&%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n",
		url.QueryEscape(t.Space), query, t.Address, t.Tokens[i%len(t.Tokens)], handshakeKey)
	if _, err := io.WriteString(nc, req); err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(nc, 4<<10)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer resp.Body.Close()
		return nil, refusal(resp)
	}
	s := &Stream{Conn: nc, Next: textNext, Control: answerPing}
	if s.Early, err = welcome(r); err != nil {
		return nil, err
	}
	return s, nil
}

var handshakeKey = base64.StdEncoding.EncodeToString(make([]byte, 16))

// refusal is what the gateway answered in place of letting us in.
func refusal(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	e := parley.DecodeError(body)
	if e.Message == "" {
		return fmt.Errorf("the server answered %s", resp.Status)
	}
	if after := time.Duration(e.RetryAfterMS) * time.Millisecond; after > 0 {
		return &laterError{error: e, after: after}
	}
	return e
}

// largestWelcome is more than any welcome has, in bytes.
const largestWelcome = 16 << 20

// welcome reads over the first frame, and returns what was read behind it.
func welcome(r *bufio.Reader) (early []byte, err error) {
	var header [10]byte
	n := 2
	for {
		b, err := r.Peek(n)
		if err != nil {
			return nil, err
		}
		size, body, err := textNext(b)
		if err != nil {
			return nil, err
		}
		if size == 0 {
			n = min(n+2, len(header))
			continue
		}
		if size > largestWelcome || body < 0 {
			return nil, errors.New("the server did not begin with a welcome")
		}
		frame := make([]byte, size)
		if _, err := io.ReadFull(r, frame); err != nil {
			return nil, err
		}
		if !bytes.Contains(frame[:min(size, 400)], []byte(`"system/welcome"`)) {
			return nil, fmt.Errorf("the server did not begin with a welcome but with %.200q", frame[body:])
		}
		rest, _ := r.Peek(r.Buffered()) // is buffered, so cannot fail
		return bytes.Clone(rest), nil
	}
}

// nextAnswer is textNext for somebody who calls: its acknowledgements are no
// messages. Only once a frame is there can that be told.
func nextAnswer(b []byte) (size, body int, err error) {
	size, body, err = textNext(b)
	if body >= 0 && size <= len(b) && bytes.Contains(b[body:min(size, body+200)], []byte(`"kind":"system/ack"`)) {
		body = -1
	}
	return size, body, err
}

// template is an envelope in a frame, as one connection sends it again and
// again: only the stamp changes, which is the end of its id.
type template struct {
	frame []byte
	stamp int // where it stands in frame
}

// newTemplate makes an envelope that has Target.Size bytes where it is
// delivered, with all that the gateway adds.
func newTemplate(t Target) (*template, error) {
	id := rand.Text()[:idSize-1] + "-"
	least := SmallestSize(t)
	if t.Size < least {
		return nil, parley.Errorf(parley.InvalidArgument, "an envelope of %d bytes is too small", t.Size).
			WithHint("it has %d at least", least)
	}
	envelope := compose(t, id, t.Size-least)
	frame := append(appendClientHeader(nil, wsText, len(envelope)), envelope...)
	return &template{frame: frame, stamp: bytes.Index(frame, []byte(id)) + len(id)}, nil
}

// SmallestSize is the least that a target's Size can be.
func SmallestSize(t Target) int {
	const added = len(`"seq":1000000,"protocol":"mcpx/v0.1","ts":"2026-01-01T00:00:00.000Z","from":"p10",`)
	return len(compose(t, strings.Repeat("-", idSize), 0)) + added
}

// idSize is what stands before the stamp in an envelope's id.
const idSize = 9

// compose writes an envelope, with so many bytes of text.
func compose(t Target, id string, fill int) string {
	stamp := strings.Repeat("0", stampSize)
	text := strings.Repeat("x", fill)
	if t.Work == WorkCall {
		return fmt.Sprintf(`{"id":"%s%s","to":["%s"],"kind":"mcp/request:tools/call:echo","payload":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"%s"}}}}`,
			id, stamp, t.To, text)
	}
	return fmt.Sprintf(`{"id":"%s%s","kind":"chat","payload":{"text":"%s"}}`, id, stamp, text)
}

func (e *template) append(dst []byte, stamp int64) []byte {
	start := len(dst)
	dst = append(dst, e.frame...)
	AppendStamp(dst[:start+e.stamp], stamp) // overwrites what stood there
	return dst
}

// checkAnswer says why an envelope was refused, if it was.
func checkAnswer(answer []byte) error {
	head := answer[:min(len(answer), 200)]
	if !bytes.Contains(head, []byte(`"kind":"system/error"`)) {
		return nil
	}
	e := parley.DecodeError(parley.Member(answer, "payload"))
	if e.Message == "" {
		return errors.New("the server refused a message")
	}
	return e
}
