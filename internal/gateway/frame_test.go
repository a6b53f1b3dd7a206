package gateway

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

func TestFrameHeader(t *testing.T) {
	for _, tc := range []struct {
		payload int
		want    []byte
	}{
		{0, []byte{0x81, 0}},
		{125, []byte{0x81, 125}},
		{126, []byte{0x81, 126, 0, 126}},
		{65535, []byte{0x81, 126, 0xff, 0xff}},
		{65536, []byte{0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0}},
	} {
		got := appendFrameHeader(nil, opText, tc.payload)
		if !slices.Equal(got, tc.want) || len(got) != frameHeaderSize(tc.payload) {
			t.Errorf("%d: % x, want % x", tc.payload, got, tc.want)
		}
	}
}

// clientFrame is a frame as a client sends it.
func clientFrame(first byte, payload string) []byte {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	key := []byte{0x5a, 0xc3, 0x99, 0x0f}
	b = append(b, key...)
	for i := range len(payload) {
		b = append(b, payload[i]^key[i%4])
	}
	return b
}

// trickle is a source that yields a few bytes at a time.
type trickle struct {
	rest []byte
	size int
}

func (s *trickle) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.size)], s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *trickle) fetch() (*inboundBuffer, int, error) {
	buf := new(inboundBuffer)
	n, err := s.Read(buf[:])
	return buf, n, err
}

// readMessages says, in words, what arrives.
func readMessages(wire []byte, size int) (said []string) {
	in := &inbound{from: &trickle{wire, size}, head: frameHeader{final: true}}
	in.control = func(op byte, payload []byte) error {
		if op == opClose {
			code, err := closeFrameCode(payload)
			if err != nil {
				return err
			}
			said = append(said, fmt.Sprint("close ", code))
			return errPeerCloses
		}
		said = append(said, fmt.Sprintf("%s %s", map[byte]string{opPing: "ping", opPong: "pong"}[op], payload))
		return nil
	}
	for {
		err := in.wait()
		var op byte
		if err == nil {
			op, err = in.next()
		}
		if err == nil && op < opClose {
			var text []byte
			text, err = readUpTo(in, nil, 1<<20)
			if err == nil {
				said = append(said, fmt.Sprintf("%s %s", map[byte]string{opText: "text", opBinary: "binary"}[op], text))
			}
		}
		switch {
		case errors.Is(err, errPeerCloses), err == io.EOF:
			return said
		case err != nil:
			return append(said, "error "+err.Error())
		}
	}
}

func TestInbound(t *testing.T) {
	long, huge := strings.Repeat("l", 300), strings.Repeat("huge", 20_000)
	join := func(frames ...[]byte) []byte { return bytes.Join(frames, nil) }
	f := clientFrame
	for _, tc := range []struct {
		name string
		wire []byte
		want string
	}{
		{"text", f(0x81, "hello"), "text hello"},
		{"empty", f(0x81, ""), "text "},
		{"binary", f(0x82, "x"), "binary x"},
		{"long", f(0x81, long), "text " + long},
		{"huge", join(f(0x81, huge), f(0x81, "next")), "text " + huge + "; text next"},
		{"fragments", join(f(0x01, "a"), f(0x00, ""), f(0x00, "b"), f(0x80, "c"), f(0x81, "d")), "text abc; text d"},
		{"ping between fragments", join(f(0x01, "a"), f(0x89, "p"), f(0x00, "b"), f(0x8A, ""), f(0x80, "c")), "ping p; pong ; text abc"},
		{"ends in an empty fragment", join(f(0x01, "a"), f(0x80, "")), "text a"},
		{"close", join(f(0x88, "\x03\xe8bye"), f(0x81, "too late")), "close 1000"},
		{"close without a code", f(0x88, ""), "close 0"},
		{"half a code", f(0x88, "\x03"), "error a close frame has half a code"},
		{"a code that is not sent", f(0x88, "\x03\xed"), "error a close frame has a code that may not be sent"},
		{"not masked", []byte{0x81, 0x01, 'x'}, "error a frame is not masked"},
		{"extension", f(0xC1, "x"), "error a frame uses an extension that was not agreed on"},
		{"opcode", f(0x83, "x"), "error a frame has an opcode that does not exist"},
		{"fragmented ping", f(0x09, "x"), "error a control frame is fragmented"},
		{"long ping", f(0x89, long), "error a control frame is longer than 125 bytes"},
		{"fragment of nothing", f(0x80, "x"), "error a fragment goes on with a message that was not begun"},
		{"message in a message", join(f(0x01, "a"), f(0x81, "b")), "error a message begins before the one before has ended"},
		{"negative length", []byte{0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}, "error a frame's length has its highest bit set"},
		{"cut in a header", f(0x81, "hello")[:4], "error unexpected EOF"},
		{"cut in a payload", f(0x81, "hello")[:8], "error unexpected EOF"},
		{"cut between fragments", f(0x01, "a"), "error unexpected EOF"},
	} {
		for _, size := range []int{1, 2, 3, 7, 100, inboundSize, 1 << 20} {
			if got := strings.Join(readMessages(slices.Clone(tc.wire), size), "; "); got != tc.want {
				t.Errorf("%s, by %d: %.200q, want %.200q", tc.name, size, got, tc.want)
			}
		}
	}
}

func TestUnmask(t *testing.T) {
	key := [4]byte{1, 2, 3, 4}
	for offset := range uint64(9) {
		for n := range 40 {
			b := make([]byte, n)
			unmask(b, key, offset)
			for i, got := range b {
				if want := key[(uint64(i)+offset)%4]; got != want {
					t.Fatalf("%d bytes at %d: number %d is %d, want %d", n, offset, i, got, want)
				}
			}
		}
	}
}

// However bytes come in pieces, they mean the same, and nothing that they say
// makes the reader fail otherwise than by an error.
func FuzzInbound(f *testing.F) {
	f.Add(clientFrame(0x81, "hello"), uint8(3))
	f.Add(append(clientFrame(0x01, "a"), clientFrame(0x80, "b")...), uint8(1))
	f.Add(clientFrame(0x88, "\x03\xe8"), uint8(1))
	f.Add([]byte{0x81, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 1}, uint8(9))
	f.Fuzz(func(t *testing.T, wire []byte, size uint8) {
		whole := readMessages(slices.Clone(wire), 1<<20)
		pieces := readMessages(slices.Clone(wire), int(size)+1)
		if !slices.Equal(whole, pieces) {
			t.Errorf("at once %.300q, in pieces %.300q", whole, pieces)
		}
	})
}

// What breaks the protocol is told why, and the connection ends.
func TestProtocolError(t *testing.T) {
	h := serve(t, Options{})
	for _, wire := range []string{"\x81\x01x", "\xC1\x80abcd", "\x83\x80abcd"} {
		nc := h.raw("bob")
		if _, err := nc.Write([]byte(wire)); err != nil {
			t.Fatal(err)
		}
		all := untilEOF(t, nc)
		if !bytes.Contains(all, []byte{0x03, 0xEA, 'a', ' ', 'f', 'r', 'a', 'm', 'e'}) {
			t.Errorf("%q: no close frame in %q", wire, all[max(0, len(all)-80):])
		}
	}
}

// untilEOF is what comes until the connection has ended; the client closes
// its end when it sees the gateway's close frame.
func untilEOF(t *testing.T, nc net.Conn) (all []byte) {
	t.Helper()
	buf := make([]byte, 64<<10)
	for {
		n, err := nc.Read(buf)
		if all = append(all, buf[:n]...); err != nil {
			return all
		}
		if bytes.Contains(all, []byte{0x88}) {
			nc.(interface{ CloseWrite() error }).CloseWrite()
		}
	}
}

// Either side may close first, and hears the other's answer.
func TestCloseHandshake(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "")
	if err := ann.ws.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Errorf("closed by the client: %v", err)
	}
	h.settle()
	nc := h.raw("bob")
	if _, err := nc.Write(clientFrame(0x88, "")); err != nil {
		t.Fatal(err)
	}
	if all := untilEOF(t, nc); !bytes.HasSuffix(all, []byte{0x88, 0}) {
		t.Errorf("a close without a code is answered with %q", all[max(0, len(all)-20):])
	}
	h.settle()
}

// What a client of another make sends arrives, whatever its size.
func TestInboundOfTheLibrary(t *testing.T) {
	h := serve(t, Options{})
	ann, bob := h.join("ann", "presence=off"), h.join("bob", "presence=off&echo=off")
	for _, size := range []int{0, 1, 100, 125, 126, 127, 4_000, 4_096, 5_000, 65_400, 65_536, 300_000} {
		text := strings.Repeat("y", size)
		bob.send(chat(text))
		if got := field(t, ann.next(), "text"); got != text {
			t.Errorf("%d bytes: %d arrive", size, len(got.(string)))
		}
		bob.until("system/ack")
	}
}
