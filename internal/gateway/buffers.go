package gateway

import "sync"

// buffers keeps buffers to be used again. One that grew beyond most is let go:
// whoever gets a buffer may hold it for long, and need little of it.
type buffers struct {
	most int
	pool sync.Pool
}

var (
	scratch  = buffers{most: largestSegment} // of what is written
	incoming = buffers{most: largeBytes}     // of what is read
)

func (b *buffers) get() *[]byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return buf
	}
	return new([]byte)
}

func (b *buffers) put(buf *[]byte) {
	if cap(*buf) <= b.most {
		b.pool.Put(buf)
	}
}
