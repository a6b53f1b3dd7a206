package gateway

import (
	"errors"
	"io"
	"sync"
)

// inbound takes apart what a client sends (RFC 6455). While nothing is there to
// be read it holds no buffer, so that a connection that waits costs next to
// nothing. It belongs to the connection's reader.
//
// next begins a message, and Read reads it, across its fragments.
type inbound struct {
	from    source
	control func(op byte, payload []byte) error // is handed control frames

	buf  *inboundBuffer // nil while it holds nothing
	r, w int            // what waits in it

	head    frameHeader // of the frame that is being read
	left    uint64      // of its payload
	inflate bool        // messages may be compressed
	packed  bool        // this one is
}

// inboundSize is how many bytes a connection's read buffer has, which it has
// only while something comes in.
const inboundSize = 4 << 10

// source is where bytes come from.
type source interface {
	io.Reader
	// fetch waits for bytes, and only then takes a buffer to put them in.
	fetch() (buf *inboundBuffer, n int, err error)
}

type inboundBuffer [inboundSize]byte

var inboundBuffers = sync.Pool{New: func() any { return new(inboundBuffer) }}

// wait returns once something is there to be read.
func (in *inbound) wait() error {
	if in.r < in.w {
		return nil
	}
	if in.buf != nil {
		inboundBuffers.Put(in.buf)
		in.buf = nil
	}
	var err error
	in.r = 0
	in.buf, in.w, err = in.from.fetch()
	return err
}

// release lets go of the buffer for good.
func (in *inbound) release() {
	if in.buf != nil {
		inboundBuffers.Put(in.buf)
	}
	in.buf, in.r, in.w = nil, 0, 0
}

// need makes sure that so many bytes are in the buffer.
func (in *inbound) need(n int) error {
	if err := in.wait(); err != nil {
		return err
	}
	if in.r+n > len(in.buf) {
		in.w = copy(in.buf[:], in.buf[in.r:in.w])
		in.r = 0
	}
	for in.w-in.r < n {
		m, err := in.from.Read(in.buf[in.w:])
		in.w += m
		if err != nil && in.w-in.r < n {
			return unexpected(err)
		}
	}
	return nil
}

// unexpected is an error in the middle of something.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// next goes on to the next frame that is none of a message's further ones, and
// says its opcode. Control frames are dealt with.
func (in *inbound) next() (op byte, err error) {
	if err := in.frame(); err != nil {
		return 0, err
	}
	switch {
	case in.head.isControl():
		return in.head.op, in.obey()
	case in.head.op == opContinue:
		return 0, protocolError("a fragment goes on with a message that was not begun")
	}
	in.packed = in.head.packed
	return in.head.op, nil
}

// frame reads the header of a frame.
func (in *inbound) frame() error {
	for n := 2; ; n++ {
		if err := in.need(n); err != nil {
			return err
		}
		head, size, err := readFrameHeader(in.buf[in.r:in.w])
		// It shows in the first bytes, and so comes before what shows later.
		if head.packed && !in.mayPack(&head) {
			return errExtension
		}
		if err != nil {
			return err
		}
		if size > 0 {
			in.head, in.left = head, head.payload
			in.r += size
			return nil
		}
		n = in.w - in.r
	}
}

// mayPack reports whether a frame may say that its message is compressed, as
// only the first one of a message may.
func (in *inbound) mayPack(head *frameHeader) bool {
	return in.inflate && (head.op == opText || head.op == opBinary)
}

// obey hands on the control frame whose header was read.
func (in *inbound) obey() error {
	n := int(in.left)
	if n > 0 {
		if err := in.need(n); err != nil {
			return unexpected(err)
		}
	}
	var payload []byte
	if n > 0 {
		payload = in.buf[in.r : in.r+n]
	}
	unmask(payload, in.head.key, 0)
	in.r += n
	in.left = 0
	return in.control(in.head.op, payload)
}

// Read reads the message that next began. At its end the error is io.EOF.
func (in *inbound) Read(p []byte) (int, error) {
	for in.left == 0 {
		if in.head.final {
			return 0, io.EOF
		}
		if err := in.fragment(); err != nil {
			return 0, unexpected(err)
		}
	}
	p = p[:min(uint64(len(p)), in.left)]
	n, err := in.take(p)
	unmask(p[:n], in.head.key, in.head.payload-in.left)
	in.left -= uint64(n)
	if err != nil && n == 0 {
		return 0, unexpected(err)
	}
	return n, nil
}

// fragment goes on to the message's next frame.
func (in *inbound) fragment() error {
	for {
		if err := in.frame(); err != nil {
			return err
		}
		switch {
		case !in.head.isControl() && in.head.op != opContinue:
			return protocolError("a message begins before the one before has ended")
		case !in.head.isControl():
			return nil
		}
		if err := in.obey(); err != nil {
			return err
		}
		in.head.final = false // goes on after it
	}
}

// take reads payload as it came: what is buffered first, and large pieces
// past the buffer.
func (in *inbound) take(p []byte) (int, error) {
	if in.r == in.w {
		if len(p) >= inboundSize {
			return in.from.Read(p)
		}
		if err := in.wait(); err != nil {
			return 0, err
		}
	}
	n := copy(p, in.buf[in.r:in.w])
	in.r += n
	return n, nil
}

// skip reads over what is left of a message that was begun.
func (in *inbound) skip() error {
	var piece [512]byte
	for {
		if _, err := in.Read(piece[:]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}
