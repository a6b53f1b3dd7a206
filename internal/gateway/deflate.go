package gateway

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"sync"

	quick "github.com/klauspost/compress/flate"
)

// compressed is the bit of a frame's header that says that its message is
// (RFC 7692, section 6).
const compressed = 0x40

// Frames below packAbove bytes are sent as they are: compressing costs as much
// as admitting an envelope there, and saves less than half of a packet that is
// sent anyway.
const packAbove = 512

// A message ends with an empty block, of which the last four bytes are not sent.
const (
	blockEnd   = "\x00\x00\xff\xff"
	finalBlock = "\x01\x00\x00\xff\xff" // nothing follows it
)

// deflater compresses. It has 800 KB, so that it is used again.
type deflater struct {
	w   *quick.Writer
	out bytes.Buffer
}

var deflaters = sync.Pool{New: func() any {
	d := new(deflater)
	d.w, _ = quick.NewWriter(&d.out, quick.BestSpeed) // fails for no level that there is
	return d
}}

// appendPacked appends a text frame in its compressed form, or as it is where
// that is no longer.
func appendPacked(dst, frame []byte) []byte {
	if len(frame) < packAbove {
		return append(dst, frame...)
	}
	return pack(dst, frame)
}

// pack is appendPacked for a frame of any size.
func pack(dst, frame []byte) []byte {
	d := deflaters.Get().(*deflater)
	defer deflaters.Put(d)
	d.out.Reset()
	d.w.Reset(&d.out)
	_, _ = d.w.Write(frame[framePrefix(frame):]) // into memory, which takes all
	_ = d.w.Flush()
	payload := bytes.TrimSuffix(d.out.Bytes(), []byte(blockEnd))
	if frameHeaderSize(len(payload))+len(payload) >= len(frame) {
		return append(dst, frame...)
	}
	return append(appendFrameHeader(dst, opText|compressed, len(payload)), payload...)
}

// framePrefix is how long the header of a server's frame is.
func framePrefix(frame []byte) int {
	switch frame[1] {
	case 126:
		return 4
	case 127:
		return 10
	}
	return 2
}

// inflater reads what is compressed. It has 40 KiB, and is held only while a
// message is inflated that is all there.
type inflater struct {
	r    io.ReadCloser // a [flate.Resetter] too
	from messageReader
}

var inflaters = sync.Pool{New: func() any {
	i := new(inflater)
	i.r = flate.NewReader(&i.from)
	return i
}}

// inflate appends to dst, which is empty, what a message says: up to n bytes,
// behind which nothing is looked at.
func inflate(dst, message []byte, n int) ([]byte, error) {
	i := inflaters.Get().(*inflater)
	defer func() {
		i.from = messageReader{}
		inflaters.Put(i)
	}()
	i.from = messageReader{parts: [2][]byte{message, []byte(blockEnd + finalBlock)}}
	for range mostRuns {
		history := dst[max(0, len(dst)-window):]
		if err := i.r.(flate.Resetter).Reset(&i.from, history); err != nil {
			return dst, err
		}
		var err error
		if dst, err = readUpTo(i.r, dst, n); err != nil || len(dst) >= n || i.from.left() == 0 {
			return dst, err
		}
	}
	return dst, errManyRuns
}

const (
	window   = 32 << 10 // bytes that what is compressed may refer back to
	mostRuns = 16       // of blocks, each with a last one, that a message may consist of: each costs a start
)

var errManyRuns = errors.New("the message has too many last blocks")

// messageReader reads a message and what was left out at its end, byte by byte,
// so that nothing is read ahead.
type messageReader struct{ parts [2][]byte }

func (m *messageReader) left() int { return len(m.parts[0]) + len(m.parts[1]) }

func (m *messageReader) ReadByte() (byte, error) {
	for i := range m.parts {
		if p := m.parts[i]; len(p) > 0 {
			m.parts[i] = p[1:]
			return p[0], nil
		}
	}
	return 0, io.EOF
}

func (m *messageReader) Read(p []byte) (int, error) {
	for i := range m.parts {
		if len(m.parts[i]) > 0 {
			n := copy(p, m.parts[i])
			m.parts[i] = m.parts[i][n:]
			return n, nil
		}
	}
	return 0, io.EOF
}
