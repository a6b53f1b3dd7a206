//go:build !unix

package gateway

import "sync/atomic"

// rawReads says whether a socket can be waited for without a buffer.
const rawReads = false

type fetching struct {
	buf *inboundBuffer
	n   int
	err error
}

func (f *fetching) try(uintptr) bool { return true }

type putting struct {
	rest  []byte
	wrote *atomic.Uint64
	err   error
}

func (p *putting) try(uintptr) bool { return true }
