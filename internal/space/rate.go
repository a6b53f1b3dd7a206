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
	if parley.SplitKind(j.e.Kind).Type == parley.TypeResponse && j.openRequest() != nil {
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

func (j *judgement) charge() error {
	wait := j.bucket(j.from).take(j.now)
	if wait == 0 {
		return nil
	}
	err := parley.Errorf(parley.RateLimited, "more than %g envelopes a second", j.rules.Limits.Rate)
	err.RetryAfterMS = int64((wait + time.Millisecond - 1) / time.Millisecond) // rounded up
	return err
}

type bucket struct{ *rate.Limiter }

// bucket is the participant's; there is one for each that is known.
func (s *State) bucket(id string) bucket {
	b := s.buckets[id]
	if b == nil {
		b = rate.NewLimiter(rate.Limit(s.rules.Limits.Rate), s.rules.Limits.Burst)
		s.buckets[id] = b
	}
	return bucket{b}
}

// take returns how long to wait, 0 where there is room now.
func (b bucket) take(now time.Time) time.Duration {
	r := b.ReserveN(now, 1)
	if !r.OK() {
		return time.Second // a burst of 0 lets nothing through
	}
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}
