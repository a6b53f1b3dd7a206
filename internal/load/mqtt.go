package load

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
)

// mqtt speaks to a broker of MQTT 3.1.1, with quality of service 0.
type mqtt struct{}

const (
	mqttConnect   = 1 << 4
	mqttConnack   = 2 << 4
	mqttPublish   = 3 << 4
	mqttSubscribe = 8<<4 | 2
	mqttSuback    = 9 << 4
)

func (mqtt) Receive(ctx context.Context, t Target, i int) (*Stream, error) {
	hello := appendMQTTSubscribe(appendMQTTConnect(nil, fmt.Sprint("receiver", i)))
	nc, early, err := greet(ctx, t, hello, mqttSays(mqttSuback))
	if err != nil {
		return nil, err
	}
	return &Stream{Conn: nc, Early: early, Next: mqttNext}, nil
}

func (mqtt) Send(ctx context.Context, t Target, i int) (*Feed, error) {
	nc, early, err := greet(ctx, t, appendMQTTConnect(nil, fmt.Sprint("sender", i)), mqttSays(mqttConnack))
	if err != nil {
		return nil, err
	}
	header := binary.AppendUvarint([]byte{mqttPublish}, uint64(2+len(subject)+t.Size))
	header = appendMQTTString(header, subject)
	return &Feed{
		Append: func(dst []byte, stamp int64) []byte {
			return AppendFiller(append(dst, header...), stamp, t.Size)
		},
		Stream: Stream{Conn: nc, Early: early, Next: mqttNext},
	}, nil
}

// mqttSays waits for the packet that begins with first.
func mqttSays(first byte) func([]byte) (int, error) {
	return func(b []byte) (int, error) {
		for n := 0; n < len(b); {
			size, _, err := mqttNext(b[n:])
			if size == 0 || size > len(b)-n || err != nil {
				return 0, err
			}
			packet := b[n : n+size]
			n += size
			if err := mqttRefused(packet); err != nil {
				return 0, err
			}
			if packet[0] == first {
				return n, nil
			}
		}
		return 0, nil
	}
}

// mqttRefused looks at the code that the broker answers with, which is the last
// byte of an answer.
func mqttRefused(packet []byte) error {
	code := packet[len(packet)-1]
	if packet[0] == mqttConnack && code != 0 || packet[0] == mqttSuback && code == 0x80 {
		return fmt.Errorf("mqtt: the broker refuses: %x", packet)
	}
	return nil
}

// mqttNext measures a packet.
func mqttNext(b []byte) (size, body int, err error) {
	n, k := binary.Uvarint(b[1:min(len(b), 5)])
	if k == 0 {
		if len(b) >= 5 {
			return 0, -1, errors.New("mqtt: a length of more than four bytes")
		}
		return 0, -1, nil
	}
	head := 1 + k
	size = head + int(n)
	if b[0]&0xf0 != mqttPublish {
		return size, -1, nil
	}
	if b[0]&0x06 != 0 {
		return 0, -1, errors.New("mqtt: a quality of service that nobody asked for")
	}
	if len(b) < head+2 {
		return 0, -1, nil
	}
	if body = head + 2 + int(binary.BigEndian.Uint16(b[head:])); body > size {
		return 0, -1, errors.New("mqtt: a topic longer than its message")
	}
	return size, body, nil
}

func appendMQTTConnect(dst []byte, id string) []byte {
	body := appendMQTTString(nil, "MQTT")
	body = append(body, 4, 2, 0, 0) // 3.1.1, a clean session, no keep-alive
	return appendMQTTPacket(dst, mqttConnect, appendMQTTString(body, id))
}

func appendMQTTSubscribe(dst []byte) []byte {
	body := appendMQTTString([]byte{0, 1}, subject) // packet 1
	return appendMQTTPacket(dst, mqttSubscribe, append(body, 0))
}

func appendMQTTPacket(dst []byte, first byte, body []byte) []byte {
	dst = binary.AppendUvarint(append(dst, first), uint64(len(body)))
	return append(dst, body...)
}

func appendMQTTString(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(s))), s...)
}
