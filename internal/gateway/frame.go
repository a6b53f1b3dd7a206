package gateway

import "encoding/binary"

// Opcodes of RFC 6455, with the bit that says that a frame is a whole message.
const (
	opText = 0x80 | 0x1
	opPing = 0x80 | 0x9
	opPong = 0x80 | 0xA
)

// appendFrameHeader appends the header of an unmasked frame.
func appendFrameHeader(dst []byte, op byte, payload int) []byte {
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
