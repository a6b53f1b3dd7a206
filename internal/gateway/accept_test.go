package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// What is upgraded is a GET of HTTP/1.1 without a body, and nothing else: what
// is waited for before the upgrade would keep somebody present without a socket.
func TestOddHandshakes(t *testing.T) {
	h := serve(t, Options{Logger: textLog(io.Discard)})
	for _, tc := range []struct{ name, method, proto, headers, body, status string }{
		{"plain", "GET", "HTTP/1.1", "", "", "101"},
		{"an empty body", "GET", "HTTP/1.1", "Content-Length: 0\r\n", "", "101"},
		{"HEAD", "HEAD", "HTTP/1.1", "", "", "400"},
		{"HTTP/1.0", "GET", "HTTP/1.0", "", "", "400"},
		{"a body", "GET", "HTTP/1.1", "Content-Length: 5\r\n", "hello", "400"},
		{"chunks", "GET", "HTTP/1.1", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n", "400"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			nc, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
			fmt.Fprintf(nc, "%s /ws?topic=demo&presence=off %s\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
				"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nAuthorization: Bearer token-ann\r\n%s\r\n%s",
				tc.method, tc.proto, tc.headers, tc.body)
			line, err := bufio.NewReader(nc).ReadString('\n')
			if err != nil || len(line) < 12 || line[9:12] != tc.status {
				t.Errorf("%q, %v", line, err)
			}
		})
	}
}
