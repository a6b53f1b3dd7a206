package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/sqlite"
)

func readJSON(r io.Reader, v any) error { return json.NewDecoder(r).Decode(v) }

// end stops the gateway in order.
func (s *soak) end() {
	took, err := s.gateway.stop()
	s.report.Shutdown = took
	if err != nil {
		s.tally.fault("the end was not in order, after %v: %v", took, err)
	}
}

// examine looks at the journal that the gateway left.
func (s *soak) examine(ctx context.Context, heads map[string]string) error {
	for space, head := range heads {
		s.verify(ctx, space, head)
	}
	kept, err := s.kept(ctx, keeps, time.Now())
	if err != nil {
		return err
	}
	late := time.Now().Add(-retainEvery)
	small, err := s.kept(ctx, drops, late)
	if err != nil {
		return err
	}
	if small.older > retainBytes+retainSlack {
		s.tally.fault("%s has %d bytes on record that are older than %v; %d may be kept", drops, small.older, retainEvery, retainBytes)
	}
	info, err := os.Stat(s.journal)
	if err != nil {
		return err
	}
	s.report.Kept, s.report.Small, s.report.File = kept, small, info.Size()
	if most := journalFactor*(kept.Bytes+small.Bytes) + journalBase; info.Size() > most {
		s.tally.fault("the journal's file has %d bytes for %d bytes on record; %d would be in order", info.Size(), kept.Bytes+small.Bytes, most)
	}
	return nil
}

const (
	retainEvery = 75 * time.Second // in which what is too much is dropped, a slow minute
	retainSlack = 16 << 10         // bytes: the marker, and the record that did not fit
	// What the file may take for what is on record: tables and indexes, and
	// the most that the small space has between two rounds of retention.
	journalFactor = 4
	journalBase   = 32 << 20
)

// Kept is what is on record of a space.
type Kept struct {
	First uint64 // seq of the oldest envelope
	Bytes int64
	older int64 // bytes from before a time
}

func (s *soak) kept(ctx context.Context, space string, before time.Time) (k Kept, err error) {
	j, err := sqlite.Open(ctx, sqlite.Options{Path: s.journal, ReadOnly: true})
	if err != nil {
		return k, fmt.Errorf("soak: reading the journal: %w", err)
	}
	defer j.Close()
	log, err := j.Reader(ctx, space)
	if err != nil {
		return k, fmt.Errorf("soak: reading the journal: %w", err)
	}
	for r, err := range log.Read(ctx, journal.Query{Chain: true}) {
		if err != nil {
			return k, fmt.Errorf("soak: reading the journal: %w", err)
		}
		if k.First == 0 {
			k.First = r.Seq
		}
		k.Bytes += int64(r.Size())
		if r.TS.Before(before) {
			k.older += int64(r.Size())
		}
	}
	return k, nil
}

// dropped waits until retention has dropped something of what there was.
func (s *soak) dropped(ctx context.Context, before Kept) error {
	late := time.Now().Add(dropTime)
	for before.Bytes > retainBytes+retainSlack {
		c := s.visitor(drops)
		h, err := c.head(ctx)
		c.http.CloseIdleConnections()
		switch {
		case err != nil:
			return err
		case h.First > before.First:
			s.tally.did("dropped at a start")
			return nil
		case time.Now().After(late):
			s.tally.fault("%s holds %d bytes, and nothing of it was dropped in %v", drops, before.Bytes, dropTime)
			return nil
		case !sleep(ctx, 50*time.Millisecond):
			return ctx.Err()
		}
	}
	return nil
}

// dropTime is how long the first round of retention may take.
const dropTime = 30 * time.Second

// again starts the gateway on what it left. It comes back with everything, and
// drops what is too much of the small space at once.
func (s *soak) again(ctx context.Context) error {
	next, err := startGateway(ctx, s.opts.Program, s.config)
	if err != nil {
		return err
	}
	s.gateway = next
	if err := s.dropped(ctx, s.report.Small); err != nil {
		return err
	}
	s.end()
	left, err := s.kept(ctx, drops, time.Now())
	if err != nil {
		return err
	}
	if left.Bytes > retainBytes+retainSlack {
		s.tally.fault("%s has %d bytes on record after it was to keep %d", drops, left.Bytes, retainBytes)
	}
	s.verify(ctx, keeps)
	s.verify(ctx, drops)
	return nil
}
