package load

import (
	"fmt"
	"io"
)

// largestFrame is the longest frame that is read whole, in bytes.
const largestFrame = 64 << 20

// walker takes what a connection receives apart, by the headers of its frames.
type walker struct {
	*Stream

	// message gets every message, whole. Where it is nil, messages are counted
	// and the rest of a long one is skipped unread.
	message func(body []byte) error

	buf     []byte
	have    int // bytes of buf that hold something
	skip    int // bytes still to come of a frame that was counted
	count   uint64
	arrived int64 // when the newest bytes were read
}

func newWalker(s *Stream, size int, message func(body []byte) error) *walker {
	w := &walker{Stream: s, message: message, buf: make([]byte, max(size, len(s.Early)))}
	w.have = copy(w.buf, s.Early)
	return w
}

// read reads once, and looks at what came.
func (w *walker) read() error {
	n, err := w.Conn.Read(w.buf[w.have:])
	if w.have += n; w.message != nil {
		w.arrived = Now()
	}
	if n > 0 {
		if werr := w.walk(); werr != nil {
			return werr
		}
	}
	return err
}

// walk looks at every frame that is there, and keeps a part of one for later.
func (w *walker) walk() error {
	b := w.buf[:w.have]
	for len(b) > 0 {
		if w.skip > 0 {
			n := min(w.skip, len(b))
			w.skip -= n
			b = b[n:]
			continue
		}
		size, body, err := w.Next(b)
		if err != nil {
			return err
		}
		if size == 0 || size > len(b) && !w.mayCount(body) {
			return w.keep(b, size)
		}
		if err := w.take(b[:min(size, len(b))], body); err != nil {
			return err
		}
		w.skip = max(0, size-len(b))
		b = b[min(size, len(b)):]
	}
	w.have = 0
	return nil
}

// mayCount reports whether a frame can be dealt with before all of it is there.
func (w *walker) mayCount(body int) bool { return body >= 0 && w.message == nil }

func (w *walker) take(frame []byte, body int) error {
	if body < 0 {
		return w.control(frame)
	}
	w.count++
	if w.message == nil {
		return nil
	}
	return w.message(frame[body:])
}

func (w *walker) control(frame []byte) error {
	if w.Control == nil {
		return nil
	}
	reply, err := w.Control(frame)
	if err == nil && len(reply) > 0 {
		_, err = w.Conn.Write(reply)
	}
	return err
}

// keep moves the beginning of a frame to the front, where the rest has room.
// What the frame says of its length makes no room by itself.
func (w *walker) keep(b []byte, size int) error {
	if max(size, len(b)) > largestFrame {
		return fmt.Errorf("a frame of more than %d bytes", largestFrame)
	}
	into := w.buf
	if len(b) == len(into) {
		into = make([]byte, 2*len(into))
	}
	w.have = copy(into, b)
	w.buf = into
	return nil
}

// until walks until the connection ends, and calls after with the count each
// time that something was read.
func (w *walker) until(after func(count uint64)) error {
	err := w.walk()
	for err == nil {
		after(w.count)
		err = w.read()
	}
	after(w.count)
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
