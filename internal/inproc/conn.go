package inproc

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// most is how many bytes one direction holds for a reader that is slow.
const most = 64 << 10

// conn is one end of a connection.
type conn struct{ in, out *stream }

func pair() (a, b net.Conn) {
	there, back := newStream(), newStream()
	return &conn{in: back, out: there}, &conn{in: there, out: back}
}

func (c *conn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.out.write(p) }

// Close ends both directions; what was written can still be read.
func (c *conn) Close() error {
	c.in.endReading()
	c.out.endWriting()
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return address{} }
func (c *conn) RemoteAddr() net.Addr { return address{} }

func (c *conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.deadline(&c.in.reading, t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.deadline(&c.out.writing, t)
	return nil
}

// stream is one direction.
type stream struct {
	mu      sync.Mutex
	changed sync.Cond
	data    []byte // what waits is behind r
	r       int
	ended   bool // nobody writes any more
	left    bool // nobody reads any more
	reading limit
	writing limit
}

// limit is a deadline.
type limit struct {
	timer  *time.Timer
	passed bool
}

func newStream() *stream {
	s := &stream{}
	s.changed.L = &s.mu
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.left:
			return 0, net.ErrClosed
		case s.reading.passed:
			return 0, os.ErrDeadlineExceeded
		case len(s.data) > s.r:
			return s.take(p), nil
		case s.ended:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		s.changed.Wait()
	}
}

func (s *stream) take(p []byte) int {
	n := copy(p, s.data[s.r:])
	if s.r += n; s.r == len(s.data) {
		s.data, s.r = s.data[:0], 0
	}
	s.changed.Broadcast()
	return n
}

func (s *stream) put(p []byte) int {
	n := min(len(p), most-(len(s.data)-s.r))
	if n == 0 {
		return 0
	}
	if len(s.data)+n > cap(s.data) && s.r > 0 {
		s.data, s.r = s.data[:copy(s.data, s.data[s.r:])], 0
	}
	s.data = append(s.data, p[:n]...)
	s.changed.Broadcast()
	return n
}

func (s *stream) write(p []byte) (written int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.ended:
			return written, net.ErrClosed
		case s.left:
			return written, syscall.EPIPE
		case s.writing.passed:
			return written, os.ErrDeadlineExceeded
		}
		if written += s.put(p[written:]); written == len(p) {
			return written, nil
		}
		s.changed.Wait()
	}
}

func (s *stream) endWriting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.writing.stop()
	s.changed.Broadcast()
}

func (s *stream) endReading() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.data, s.r = true, nil, 0
	s.reading.stop()
	s.changed.Broadcast()
}

// deadline sets l, which is one of s.
func (s *stream) deadline(l *limit, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.stop()
	l.passed = false
	if t.IsZero() {
		return
	}
	left := time.Until(t)
	if left <= 0 {
		l.passed = true
		s.changed.Broadcast()
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(left, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if l.timer == timer { // else it was set anew meanwhile
			l.passed = true
			s.changed.Broadcast()
		}
	})
	l.timer = timer
}

func (l *limit) stop() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}
