package load

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	answerBuffer = 16 << 10
	mostAtOnce   = 64 // messages in one write
)

// send sends until the run is stopped.
func (w *worker) send() (*result, error) {
	feeds, err := w.open()
	if err != nil {
		return nil, err
	}
	w.ready()
	err = w.together(func(n int) error {
		s := &sender{worker: w, feed: feeds[n], i: w.First + n}
		var hears sync.WaitGroup
		heard := make(chan error, 1)
		hears.Go(func() { heard <- s.listen() })
		err := s.send()
		if err == nil {
			err = <-heard
		}
		s.feed.Conn.Close()
		hears.Wait()
		return err
	})
	return w.result(nil), err
}

// open opens the job's sending connections.
func (w *worker) open() ([]*Feed, error) {
	feeds := make([]*Feed, w.Count)
	err := w.each(func(ctx context.Context, i int) (err error) {
		f, err := w.protocol.Send(ctx, w.Target, i)
		if err == nil {
			feeds[i-w.First] = f
			w.adopt(f.Conn)
		}
		return err
	})
	return feeds, err
}

// sender is one sending connection.
type sender struct {
	*worker
	feed *Feed
	i    int

	stamps []int64
	buf    []byte
	last   int64 // the newest stamp

	stuck      uint64 // deliveries when the window was full
	stuckSince int64
}

// listen reads what comes back, so that the server need not keep it, until the
// connection ends.
func (s *sender) listen() error {
	walk := newWalker(&s.feed.Stream, answerBuffer, nil)
	if s.feed.Check != nil {
		walk.message = func(answer []byte) error {
			if err := s.feed.Check(answer); err != nil {
				s.refused(err)
			}
			return nil
		}
	}
	return walk.until(func(uint64) {})
}

// send sends until the run is stopped.
func (s *sender) send() error {
	punctual()
	if !s.begun(warming) {
		return nil
	}
	if s.Rate > 0 {
		return s.paced()
	}
	return s.saturate()
}

// saturate keeps the window full.
func (s *sender) saturate() error {
	for s.board.phase() < stopped && s.end.Err() == nil {
		n := s.board.claim(s.Window, mostAtOnce)
		if n == 0 {
			s.unstick()
			pause(poll)
			continue
		}
		s.stuckSince = 0
		if err := s.write(s.fresh(n)); err != nil {
			return err
		}
	}
	return nil
}

// fresh are n different stamps of now.
func (s *sender) fresh(n int) []int64 {
	s.stamps = s.stamps[:0]
	s.last = max(s.last, Now()-1)
	for range n {
		s.last++
		s.stamps = append(s.stamps, s.last)
	}
	return s.stamps
}

// stuckFor is when what has not come is given up, in nanoseconds: some servers
// drop messages, and a window full of those would never open again.
const stuckFor = int64(2e9)

// unstick gives up what is outstanding once nothing has moved for long enough.
func (s *sender) unstick() {
	now, deliveries := Now(), s.board.deliveries()
	switch {
	case s.i != 0: // one of the senders is enough
	case s.stuckSince == 0 || deliveries != s.stuck:
		s.stuck, s.stuckSince = deliveries, now
	case now-s.stuckSince > stuckFor:
		s.board.forgive(uint64(s.board.outstanding(s.board.claimed())))
		s.stuckSince = 0
	}
}

// paced sends at a rate, whatever becomes of it.
func (s *sender) paced() error {
	each := 1e9 / s.Rate
	p := &pace{start: Now() + int64(float64(s.i)*each), rate: s.Rate / float64(s.Total)}
	for s.board.phase() < stopped && s.end.Err() == nil {
		now := Now()
		n := min(p.due(now), mostAtOnce)
		if n == 0 {
			pause(min(time.Duration(p.next()-now), time.Millisecond)) // the run may be stopped meanwhile
			continue
		}
		s.stamps = p.take(s.stamps[:0], n)
		s.board.claimAny(n)
		if err := s.write(s.stamps); err != nil {
			return err
		}
	}
	return nil
}

// write writes one message for each stamp, in one system call.
func (s *sender) write(stamps []int64) error {
	s.buf = s.buf[:0]
	for _, t := range stamps {
		s.buf = s.feed.Append(s.buf, t)
	}
	if _, err := s.feed.Conn.Write(s.buf); err != nil {
		return fmt.Errorf("sender %d: %w", s.i, err)
	}
	s.board.wrote(len(stamps))
	return nil
}
