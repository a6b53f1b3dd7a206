package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const version = "2025-11-25"

// endpoint is where an MCP server is reached, and as whom.
type endpoint struct{ url, token string }

// session is one of ours at an endpoint. Its calls go over connections that are
// kept, and are written and read here: a client of an SDK would take longer than
// what is measured.
type session struct {
	endpoint
	address, path, id string
}

// open makes a session, in the handshake of MCP.
func (e endpoint) open(ctx context.Context) (*session, error) {
	u, err := url.Parse(e.url)
	if err != nil {
		return nil, err
	}
	s := &session{endpoint: e, address: u.Host, path: u.RequestURI()}
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	head, body, err := c.exchange([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version +
		`","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`))
	if err != nil {
		return nil, err
	}
	if s.id = head.Get("Mcp-Session-Id"); !bytes.Contains(body, []byte(`"serverInfo"`)) {
		return nil, fmt.Errorf("no session: %.300s", body)
	}
	_, _, err = c.exchange([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	return s, err
}

// conn is a connection of a session. It makes one call at a time.
type conn struct {
	s    *session
	nc   net.Conn
	r    *bufio.Reader
	out  []byte
	stop func() bool
}

func (s *session) connect(ctx context.Context) (*conn, error) {
	nc, err := new(net.Dialer).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	return &conn{s: s, nc: nc, r: bufio.NewReaderSize(nc, 16<<10), stop: stop}, nil
}

func (c *conn) close() {
	c.stop()
	_ = c.nc.Close()
}

// exchange posts one message, and reads what is answered.
func (c *conn) exchange(message []byte) (http.Header, []byte, error) {
	c.out = c.head(c.out[:0], "POST", len(message))
	c.out = append(c.out, message...)
	if _, err := c.nc.Write(c.out); err != nil {
		return nil, nil, err
	}
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, nil, fmt.Errorf("%s: %.300s", resp.Status, body)
	}
	return resp.Header, body, nil
}

func (c *conn) head(b []byte, method string, length int) []byte {
	b = append(b, method+" "+c.s.path+" HTTP/1.1\r\nHost: "+c.s.address+"\r\nAccept: application/json, text/event-stream\r\n"...)
	if c.s.token != "" {
		b = append(b, "Authorization: Bearer "+c.s.token+"\r\n"...)
	}
	if c.s.id != "" {
		b = append(b, "Mcp-Session-Id: "+c.s.id+"\r\nMcp-Protocol-Version: "+version+"\r\n"...)
	}
	if method == "POST" {
		b = append(b, "Content-Type: application/json\r\nContent-Length: "...)
		b = append(strconv.AppendInt(b, int64(length), 10), "\r\n"...)
	}
	return append(b, "\r\n"...)
}

// call calls the tool, and checks what it returns.
func (c *conn) call(id int) error {
	text := "hello " + strconv.Itoa(id)
	_, body, err := c.exchange([]byte(`{"jsonrpc":"2.0","id":` + strconv.Itoa(id) +
		`,"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + text + `"}}}`))
	if err != nil {
		return err
	}
	if got := string(body); !strings.Contains(got, `"id":`+strconv.Itoa(id)) || !strings.Contains(got, `"`+text+`"`) {
		return fmt.Errorf("call %d was answered with %.300s", id, got)
	}
	return nil
}

// listen opens the stream of what the server has to say, and leaves it open.
func (c *conn) listen() error {
	if _, err := c.nc.Write(c.head(nil, "GET", 0)); err != nil {
		return err
	}
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return fmt.Errorf("no stream: %s", resp.Status)
	}
	return nil // its body is never read to the end, so it is not closed either
}
