package mcpstdio

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"
)

// lastWrite is how long a client that does not read keeps the end waiting.
const lastWrite = time.Second

// output is the one writer of what the client reads.
type output struct {
	lines  chan []byte
	ended  chan struct{}
	failed func(error)
}

func newOutput(w io.Writer, failed func(error)) *output {
	o := &output{lines: make(chan []byte), ended: make(chan struct{}), failed: failed}
	go o.write(w)
	return o
}

func (o *output) write(w io.Writer) {
	defer close(o.ended)
	broken := false
	for l := range o.lines {
		if broken {
			continue
		}
		if _, err := w.Write(l); err != nil {
			broken = true
			o.failed(fmt.Errorf("the client reads no more: %w", err))
		}
	}
}

// say writes one message, unless ctx ends before its turn.
func (o *output) say(ctx context.Context, message []byte) {
	select {
	case o.lines <- onOneLine(message):
	case <-ctx.Done():
	}
}

// close ends the writer, once nobody says anything any more. A write that the
// client does not take is left to the end of the process.
func (o *output) close() {
	close(o.lines)
	patience := time.NewTimer(lastWrite)
	defer patience.Stop()
	select {
	case <-o.ended:
	case <-patience.C:
	}
}

// onOneLine is a copy of a message with its line's end. Line breaks in JSON stand
// between tokens alone, so a blank means the same.
func onOneLine(message []byte) []byte {
	b := append(bytes.Clone(bytes.TrimSpace(message)), '\n')
	for i, c := range b[:len(b)-1] {
		if c == '\n' || c == '\r' {
			b[i] = ' '
		}
	}
	return b
}
