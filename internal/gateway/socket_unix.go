//go:build unix

package gateway

import (
	"io"
	"os"
	"sync/atomic"
	"syscall"
)

const rawReads = true

// fetching is one wait for bytes.
type fetching struct {
	buf *inboundBuffer
	n   int
	err error
}

// try reads what is there. It reports false where nothing is, and holds no
// buffer then.
func (f *fetching) try(fd uintptr) bool {
	buf := inboundBuffers.Get().(*inboundBuffer)
	for {
		n, err := syscall.Read(int(fd), buf[:])
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			inboundBuffers.Put(buf)
			return false
		case err != nil:
			err, n = os.NewSyscallError("read", err), 0
		case n == 0:
			err = io.EOF
		}
		f.buf, f.n, f.err = buf, n, err
		return true
	}
}

// putting is one write, which may take several turns.
type putting struct {
	rest  []byte
	wrote *atomic.Uint64
	err   error
}

// try writes what the system takes. It reports false where it takes nothing
// more now.
func (p *putting) try(fd uintptr) bool {
	for len(p.rest) > 0 {
		n, err := syscall.Write(int(fd), p.rest[:min(len(p.rest), 1<<30)])
		if n > 0 {
			p.rest = p.rest[n:]
			p.wrote.Add(uint64(n))
		}
		switch err {
		case nil, syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			p.err = os.NewSyscallError("write", err)
			return true
		}
	}
	return true
}
