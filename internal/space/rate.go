package space

import (
	"cmp"
	"time"

	"golang.org/x/time/rate"

	"github.com/parleyhq/parley"
)

// rate takes one from the sender's bucket. Answers are free: a tool that is
// asked much must be able to answer.
func (j *judgement) rate() error {
	if j.answers(j.from, j.e) != nil {
		j.free = true
		return nil
	}
	return j.charge()
}

// refused is what the sender is told. An answer that is refused leaves its
// request open, so that free ones would never end.
func (j *judgement) refused(err error) error {
	if !j.free {
		return err
	}
	return cmp.Or(j.charge(), err)
}

// Charge counts what somebody asks for as one envelope of theirs; the error says
// that these come too fast.
func (s *State) Charge(id string, now time.Time) error {
	j := judgement{State: s, from: id, now: now}
	return j.charge()
}

func (j *judgement) charge() error {
	wait := j.bucket(j.buckets, j.from).take(j.now, 1)
	if wait == 0 {
		return nil
	}
	return tooFast(wait, "more than %g envelopes a second", j.rules.Limits.Rate)
}

// presenceCost is what a connection takes from its bucket that is a
// participant's first: when it ends, it has made two records.
const presenceCost = 10

// arrive takes a connection from a bucket that is as large as that of
// envelopes. Who comes and goes all the time so cannot fill the record.
func (s *State) arrive(id string, now time.Time) error {
	cost := 1
	if s.connections[id] == 0 {
		cost = min(presenceCost, s.rules.Limits.Burst)
	}
	wait := s.bucket(s.arrivals, id).take(now, cost)
	if wait == 0 {
		return nil
	}
	return tooFast(wait, "%.80q connects too often", id)
}

func tooFast(wait time.Duration, format string, args ...any) *parley.Error {
	err := parley.Errorf(parley.RateLimited, format, args...)
	err.RetryAfterMS = int64((wait + time.Millisecond - 1) / time.Millisecond) // rounded up
	return err
}

type bucket struct{ *rate.Limiter }

// bucket is the participant's; there is one for each that is known.
func (s *State) bucket(of map[string]*rate.Limiter, id string) bucket {
	b := of[id]
	if b == nil {
		b = rate.NewLimiter(rate.Limit(s.rules.Limits.Rate), s.rules.Limits.Burst)
		of[id] = b
	}
	return bucket{b}
}

// take returns how long to wait, 0 where there is room for n now.
func (b bucket) take(now time.Time, n int) time.Duration {
	r := b.ReserveN(now, n)
	if !r.OK() {
		return time.Second // a burst of 0 lets nothing through
	}
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}
