package load

import (
	"bytes"
	"context"
	"fmt"
	"net"
)

// broadcaster is a WebSocket server that sends to everybody else what comes in
// on the path /send, as bench/broadcast.mjs does.
type broadcaster struct{}

func (broadcaster) Receive(ctx context.Context, t Target, _ int) (*Stream, error) {
	nc, early, err := upgrade(ctx, t, "/", "")
	if err != nil {
		return nil, err
	}
	return &Stream{Conn: nc, Early: early, Next: textNext, Control: answerPing}, nil
}

func (broadcaster) Send(ctx context.Context, t Target, _ int) (*Feed, error) {
	nc, early, err := upgrade(ctx, t, "/send", "")
	if err != nil {
		return nil, err
	}
	return &Feed{
		Append: func(dst []byte, stamp int64) []byte {
			return AppendFiller(appendClientHeader(dst, wsText, t.Size), stamp, t.Size)
		},
		Stream: Stream{Conn: nc, Early: early, Next: textNext, Control: answerPing},
	}, nil
}

// upgrade opens a WebSocket. Headers are whole lines, each with its end.
func upgrade(ctx context.Context, t Target, path, headers string) (net.Conn, []byte, error) {
	hello := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: cGFybGV5LWJlbmNoLWtleQ==\r\n%s\r\n", path, t.Address, headers)
	return greet(ctx, t, []byte(hello), upgraded)
}

// upgraded finds the end of the answer to an upgrade. That the key was
// understood is not checked: nothing here depends on it.
func upgraded(b []byte) (int, error) {
	head, _, whole := bytes.Cut(b, []byte("\r\n\r\n"))
	if !whole {
		return 0, nil
	}
	status, _, _ := bytes.Cut(head, []byte("\r\n"))
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 101")) {
		return 0, fmt.Errorf("the server answers %q", status)
	}
	return len(head) + 4, nil
}
