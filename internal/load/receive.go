package load

import "context"

const (
	receiveBuffer = 64 << 10
	fewest        = 2 // receivers that take latencies
)

// receive counts what the receivers get, until the end.
func (w *worker) receive() (*result, error) {
	streams, err := w.connect()
	if err != nil {
		return nil, err
	}
	w.ready()
	latencies := make([][]histogram, w.Count)
	err = w.together(func(n int) error {
		i := w.First + n
		walk := newWalker(streams[n], receiveBuffer, nil)
		if sampled(i, w.Sample) {
			latencies[n] = w.histograms()
			walk.message = w.timed(walk, latencies[n])
		}
		count := &w.board.counts[i]
		return walk.until(func(received uint64) { count.Store(received) })
	})
	return w.result(merge(w.histograms(), latencies...)), err
}

// connect connects the receivers.
func (w *worker) connect() ([]*Stream, error) {
	streams := make([]*Stream, w.Count)
	err := w.each(func(ctx context.Context, i int) error {
		s, err := w.protocol.Receive(ctx, w.Target, i)
		if err == nil {
			streams[i-w.First] = s
			w.adopt(s.Conn)
		}
		return err
	})
	return streams, err
}

// sampled says which receivers take latencies: every so many, and one more
// after the first.
func sampled(i, every int) bool { return i < fewest || every > 0 && i%every == 0 }

// timed records how old the messages of a connection are.
func (w *worker) timed(walk *walker, latencies []histogram) func([]byte) error {
	return func(body []byte) error {
		h := w.recording(latencies)
		if h == nil {
			return nil
		}
		if t, ok := findStamp(body); ok {
			h.record(walk.arrived - t)
		}
		return nil
	}
}
