package participant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/modelspec"
	"github.com/parleyhq/parley/model/internal/provider"
)

// Options say who joins, and what it is asked with. Document and Models are
// required.
type Options struct {
	Document *modelspec.Document // complete: checked, and its secrets resolved
	Models   []Model             // the document's, in its order

	// Unanswered are ids of requests that were asked before this program joined.
	// They are answered with an error. Default: there are none.
	Unanswered <-chan string

	// OnJoin is told when the participant is in the room, under which id. It
	// must return soon. Default: nobody is told.
	OnJoin func(id string)

	// Log gets what becomes of requests, never what is in them. Default:
	// slog.Default.
	Log *slog.Logger
}

// Model is a model with whom it is asked by.
type Model struct {
	Spec     modelspec.Model
	Provider provider.Provider
}

const (
	// refusing is how many requests beyond those that are worked on can be
	// refused at the same time.
	refusing = 64

	// farewell is how long requests that are given up have to be answered.
	farewell = 5 * time.Second
)

// participant is one that runs.
type participant struct {
	document *modelspec.Document
	models   []Model
	log      *slog.Logger
	clean    func(string) string
	ledger   *ledger
	here     *here
	leaving  context.Context // ends when the participant leaves
}

// Run joins, and serves until ctx ends, which is no error, or the room. Errors
// of joining are those of [client.Dial].
func Run(ctx context.Context, o Options) error {
	leaving, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	defer leave(nil)
	p := newParticipant(leaving, o)
	defer p.here.close()
	room, err := client.Dial(ctx, o.Document.URL, p.dialling())
	if err != nil {
		return fmt.Errorf("joining %s: %w", o.Document.URL, err)
	}
	defer room.Close()
	p.joined(room, o.OnJoin)
	var settling sync.WaitGroup
	settling.Go(func() { p.settle(leaving, room, o.Unanswered) })
	defer settling.Wait()
	select {
	case <-room.Done():
		leave(errLeaving)
		return room.Err()
	case <-ctx.Done():
	}
	leave(errLeaving)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	room.Leave(ending)
	return nil
}

func newParticipant(leaving context.Context, o Options) *participant {
	log := cmp.Or(o.Log, slog.Default())
	return &participant{
		document: o.Document, models: o.Models, leaving: leaving,
		log:    log,
		clean:  cleaner(o.Document.Secrets()),
		ledger: newLedger(&o.Document.Settings),
		here:   newHere(log),
	}
}

// dialling is how to join: to hear what is for us, and who leaves.
func (p *participant) dialling() *client.Options {
	return &client.Options{
		Token: p.document.Token.Reveal(), Space: p.document.Space,
		Kinds: []string{"mcp/request:" + method}, EchoOff: true, Exclusive: true,
		Handler: p.serve, Concurrency: p.ledger.slots + refusing,
		OnArrival: p.here.arrived,
		OnState: func(s client.State) {
			if s.Phase != client.Connected && !errors.Is(s.Err, client.ErrClosed) {
				p.log.Warn("the connection to the gateway is lost", "phase", s.Phase.String(), "error", s.Err)
			}
		},
		Logger: p.log,
	}
}

func (p *participant) joined(room *client.Room, tell func(id string)) {
	answer := parley.Action{Kind: parley.Kind{Type: parley.TypeResponse, Method: method}}
	if !room.Capabilities().Allow(&answer) {
		p.log.Warn("the participant may not answer what it is asked; it needs the capability mcp/response:*", "participant", room.ID())
	}
	if tell != nil {
		tell(room.ID())
	}
}
