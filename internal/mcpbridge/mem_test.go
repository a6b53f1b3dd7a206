package mcpbridge

import (
	"context"
	"io"
	"sync"
)

// memory is a link to a server in this process, so that time can be faked.
type memory struct {
	*lines
	in   *io.PipeReader
	out  *io.PipeWriter
	once sync.Once
	wg   sync.WaitGroup
}

// connectMemory connects to whatever serve does with its two streams. The
// server dies when serve returns.
func connectMemory(ctx context.Context, o *Options, serve func(in io.Reader, out io.Writer)) (*Upstream, error) {
	return connectMemoryOf(ctx, Legacy, o, serve)
}

func connectMemoryOf(ctx context.Context, era Era, o *Options, serve func(in io.Reader, out io.Writer)) (*Upstream, error) {
	if o == nil {
		o = &Options{}
	}
	return connect(ctx, "memory", era, *o, func(to sink) (link, error) {
		theirIn, ourOut := io.Pipe()
		ourIn, theirOut := io.Pipe()
		m := &memory{lines: newLines(to, ourIn, ourOut, o.maxMessage()), in: ourIn, out: ourOut}
		m.wg.Go(func() {
			serve(theirIn, theirOut)
			theirIn.Close()
			theirOut.Close()
		})
		return m, nil
	})
}

func (m *memory) begin() {
	m.wg.Go(func() { _ = m.write() })
	m.wg.Go(func() {
		_ = m.read()
		m.sink.fail(gone(io.EOF))
	})
}

func (m *memory) negotiated(string) {}

func (m *memory) close() {
	m.once.Do(func() {
		m.stop()
		m.out.Close()
		m.in.Close()
	})
	m.wg.Wait()
}
