package load

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/parleyhq/parley"
)

// job is what a worker is told to do.
type job struct {
	Role   role   `json:"role"`
	Target Target `json:"target"`
	Board  string `json:"board"`
	First  int    `json:"first"`  // the number of its first connection
	Count  int    `json:"count"`  // of its connections
	Total  int    `json:"total"`  // of all connections in this role
	Phases int    `json:"phases"` // that are measured

	Sample int     `json:"sample,omitempty"` // receive: take latencies at one of so many
	Window int     `json:"window,omitempty"` // send, exchange
	Rate   float64 `json:"rate,omitempty"`   // send: of all senders
	Want   int     `json:"want,omitempty"`   // join: messages that complete a joiner
}

type role string

const (
	roleReceive  role = "receive"  // receives until the end
	roleSend     role = "send"     // sends until the run is stopped
	roleExchange role = "exchange" // sends and waits for answers
	roleJoin     role = "join"     // joins once the second measured phase begins
	roleIdle     role = "idle"     // is there
)

// line is what a worker says on its standard output.
type line struct {
	Ready  bool    `json:"ready,omitempty"` // everybody is connected
	Done   bool    `json:"done,omitempty"`  // all joiners have what they wanted
	Error  string  `json:"error,omitempty"` // it cannot go on
	Result *result `json:"result,omitempty"`
}

// result is what a worker found.
type result struct {
	Latencies  []histogram `json:"latencies,omitempty"` // by measured phase
	Errors     uint64      `json:"errors,omitempty"`
	FirstError string      `json:"first_error,omitempty"`
	Joined     *joined     `json:"joined,omitempty"`
}

// worker does a job.
type worker struct {
	job
	protocol Protocol
	board    *board

	end context.Context // ends when the coordinator says so

	mu      sync.Mutex
	say     *json.Encoder
	conns   []io.Closer // closed at the end
	closing bool
	errors  uint64
	first   string
}

// Work does one job: it reads it from in, and goes on until in says that the
// run is over, or ends.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	w := &worker{say: json.NewEncoder(out)}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	if !lines.Scan() {
		return parley.Errorf(parley.InvalidArgument, "there is no job on standard input").
			WithHint("workers are started by parley bench, not by hand")
	}
	if err := json.Unmarshal(lines.Bytes(), &w.job); err != nil {
		return parley.Errorf(parley.InvalidArgument, "the job cannot be read: %v", err)
	}
	var over context.CancelFunc
	w.end, over = context.WithCancel(ctx)
	defer over()
	go func() { // ends with the process at the latest, which reads nothing else
		lines.Scan()
		over()
	}()
	res, err := w.work()
	if err != nil {
		err = w.blame(err)
		w.tell(line{Error: err.Error()})
		return err
	}
	w.tell(line{Result: res})
	return nil
}

func (w *worker) work() (*result, error) {
	if w.protocol = protocols[w.Target.Protocol]; w.protocol == nil {
		return nil, fmt.Errorf("there is no protocol %q", w.Target.Protocol)
	}
	var err error
	if w.board, err = openBoard(w.Board); err != nil {
		return nil, err
	}
	defer w.board.close()
	defer w.closeAll()
	defer context.AfterFunc(w.end, w.closeAll)()
	switch w.Role {
	case roleReceive:
		return w.receive()
	case roleSend:
		return w.send()
	case roleExchange:
		return w.exchange()
	case roleJoin:
		return w.join()
	case roleIdle:
		return w.idle()
	}
	return nil, fmt.Errorf("there is no role %q", w.Role)
}

func (w *worker) tell(l line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.say.Encode(l) // where nobody reads any more, standard input has ended too
}

// blame adds what the server refused to what happened then.
func (w *worker) blame(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.errors == 0 {
		return err
	}
	return fmt.Errorf("%w; before, %d messages were refused, the first because %s", err, w.errors, w.first)
}

// ready says that everybody is connected.
func (w *worker) ready() { w.tell(line{Ready: true}) }

// adopt has a connection closed at the end.
func (w *worker) adopt(c io.Closer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing {
		c.Close()
	}
	w.conns = append(w.conns, c)
}

func (w *worker) closeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closing = true
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

// over reports whether an error is only that the run has ended.
func (w *worker) over(err error) bool { return err == nil || w.end.Err() != nil }

// refused counts what the server did not take.
func (w *worker) refused(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errors++
	if w.first == "" {
		w.first = err.Error()
	}
}

func (w *worker) result(latencies []histogram) *result {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &result{Latencies: latencies, Errors: w.errors, FirstError: w.first}
}

// dialing is how many connections a worker opens at a time.
const dialing = 32

// each does something for every connection number of the job, a few at a time,
// and returns the first error.
func (w *worker) each(do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(w.end)
	defer cancel(nil)
	slots := make(chan struct{}, dialing)
	var all sync.WaitGroup
	for i := w.First; i < w.First+w.Count && ctx.Err() == nil; i++ {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := do(ctx, i); err != nil {
				cancel(fmt.Errorf("connection %d: %w", i, err))
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// together runs one goroutine for each of the job's connections, and returns
// the first error once all have ended. An error ends the others.
func (w *worker) together(do func(n int) error) error {
	errs := make(chan error, w.Count)
	for n := range w.Count {
		go func() {
			err := do(n)
			if w.over(err) {
				err = nil
			}
			errs <- err
		}()
	}
	var first error
	for range w.Count {
		if err := <-errs; err != nil && first == nil {
			first = err
			w.closeAll()
		}
	}
	return first
}

// histograms are one for each measured phase.
func (w *worker) histograms() []histogram {
	list := make([]histogram, w.Phases)
	for i := range list {
		list[i] = newHistogram()
	}
	return list
}

// recording is where latencies go now: nil where nothing is measured.
func (w *worker) recording(list []histogram) *histogram {
	if i := w.board.phase() - measured; w.board.phase() >= measured && i < phase(len(list)) {
		return &list[i]
	}
	return nil
}

// merge adds up what the goroutines of a worker recorded.
func merge(into []histogram, lists ...[]histogram) []histogram {
	for _, list := range lists {
		for i := range list {
			into[i].merge(list[i])
		}
	}
	return into
}

// poll is how often workers look at the board while nothing can be done.
const poll = 50 * time.Microsecond

// begun waits until the run has reached a phase, and reports false where it
// ended before.
func (w *worker) begun(p phase) bool {
	for w.board.phase() < p {
		if w.end.Err() != nil {
			return false
		}
		pause(4 * poll)
	}
	return true
}
