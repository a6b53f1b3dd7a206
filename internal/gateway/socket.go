package gateway

import (
	"cmp"
	"net"
	"sync/atomic"
	"syscall"
)

// socket is the net.Conn below a connection: it serves what the HTTP server
// had read already, and notes that the other side lives.
type socket struct {
	net.Conn
	raw   syscall.RawConn // nil where there is none: in tests, over pipes
	early []byte
	heard func()
	wrote atomic.Uint64 // bytes that the system has taken
}

func newSocket(nc net.Conn, early []byte, heard func()) *socket {
	s := &socket{Conn: nc, early: append([]byte(nil), early...), heard: heard}
	if sc, ok := nc.(syscall.Conn); ok && rawReads {
		s.raw, _ = sc.SyscallConn() // a failure shows when it is read
	}
	return s
}

func (s *socket) Read(p []byte) (int, error) {
	if len(s.early) > 0 {
		return s.readEarly(p), nil
	}
	n, err := s.Conn.Read(p)
	if n > 0 {
		s.heard()
	}
	return n, err
}

func (s *socket) readEarly(p []byte) int {
	n := copy(p, s.early)
	if s.early = s.early[n:]; len(s.early) == 0 {
		s.early = nil
	}
	return n
}

// Write writes all of p. How far it is can be seen meanwhile.
func (s *socket) Write(p []byte) (int, error) {
	if s.raw == nil {
		return s.writePieces(p)
	}
	put := putting{rest: p, wrote: &s.wrote}
	if err := s.raw.Write(put.try); err != nil {
		return len(p) - len(put.rest), err
	}
	return len(p) - len(put.rest), put.err
}

// WriteNow writes what there is room for, and waits for nothing.
func (s *socket) WriteNow(p []byte) (int, error) {
	if s.raw == nil {
		return 0, nil
	}
	put := putting{rest: p, wrote: &s.wrote}
	err := s.raw.Write(func(fd uintptr) bool { put.try(fd); return true })
	return len(p) - len(put.rest), cmp.Or(err, put.err)
}

func (s *socket) writePieces(p []byte) (written int, err error) {
	for written < len(p) && err == nil {
		var n int
		n, err = s.Conn.Write(p[written:min(len(p), written+slowest/4)])
		s.wrote.Add(uint64(n))
		written += n
	}
	return written, err
}

// taken is how many bytes the other side has taken, as far as anybody knows:
// where the system does not tell what it still holds, those that it holds count.
func (s *socket) taken() uint64 {
	wrote := s.wrote.Load()
	if s.raw == nil {
		return wrote
	}
	return wrote - min(wrote, unsent(s.raw))
}

// fetch implements [source].
func (s *socket) fetch() (*inboundBuffer, int, error) {
	if s.raw == nil || s.early != nil {
		buf := inboundBuffers.Get().(*inboundBuffer)
		n, err := s.Read(buf[:])
		return buf, n, err
	}
	f := fetching{}
	if err := s.raw.Read(f.try); err != nil {
		return nil, 0, err
	}
	if f.n > 0 {
		s.heard()
	}
	return f.buf, f.n, f.err
}
