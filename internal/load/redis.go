package load

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
)

// redis speaks to Redis: pub/sub over its protocol, second version.
type redis struct{}

var (
	redisName      = "$" + strconv.Itoa(len(subject)) + "\r\n" + subject + "\r\n"
	redisSubscribe = "*2\r\n$9\r\nSUBSCRIBE\r\n" + redisName
	redisListening = "*3\r\n$9\r\nsubscribe\r\n" + redisName + ":1\r\n"
	redisMessage   = []byte("*3\r\n$7\r\nmessage\r\n" + redisName + "$")
)

func (redis) Receive(ctx context.Context, t Target, _ int) (*Stream, error) {
	nc, early, err := greet(ctx, t, []byte(redisSubscribe), redisSays(redisListening))
	if err != nil {
		return nil, err
	}
	return &Stream{Conn: nc, Early: early, Next: redisNext}, nil
}

func (redis) Send(ctx context.Context, t Target, _ int) (*Feed, error) {
	nc, early, err := greet(ctx, t, []byte("PING\r\n"), redisSays("+PONG\r\n"))
	if err != nil {
		return nil, err
	}
	header := "*3\r\n$7\r\nPUBLISH\r\n" + redisName + "$" + strconv.Itoa(t.Size) + "\r\n"
	return &Feed{
		Append: func(dst []byte, stamp int64) []byte {
			return append(AppendFiller(append(dst, header...), stamp, t.Size), "\r\n"...)
		},
		Stream: Stream{Conn: nc, Early: early, Next: redisNext},
	}, nil
}

// redisSays waits for exactly these words.
func redisSays(words string) func([]byte) (int, error) {
	return func(b []byte) (int, error) {
		if n := min(len(b), len(words)); string(b[:n]) != words[:n] {
			return 0, fmt.Errorf("redis: the server says %q", b)
		}
		if len(b) < len(words) {
			return 0, nil
		}
		return len(words), nil
	}
}

// redisNext measures what Redis says: a message, or the answer to a PUBLISH.
func redisNext(b []byte) (size, body int, err error) {
	if b[0] == ':' {
		return bytes.IndexByte(b, '\n') + 1, -1, nil
	}
	if n := min(len(b), len(redisMessage)); !bytes.Equal(b[:n], redisMessage[:n]) {
		return 0, -1, fmt.Errorf("redis: the server says %q", b[:min(len(b), 200)])
	}
	if len(b) < len(redisMessage) {
		return 0, -1, nil
	}
	digits, _, whole := bytes.Cut(b[len(redisMessage):min(len(b), len(redisMessage)+10)], []byte("\r\n"))
	if !whole {
		if len(b) >= len(redisMessage)+10 {
			return 0, -1, fmt.Errorf("redis: a message of %q bytes", digits)
		}
		return 0, -1, nil
	}
	n, ok := number(digits)
	if !ok {
		return 0, -1, fmt.Errorf("redis: a message of %q bytes", digits)
	}
	body = len(redisMessage) + len(digits) + 2
	return body + n + 2, body, nil
}
