package tui

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/store"
)

// Room is what the console asks of a room. Its methods may take time, and are called
// from several goroutines.
type Room interface {
	// ID is who we are, Space where, and People who is here, as of a position.
	ID() string
	Space() string
	People() (ids []string, upTo uint64)

	// Known are all who may come, here or not.
	Known(ctx context.Context) ([]string, error)

	// Capabilities are what we may send at the moment.
	Capabilities() parley.Capabilities

	// Send sends an envelope under its id: twice is once.
	Send(ctx context.Context, e *parley.Envelope) (client.Receipt, error)
	// Answer answers a request with a result, or with an error.
	Answer(ctx context.Context, request *parley.Envelope, result jsontext.Value, failure *client.RPCError) error

	// Envelope reads one as it is on record, Chain what led to it and what came of it,
	// and Search those that match.
	Envelope(ctx context.Context, id string) (*parley.Envelope, error)
	Chain(ctx context.Context, id string) (client.Chain, error)
	Search(ctx context.Context, q *client.Query) ([]*parley.Envelope, error)

	// Waiting are the proposals that are open, oldest first.
	Waiting(ctx context.Context) ([]*store.Waiting, error)
	// Proposal reads what became of one.
	Proposal(ctx context.Context, id string) (Standing, error)
	// Tools are what is on record of somebody's tools, or of everybody's.
	Tools(ctx context.Context, participant string) ([]Listed, error)
	// Notice is the envelope at a position.
	Notice(ctx context.Context, seq uint64) (*parley.Envelope, error)

	// Verify walks the hash chain of the record, and says in words that it holds. The
	// error names the first place that does not.
	Verify(ctx context.Context) (string, error)

	// Unanswered are the forms of the last day that wait for us, oldest first.
	Unanswered(ctx context.Context) ([]*parley.Envelope, error)
	// Cause says in words for which call somebody asks; "" where nobody knows.
	Cause(ctx context.Context, request *parley.Envelope) string
}

// Standing is what became of a proposal.
type Standing struct {
	State   string // open, fulfilled, amended, rejected, withdrawn or expired
	By      string
	Reason  string
	Opened  time.Time
	Expires time.Time

	Dropped *parley.Envelope // where retention has dropped it: what the gateway still tells, without a payload
}

// Listed is a tool as the gateway lists it.
type Listed struct {
	Participant, Name string
	Notice            uint64 // the position of its definition
	Digest            string // of it
	Accepted          bool
	Changed           string // the newest change in a few words, where it is not accepted
}
