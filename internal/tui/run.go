package tui

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyhq/parley"
)

// Run puts the console on a terminal until somebody leaves, ctx ends or the room does;
// then the terminal is as it was. envelopes are what happens, links news of the
// connection.
func Run(ctx context.Context, m *Model, in io.Reader, out io.Writer, envelopes func(context.Context) iter.Seq2[*parley.Envelope, error], links <-chan Link) error {
	p := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(out), tea.WithFPS(perSecond), tea.WithoutSignalHandler())
	ctx, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	aside := func(work func()) {
		helpers.Go(func() {
			defer giveBack(p)
			work()
		})
	}
	aside(func() { pump(ctx, envelopes(ctx), func(msg any) { p.Send(msg) }) })
	aside(func() {
		for {
			select {
			case l := <-links:
				p.Send(l)
			case <-ctx.Done():
				p.Quit()
				return
			}
		}
	})
	_, err := p.Run()
	cancel()
	helpers.Wait()
	if err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return parley.Errorf(parley.Internal, "the terminal: %v", err)
	}
	return m.Err()
}

// giveBack gives the terminal back before a panic ends the program.
func giveBack(p *tea.Program) {
	if r := recover(); r != nil {
		_ = p.ReleaseTerminal()
		panic(r)
	}
}
