package load

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/sqlite"
)

// MakeJournal makes a journal with n envelopes of a space, one a millisecond up
// to now, as a gateway would have recorded them. Progress, which may be nil, is
// told how many there are.
func MakeJournal(ctx context.Context, path, space string, from []string, n, size int, progress func(done int)) error {
	j, err := sqlite.Open(ctx, sqlite.Options{Path: path, Sync: sqlite.Off})
	if err != nil {
		return err
	}
	defer j.Close()
	sink := &counter{}
	log, err := j.Open(ctx, space, sink)
	if err != nil {
		return err
	}
	payload := []byte(`{"text":"` + strings.Repeat("to be read one day ", max(1, (size-150)/19)) + `"}`)
	kind := parley.SplitKind(parley.KindChat)
	start := time.Now().Add(-time.Duration(n) * time.Millisecond)
	for i := range n {
		if i%10_000 == 0 {
			if err := sink.check(ctx); err != nil {
				return err
			}
			if progress != nil {
				progress(i)
			}
		}
		ts := start.Add(time.Duration(i) * time.Millisecond).UTC().Truncate(time.Millisecond)
		log.Append(journal.Envelope(&parley.Envelope{
			Protocol: parley.ProtocolMCPx, ID: uuid.NewString(), TS: ts,
			From: from[i%len(from)], Kind: parley.KindChat, Payload: payload,
		}, kind, [16]byte{byte(i), byte(i >> 8), byte(i >> 16)}))
	}
	if err := j.Close(); err != nil {
		return err
	}
	if sink.n != n {
		return fmt.Errorf("%d of %d envelopes are on record: %w", sink.n, n, sink.failed)
	}
	return nil
}

// counter hears what becomes of records.
type counter struct {
	mu     sync.Mutex
	n      int
	failed error
}

func (c *counter) Durable(records []*journal.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += len(records)
}

func (c *counter) Failed(_ []*journal.Record, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
}

func (c *counter) check(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return c.failed
	}
	return ctx.Err()
}
