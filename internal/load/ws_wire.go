package load

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	wsContinued = 0
	wsText      = 1
	wsBinary    = 2
	wsClose     = 8
	wsPing      = 9
	wsPong      = 10

	wsFinal  = 0x80
	wsMasked = 0x80
)

// wsFrame measures the frame of a WebSocket server that b begins with: its
// whole size, 0 where that needs more bytes, and where its payload begins.
func wsFrame(b []byte) (size, payload int, err error) {
	if len(b) < 2 {
		return 0, 0, nil
	}
	if b[1]&wsMasked != 0 || b[0]&0x70 != 0 {
		return 0, 0, fmt.Errorf("websocket: a frame that begins with %x", b[:2])
	}
	payload = 2
	n := uint64(b[1])
	switch n {
	case 126:
		payload = 4
		if len(b) < payload {
			return 0, 0, nil
		}
		n = uint64(binary.BigEndian.Uint16(b[2:]))
	case 127:
		payload = 10
		if len(b) < payload {
			return 0, 0, nil
		}
		n = binary.BigEndian.Uint64(b[2:])
	}
	if n > largestFrame {
		return 0, 0, fmt.Errorf("websocket: a frame of %d bytes", n)
	}
	return payload + int(n), payload, nil
}

// textNext is a Stream's Next for servers that send each message as a text
// frame of its own.
func textNext(b []byte) (size, body int, err error) {
	size, payload, err := wsFrame(b)
	if size == 0 || err != nil {
		return 0, -1, err
	}
	switch b[0] {
	case wsFinal | wsText:
		return size, payload, nil
	case wsFinal | wsPing, wsFinal | wsPong:
		return size, -1, nil
	case wsFinal | wsClose:
		if size > len(b) { // why is still to come
			return size, -1, nil
		}
		return 0, -1, closeError(b[payload:size])
	}
	return 0, -1, fmt.Errorf("websocket: a frame of type %x", b[0])
}

func closeError(payload []byte) error {
	if len(payload) < 2 {
		return errors.New("websocket: closed")
	}
	return fmt.Errorf("websocket: closed with %d %q", binary.BigEndian.Uint16(payload), payload[2:])
}

// answerPing is a Stream's Control.
func answerPing(frame []byte) ([]byte, error) {
	_, payload, err := wsFrame(frame)
	if err != nil || frame[0] != wsFinal|wsPing {
		return nil, err
	}
	return append(appendClientHeader(nil, wsPong, len(frame)-payload), frame[payload:]...), nil
}

// appendServerText appends the header of a server's text frame.
func appendServerText(dst []byte, size int) []byte {
	return appendLength(append(dst, wsFinal|wsText), 0, size)
}

// appendClientHeader appends the header of a client's frame. It is masked, as
// it has to be, with zeros, which change nothing: the server does its work
// either way, and the load does not have to.
func appendClientHeader(dst []byte, opcode byte, size int) []byte {
	return append(appendLength(append(dst, wsFinal|opcode), wsMasked, size), 0, 0, 0, 0)
}

func appendLength(dst []byte, mask byte, size int) []byte {
	switch {
	case size < 126:
		return append(dst, mask|byte(size))
	case size < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, mask|126), uint16(size))
	}
	return binary.BigEndian.AppendUint64(append(dst, mask|127), uint64(size))
}
