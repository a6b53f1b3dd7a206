package mcpbridge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// maxStray is how many lines in a row may be no messages. Some servers greet
// on their standard output; one that says nothing else is no MCP server.
const maxStray = 100

// lines speaks JSON-RPC in lines over a pair of streams.
type lines struct {
	sink sink
	r    io.Reader
	w    io.Writer
	max  int

	out  chan []byte   // to the writer
	quit chan struct{} // closed when nobody is to write any more
	once sync.Once
}

func newLines(s sink, r io.Reader, w io.Writer, max int) *lines {
	return &lines{sink: s, r: r, w: w, max: max, out: make(chan []byte, 64), quit: make(chan struct{})}
}

// send queues msg. The queue keeps a server that does not read from holding
// up whoever only wants to give up on it.
func (l *lines) send(ctx context.Context, m outgoing) error {
	select {
	case l.out <- append(m.body, '\n'):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.quit:
		return ErrServerGone
	}
}

// write writes what is queued until stop, or until the server reads no more.
func (l *lines) write() error {
	for {
		select {
		case msg := <-l.out:
			if _, err := l.w.Write(msg); err != nil {
				l.stop()
				return err
			}
		case <-l.quit:
			return nil
		}
	}
}

func (l *lines) stop() { l.once.Do(func() { close(l.quit) }) }

// read hands on line after line until the stream ends. It returns why, nil
// for a plain end.
func (l *lines) read() error {
	r := bufio.NewReaderSize(l.r, 32<<10)
	for strays := 0; ; {
		line, err := readLine(r, l.max)
		if len(line) > 0 {
			if l.deliver(line) {
				strays = 0
			} else if strays++; strays == maxStray {
				return fmt.Errorf("it writes to its standard output what is not JSON-RPC, as %q", clip(line))
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func (l *lines) deliver(line []byte) bool {
	messages, err := jsonrpc.Decode(line)
	if err != nil {
		l.sink.stray(clip(line))
		return false
	}
	for _, m := range messages {
		l.sink.receive(m, anyCause)
	}
	return true
}

// readLine reads one line into memory of its own, without its end and without
// blanks around it. mcp.ErrTooLong comes as soon as more than max bytes are there.
func readLine(r *bufio.Reader, max int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > max {
			return nil, fmt.Errorf("%w: more than %d bytes", mcp.ErrTooLong, max)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}

// clip is the start of some text, for a message about it.
func clip(b []byte) string {
	const most = 200
	if len(b) <= most {
		return string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
	}
	return string(bytes.ToValidUTF8(b[:most], []byte("\uFFFD"))) + "…"
}
