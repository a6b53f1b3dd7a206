package load

import (
	"cmp"
	"context"
	"fmt"

	"github.com/parleyhq/parley"
)

// Exchange says how senders send and wait for the answers, each for its own.
// The protocol has to answer.
type Exchange struct {
	Setting
	Senders int
	Window  int // messages of one sender that may be unanswered, 1 where 0
	Workers int // processes that the senders are spread over, 1 where 0
}

// ExchangeResult is what a run measured.
type ExchangeResult struct {
	Seconds          float64 `json:"seconds"`
	Answers          uint64  `json:"answers"` // received within them
	AnswersPerSecond float64 `json:"answers_per_second"`
	Errors           uint64  `json:"errors"` // messages that the server refused
	FirstError       string  `json:"first_error,omitempty"`

	Latency Latency `json:"latency"` // from sending to the answer
	Server  Usage   `json:"server"`

	CPUSecondsPerMillion *float64 `json:"cpu_seconds_per_million_answers,omitempty"`
}

// Run runs the load.
func (e Exchange) Run(ctx context.Context) (*ExchangeResult, error) {
	if e.Senders < 1 {
		return nil, parley.Errorf(parley.InvalidArgument, "an exchange needs a sender at least")
	}
	c, err := newCrew(ctx, e.Command, e.Senders)
	if err != nil {
		return nil, err
	}
	defer c.close()
	err = c.hire(cmp.Or(e.Workers, 1), job{
		Role: roleExchange, Target: e.Target, Count: e.Senders, Window: cmp.Or(e.Window, 1), Phases: 1,
	})
	if err != nil {
		return nil, err
	}
	n, err := e.measure(c)
	if err != nil {
		return nil, err
	}
	c.board.enter(stopped)
	all, err := c.end()
	if err != nil {
		return nil, err
	}
	if n.deliveries == 0 && all.errors == 0 {
		return nil, parley.Errorf(parley.Unavailable, "nothing of what was sent was answered").
			WithHint("is there somebody who answers it?")
	}
	return &ExchangeResult{
		Seconds: n.seconds, Answers: n.deliveries, AnswersPerSecond: float64(n.deliveries) / n.seconds,
		Errors: all.errors, FirstError: all.first,
		Latency: all.latencies[0].latency(), Server: n.usage, CPUSecondsPerMillion: n.usage.perMillion(n.deliveries),
	}, refusedAll(n, all)
}

// exchange sends on each connection and waits for the answers, with at most
// Window messages unanswered.
func (w *worker) exchange() (*result, error) {
	feeds, err := w.open()
	if err != nil {
		return nil, err
	}
	w.ready()
	latencies := make([][]histogram, w.Count)
	err = w.together(func(n int) error {
		if !w.begun(warming) {
			return nil
		}
		latencies[n] = w.histograms()
		x := exchanger{sender: sender{worker: w, feed: feeds[n], i: w.First + n}, latencies: latencies[n]}
		if err := x.run(); err != nil {
			return fmt.Errorf("sender %d: %w", x.i, err)
		}
		return nil
	})
	return w.result(merge(w.histograms(), latencies...)), err
}

// exchanger is one connection that sends and waits.
type exchanger struct {
	sender
	latencies []histogram
	walk      *walker
	open      int    // messages that were not answered yet
	taken     uint64 // messages that the server took, and answered
}

func (x *exchanger) run() error {
	x.walk = newWalker(&x.feed.Stream, answerBuffer, x.answer)
	if err := x.walk.walk(); err != nil {
		return err
	}
	for x.end.Err() == nil {
		if n := min(x.Window-x.open, mostAtOnce); n > 0 && x.board.phase() < stopped {
			x.board.claimAny(n)
			if err := x.write(x.fresh(n)); err != nil {
				return err
			}
			x.open += n
		}
		if err := x.walk.read(); err != nil {
			return err
		}
		x.board.counts[x.i].Store(x.taken)
	}
	return nil
}

func (x *exchanger) answer(body []byte) error {
	x.open--
	if x.feed.Check != nil {
		if err := x.feed.Check(body); err != nil {
			x.refused(err)
			return nil
		}
	}
	x.taken++
	h := x.recording(x.latencies)
	if h == nil {
		return nil
	}
	if t, ok := findStamp(body); ok {
		h.record(x.walk.arrived - t)
	}
	return nil
}
