package gateway

import (
	"encoding/binary"
	"math/bits"
)

// Opcodes of RFC 6455.
const (
	opContinue = 0x0
	opText     = 0x1
	opBinary   = 0x2
	opClose    = 0x8
	opPing     = 0x9
	opPong     = 0xA

	final = 0x80 // the bit that says that a frame ends its message
)

const maxControl = 125 // bytes of a control frame's payload

// appendFrameHeader appends the header of an unmasked frame that is a whole
// message.
func appendFrameHeader(dst []byte, op byte, payload int) []byte {
	op |= final
	switch {
	case payload < 126:
		return append(dst, op, byte(payload))
	case payload < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, op, 126), uint16(payload))
	default:
		return binary.BigEndian.AppendUint64(append(dst, op, 127), uint64(payload))
	}
}

func frameHeaderSize(payload int) int {
	switch {
	case payload < 126:
		return 2
	case payload < 1<<16:
		return 4
	default:
		return 10
	}
}

// frameHeader is that of a frame from a client.
type frameHeader struct {
	op      byte
	final   bool
	packed  bool // its message is compressed
	payload uint64
	key     [4]byte // that the payload is masked with
}

// isControl reports whether it is a ping, a pong or a close.
func (h *frameHeader) isControl() bool { return h.op&0x8 != 0 }

// readFrameHeader takes the header apart that b begins with, and says how long
// it is; 0 means that b does not hold all of it. The error says what a client
// may not send.
func readFrameHeader(b []byte) (h frameHeader, n int, err error) {
	if len(b) < 2 {
		return h, 0, nil
	}
	h = frameHeader{op: b[0] & 0xF, final: b[0]&final != 0, packed: b[0]&compressed != 0}
	n = 2
	switch size := b[1] & 0x7F; {
	case size < 126:
		h.payload = uint64(size)
	case size == 126:
		n = 4
	default:
		n = 10
	}
	if err := h.check(b[0], b[1], n); err != nil {
		return h, 0, err
	}
	if len(b) < n+len(h.key) {
		return h, 0, nil
	}
	switch n {
	case 4:
		h.payload = uint64(binary.BigEndian.Uint16(b[2:]))
	case 10:
		h.payload = binary.BigEndian.Uint64(b[2:])
	}
	if h.payload > 1<<63-1 {
		return h, 0, protocolError("a frame's length has its highest bit set")
	}
	copy(h.key[:], b[n:])
	return h, n + len(h.key), nil
}

// check looks at the first two bytes of a header of n bytes.
func (h *frameHeader) check(first, second byte, n int) error {
	switch {
	case first&(0x70&^compressed) != 0:
		return errExtension
	case second&0x80 == 0:
		return protocolError("a frame is not masked")
	case h.op > opBinary && h.op < opClose || h.op > opPong:
		return protocolError("a frame has an opcode that does not exist")
	case h.isControl() && !h.final:
		return protocolError("a control frame is fragmented")
	case h.isControl() && n > 2:
		return protocolError("a control frame is longer than 125 bytes")
	}
	return nil
}

const errExtension = protocolError("a frame uses an extension that was not agreed on")

// protocolError says how a client broke RFC 6455.
type protocolError string

func (e protocolError) Error() string { return string(e) }

// unmask decodes payload bytes, the first of which is at offset in the frame.
func unmask(b []byte, key [4]byte, offset uint64) {
	k32 := bits.RotateLeft32(binary.LittleEndian.Uint32(key[:]), -8*int(offset&3)) // as seen from b[0]
	k64 := uint64(k32)<<32 | uint64(k32)
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^k64)
		b = b[8:]
	}
	for i := range b {
		b[i] ^= byte(k32 >> (8 * i & 31))
	}
}

// appendCloseFrame appends a close frame; code 0 is one without a payload.
func appendCloseFrame(dst []byte, code int, reason string) []byte {
	if code == 0 {
		return appendFrameHeader(dst, opClose, 0)
	}
	dst = appendFrameHeader(dst, opClose, 2+len(reason))
	return append(binary.BigEndian.AppendUint16(dst, uint16(code)), reason...)
}

// closeFrameCode is the code of a close frame's payload, 0 where it has none.
func closeFrameCode(payload []byte) (int, error) {
	if len(payload) == 0 {
		return 0, nil
	}
	if len(payload) == 1 {
		return 0, protocolError("a close frame has half a code")
	}
	code := int(binary.BigEndian.Uint16(payload))
	switch {
	case code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006,
		code >= 3000 && code <= 4999:
		return code, nil
	}
	return 0, protocolError("a close frame has a code that may not be sent")
}
