package tool

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	rpc "github.com/parleyhq/parley/internal/jsonrpc"
)

// lines is a client that writes and reads MCP line by line, which can say what
// no client of a library would.
type lines struct {
	t    testing.TB
	in   io.WriteCloser
	out  *bufio.Scanner
	done chan error // what Serve returned

	drain sync.Once
}

// newLines connects such a client. The server has ended when the test has.
func newLines(t testing.TB, serve func(in io.ReadCloser, out io.WriteCloser) error) *lines {
	t.Helper()
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	l := &lines{t: t, in: in, out: bufio.NewScanner(out), done: make(chan error, 1)}
	l.out.Buffer(nil, 1<<20)
	go func() {
		l.done <- serve(theirIn, theirOut)
		close(l.done)
	}()
	t.Cleanup(func() {
		in.Close()
		l.end()
		out.Close()
	})
	return l
}

// end waits until the server has ended, and returns why it did. What it still
// says is read meanwhile, since it would wait for a reader otherwise.
func (l *lines) end() error {
	l.drain.Do(func() {
		go func() {
			for l.out.Scan() {
			}
		}()
	})
	return <-l.done
}

// initialize introduces the client in the legacy way, with capabilities.
func (l *lines) initialize(capabilities string) {
	l.t.Helper()
	l.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"t","version":"1"}}}`, capabilities)
	if m := l.next(); m.Result == nil {
		l.t.Fatalf("initialize is answered with %+v", m)
	}
	l.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// send writes a line.
func (l *lines) send(format string, args ...any) {
	l.t.Helper()
	if _, err := fmt.Fprintf(l.in, format+"\n", args...); err != nil {
		l.t.Fatal(err)
	}
}

// next is the next message of the server.
func (l *lines) next() rpc.Message {
	l.t.Helper()
	if !l.out.Scan() {
		l.t.Fatalf("the server says no more: %v", l.out.Err())
	}
	list, err := rpc.Decode([]byte(strings.Clone(l.out.Text())))
	if err != nil || len(list) != 1 {
		l.t.Fatalf("%s: %v", l.out.Text(), err)
	}
	return list[0]
}

// asked is the server's next message, which is a request.
func (l *lines) asked(method string) rpc.Message {
	l.t.Helper()
	m := l.next()
	if m.Method != method || m.ID == nil {
		l.t.Fatalf("%s %s is not %s", m.Method, firstOf(m.Result, m.Params), method)
	}
	return m
}

// answered is the server's next message, which answers a request.
func (l *lines) answered(id string) rpc.Message {
	l.t.Helper()
	m := l.next()
	if m.Method != "" || string(m.ID) != id {
		l.t.Fatalf("%s %s %s is no answer to %s", m.Method, m.ID, firstOf(m.Result, m.Params), id)
	}
	return m
}

func firstOf(values ...jsontext.Value) string {
	for _, v := range values {
		if v != nil {
			return string(v)
		}
	}
	return ""
}
