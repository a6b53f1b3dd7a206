package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// dribble sends the first part of a request at once, and the rest byte by byte,
// a second each, until the connection ends. It says how long that took.
func (h *harness) dribble(quick, slow string) (status string, lasted time.Duration) {
	h.t.Helper()
	nc, err := h.client.Transport.(*http.Transport).DialContext(context.Background(), "tcp", "")
	if err != nil {
		h.t.Fatal(err)
	}
	defer nc.Close()
	began := time.Now()
	answered := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(nc).ReadString('\n')
		answered <- strings.TrimSpace(line)
		_, _ = io.Copy(io.Discard, nc) // until it ends
		close(answered)
	}()
	_, err = io.WriteString(nc, quick)
	for i := 0; i < len(slow) && err == nil; i++ {
		time.Sleep(time.Second)
		_, err = io.WriteString(nc, slow[i:i+1])
	}
	status = <-answered
	<-answered
	return status, time.Since(began)
}

// Whoever sends its request byte by byte holds a connection for a while, with
// or without a token, and whether the body is asked for or not.
func TestSlowRequests(t *testing.T) {
	body := strings.Repeat("x", 10_000)
	token := "Authorization: Bearer token-ann\r\n"
	upgrade := "GET /ws?topic=demo HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
	post := func(path, headers string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n", path, len(body), headers)
	}
	for name, request := range map[string]string{
		"an upgrade":           upgrade + "X-Filler: " + body,
		"an envelope":          post("/v1/spaces/demo/envelopes", token) + body,
		"without a token":      post("/v1/spaces/demo/envelopes", "") + body,
		"a decision":           post("/v1/spaces/demo/proposals/x/reject", token) + body,
		"a session":            post("/v1/session", "") + body,
		"a body nobody wants":  strings.Replace(post("/healthz", ""), "POST", "GET", 1) + body,
		"nothing that exists":  post("/nothing", "") + body,
		"an upgrade with more": strings.Replace(post("/ws?topic=demo", token), "POST", "GET", 1) + body,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := memory(t, Options{Logger: textLog(io.Discard)})
				h.g.rooms["demo"].limits.EnvelopeBytes = 100       // that body is too large to be kept
				head := max(0, strings.Index(request, "\r\n\r\n")) // 0: it is what comes slowly
				status, lasted := h.dribble(request[:head], request[head:])
				if lasted > bodyTime+answerTime {
					t.Errorf("it lasted %v, answered with %q", lasted, status)
				}
			})
		})
	}
}
