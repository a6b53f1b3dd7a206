package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// Options say what a desk works for.
type Options struct {
	// Dir is the folder in which webhooks keep where they stand. Required.
	Dir string

	// Hooks are the webhooks of all spaces.
	Hooks []Hook

	// ApprovalLink makes a link with which one decider decides on one proposal. Nil
	// where there are none: events then carry no links. An error is no link.
	ApprovalLink func(ctx context.Context, space, proposal, decider string) (url string, expires time.Time, err error)

	// Version is what receivers are told of who calls.
	Version string

	// Log gets what an operator should know. Payloads, secrets and whole URLs never
	// reach it. Default: nowhere.
	Log *slog.Logger
}

// Desk sends what its webhooks are for. [Open] makes one.
type Desk struct {
	o        Options
	log      *slog.Logger
	journal  journal.Journal
	store    *store
	feeds    map[string]*feed // by space; complete before the first note
	couriers []*courier

	dial func(ctx context.Context, network, address string) (net.Conn, error) // where a test has its own network

	working context.Context // ends when nothing more is begun
	stop    context.CancelFunc
	sending context.Context // of requests
	abort   context.CancelFunc
	running sync.WaitGroup
	once    sync.Once

	mu      sync.Mutex
	bridges map[bridge]standing
}

type bridge struct{ space, id string }

// standing is what was told of a bridge last.
type standing int

const (
	unheard standing = iota
	failing
	running
)

// Open reads where the webhooks stand, or has them begin at the end of what is on
// record now. It comes before anything is appended to the journal by this process.
func Open(ctx context.Context, j journal.Journal, o Options) (*Desk, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Desk{o: o, log: o.Log, journal: j, feeds: map[string]*feed{}, bridges: map[bridge]standing{}}
	d.working, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	d.sending, d.abort = context.WithCancel(context.WithoutCancel(ctx))
	if len(o.Hooks) == 0 {
		return d, nil
	}
	var err error
	if d.store, err = openStore(o.Dir); err != nil {
		return nil, fmt.Errorf("opening the folder of the webhooks: %w", err)
	}
	for i := range o.Hooks {
		if err := d.open(ctx, &o.Hooks[i]); err != nil {
			return nil, errors.Join(err, d.store.close())
		}
	}
	return d, nil
}

func (d *Desk) open(ctx context.Context, h *Hook) error {
	f := d.feeds[h.Space]
	if f == nil {
		end, err := d.end(ctx, h.Space)
		if err != nil {
			return err
		}
		f = &feed{end: end, from: end.index}
		d.feeds[h.Space] = f
	}
	c, err := newCourier(d, h, f)
	if err != nil {
		return fmt.Errorf("the webhook %s of %s: %w", h.Name, h.Space, err)
	}
	if err := c.resume(ctx); err != nil {
		return fmt.Errorf("the webhook %s of %s: %w", h.Name, h.Space, err)
	}
	f.wake = append(f.wake, c.wake)
	d.couriers = append(d.couriers, c)
	return nil
}

// end is where the record of a space ends; the zero place where there is none yet.
func (d *Desk) end(ctx context.Context, space string) (place, error) {
	log, err := d.journal.Reader(ctx, space)
	if e, ok := errors.AsType[*parley.Error](err); ok && e.Code == parley.NotFound {
		return place{}, nil
	}
	if err != nil {
		return place{}, err
	}
	b, err := log.Bounds(ctx)
	if b.Head.Index == 0 {
		return place{}, err
	}
	return place{b.Head.Index, b.Head.Hash}, err
}

// Recorded takes in what has become durable in a space. It waits for nothing.
func (d *Desk) Recorded(space string, records []*journal.Record) {
	if f := d.feeds[space]; f != nil && len(records) > 0 {
		f.note(records)
	}
}

// Start begins to send. The spaces have to be open by then. Figures go to what
// register gives for a space; nil is nowhere.
func (d *Desk) Start(ctx context.Context, register func(space string) prometheus.Registerer) error {
	metrics := map[string]*Metrics{}
	for _, c := range d.couriers {
		log, err := d.journal.Reader(ctx, c.hook.Space)
		if err != nil {
			return err
		}
		c.reader = log
		space := c.hook.Space
		if metrics[space] == nil && register != nil {
			metrics[space] = NewMetrics(register(space))
		}
		c.metrics = metrics[space].of(c.hook.Name)
	}
	for _, c := range d.couriers {
		d.running.Go(func() { c.run(d.working) })
	}
	return nil
}

// Close ends the desk: nothing more is begun, and what is under way may end until
// ctx does. Whatever was not taken waits for the next start.
func (d *Desk) Close(ctx context.Context) {
	d.stop()
	ended := make(chan struct{})
	go func() { d.running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	d.abort()
	<-ended
	d.once.Do(func() {
		for _, c := range d.couriers {
			c.client.CloseIdleConnections()
		}
		if d.store != nil {
			if err := d.store.close(); err != nil {
				d.log.Error("closing the folder of the webhooks", "error", err)
			}
		}
	})
}

// BridgeState is what became of a bridge's server.
type BridgeState struct {
	Up       bool
	Failures int // in a row
	RetryIn  time.Duration
	Reason   string // why it failed; sent where content may leave
}

// Bridge tells what became of a bridge's server. Of several failures in a row the
// first is an event, and so is that it runs again.
func (d *Desk) Bridge(space, id string, s BridgeState) {
	typ := BridgeFailed
	d.mu.Lock()
	was := d.bridges[bridge{space, id}]
	now := failing
	if s.Up {
		typ, now = BridgeRestarted, running
	}
	d.bridges[bridge{space, id}] = now
	d.mu.Unlock()
	if now == was && now == failing || now == running && was == unheard {
		return
	}
	at := time.Now().UTC().Truncate(time.Millisecond)
	name := newID()
	for _, c := range d.couriers {
		if c.hook.Space != space || !c.hook.takes(typ) || !c.hook.takesFrom(id) {
			continue
		}
		data := BridgeData{Space: space, Bridge: id}
		if !s.Up {
			data.Failures, data.RetryIn = s.Failures, s.RetryIn.Milliseconds()
			if c.hook.Full {
				data.Error = clip(printable(s.Reason), mostReason)
			}
		}
		body, err := json.Marshal(&data)
		if err != nil {
			d.log.Error("an event of a bridge cannot be written", "space", space, "bridge", id, "error", err)
			continue
		}
		c.tell(&item{ID: name, Type: typ, At: at, Bridge: id, Data: body, Next: at})
	}
}

// mostReason is how much is told of why something failed, in bytes.
const mostReason = 500
