package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
)

// listener is a connection from which somebody else's words are read.
type listener struct {
	net.Conn
	io.Reader
	wrote bytes.Buffer
}

func (s *listener) Read(p []byte) (int, error)  { return s.Reader.Read(p) }
func (s *listener) Write(p []byte) (int, error) { return s.wrote.Write(p) }

// frames are text frames of the given lengths, with a ping in between.
func frames(sizes ...int) []byte {
	var b []byte
	for i, n := range sizes {
		b = append(appendServerText(b, n), strings.Repeat(string(rune('a'+i%26)), n)...)
		b = append(b, wsFinal|wsPing, 1, 'p')
	}
	return b
}

// However the bytes come in, the same messages are found in them, and every
// ping is answered.
func TestWalk(t *testing.T) {
	sizes := []int{0, 1, 125, 126, 300, 5_000, 70_000, 3, 65_535, 65_536}
	data := frames(sizes...)
	readers := map[string]func(io.Reader) io.Reader{
		"at once":      func(r io.Reader) io.Reader { return r },
		"byte by byte": iotest.OneByteReader,
		"by halves":    iotest.HalfReader,
	}
	for name, read := range readers {
		for _, whole := range []bool{false, true} {
			for _, early := range []int{0, 1, 3, 200, len(data)} {
				t.Run(fmt.Sprintf("%s/whole=%v/early=%d", name, whole, early), func(t *testing.T) {
					conn := &listener{Reader: read(bytes.NewReader(data[early:]))}
					s := &Stream{Conn: conn, Early: data[:early], Next: textNext, Control: answerPing}
					var got []int
					var message func([]byte) error
					if whole {
						message = func(body []byte) error {
							got = append(got, len(body))
							return nil
						}
					}
					w := newWalker(s, 512, message)
					if err := w.until(func(uint64) {}); !errors.Is(err, io.ErrUnexpectedEOF) {
						t.Fatal(err)
					}
					if w.count != uint64(len(sizes)) || whole && fmt.Sprint(got) != fmt.Sprint(sizes) {
						t.Errorf("%d messages: %v, want %v", w.count, got, sizes)
					}
					if pongs := conn.wrote.Len() / 7; pongs != len(sizes) {
						t.Errorf("%d pings were answered, of %d", pongs, len(sizes))
					}
					if !whole && len(w.buf) > max(512, early) {
						t.Errorf("to count frames a buffer of %d bytes was made", len(w.buf))
					}
				})
			}
		}
	}
}

func TestWalkEndsAtWhatIsWrong(t *testing.T) {
	bad := errors.New("bad")
	for name, c := range map[string]struct {
		data    []byte
		message func([]byte) error
		want    string
	}{
		"a frame that is none": {[]byte("\x81\xff"), nil, "frame that begins"},
		"a message refused":    {frames(3), func([]byte) error { return bad }, "bad"},
		"a close":              {[]byte("\x88\x05\x0f\xa8lag"), nil, "4008"},
		"an endless header":    {append([]byte{0x81, 127}, make([]byte, 1)...), nil, "unexpected EOF"},
	} {
		w := newWalker(&Stream{Conn: &listener{Reader: bytes.NewReader(c.data)}, Next: textNext, Control: answerPing}, 64, c.message)
		if err := w.until(func(uint64) {}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Cut anywhere, any bytes come to the same count and the same end.
func FuzzWalk(f *testing.F) {
	f.Add(frames(1, 300, 70), uint16(3))
	f.Add([]byte("\x81\x05hello\x88\x02\x03\xe8"), uint16(1))
	f.Add([]byte("\x81\x7e\x00\x01a\x81\x7f\x00\x00\x00\x00\x00\x00\x00\x01b"), uint16(2))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		walk := func(r io.Reader, message func([]byte) error) (uint64, string) {
			w := newWalker(&Stream{Conn: &listener{Reader: r}, Next: textNext, Control: answerPing}, 16, message)
			err := w.until(func(uint64) {})
			if len(w.buf) > 2*(len(data)+64)+16 {
				t.Errorf("a buffer of %d bytes for %d", len(w.buf), len(data))
			}
			return w.count, err.Error()
		}
		look := func([]byte) error { return nil }
		want, end := walk(bytes.NewReader(data), look)
		got, cutEnd := walk(&pieces{data, int(piece%64) + 1}, look)
		if got != want || end != cutEnd {
			t.Errorf("in pieces %d messages and %q, at once %d and %q", got, cutEnd, want, end)
		}
		if counted, _ := walk(&pieces{data, int(piece%64) + 1}, nil); counted < want {
			t.Errorf("%d are counted where %d are found", counted, want)
		}
	})
}

// pieces reads a few bytes at a time.
type pieces struct {
	data []byte
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.data[:min(p.n, len(p.data))])
	p.data = p.data[n:]
	return n, nil
}
