package load

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// joined says what became of joiners.
type joined struct {
	Welcomed histogram `json:"welcomed"` // from dialling until the server let them in
	Complete histogram `json:"complete"` // until all that they wanted was there
}

// join lets all connections of the job join at once, when the second measured
// phase begins, and waits until each has got what it wants.
func (w *worker) join() (*result, error) {
	w.ready()
	if !w.begun(measured + 1) {
		return w.result(nil), nil
	}
	j := &joined{Welcomed: newHistogram(), Complete: newHistogram()}
	times := make([]joinTimes, w.Count)
	var complete atomic.Int64
	err := w.together(func(n int) error {
		return w.joinOne(n, &times[n], func() {
			if complete.Add(1) == int64(w.Count) {
				w.tell(line{Done: true})
			}
		})
	})
	for _, t := range times {
		j.Welcomed.record(int64(t.welcomed))
		j.Complete.record(int64(t.complete))
	}
	res := w.result(nil)
	res.Joined = j
	return res, err
}

type joinTimes struct{ welcomed, complete time.Duration }

// joinOne joins, calls done when it has what it wants, and stays until the end.
func (w *worker) joinOne(n int, t *joinTimes, done func()) error {
	start := time.Now()
	s, err := w.dialAgain(w.First + n)
	if err != nil {
		return err
	}
	w.adopt(s.Conn)
	t.welcomed = time.Since(start)
	return newWalker(s, answerBuffer, nil).until(func(received uint64) {
		if t.complete == 0 && received >= uint64(w.Want) {
			t.complete = time.Since(start)
			done()
		}
	})
}

// dialAgain opens a receiving connection, once more where the server asks to
// come back later.
func (w *worker) dialAgain(i int) (*Stream, error) {
	for {
		s, err := w.protocol.Receive(w.end, w.Target, i)
		later, ok := errors.AsType[*laterError](err)
		if !ok {
			return s, err
		}
		t := time.NewTimer(later.after)
		select {
		case <-t.C:
		case <-w.end.Done():
			t.Stop()
			return nil, context.Cause(w.end)
		}
	}
}

// laterError is a refusal that ends by itself.
type laterError struct {
	error
	after time.Duration
}
