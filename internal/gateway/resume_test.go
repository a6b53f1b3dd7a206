package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// wanted is a connection's query, and, said again in few words, what it is to
// receive.
type wanted struct {
	who, query string
	receives   func(e *parley.Envelope) bool
}

func wants() []wanted {
	named := func(e *parley.Envelope, who string) bool { return slices.Contains(e.To, who) }
	within := func(e *parley.Envelope, ids ...string) bool {
		return e.Context == nil || slices.Contains(ids, e.Context.ID)
	}
	system := func(e *parley.Envelope) bool { return strings.HasPrefix(e.Kind, "system/") }
	return []wanted{
		{"bob", "", func(*parley.Envelope) bool { return true }},
		{"cy", "", func(*parley.Envelope) bool { return true }},
		{"cy", "routing=directed", func(e *parley.Envelope) bool { return len(e.To) == 0 || named(e, "cy") }},
		{"bob", "kinds=note", func(e *parley.Envelope) bool { return e.Kind == "note" || system(e) || named(e, "bob") }},
		{"bob", "kinds=note,end-*&routing=directed&presence=off", func(e *parley.Envelope) bool {
			return named(e, "bob") || len(e.To) == 0 && (e.Kind == "note" || strings.HasPrefix(e.Kind, "end-"))
		}},
		{"cy", "presence=off", func(e *parley.Envelope) bool { return e.Kind != parley.KindPresence }},
		{"bob", "contexts=type:x", func(e *parley.Envelope) bool { return within(e, "r") || named(e, "bob") }},
		{"cy", "contexts=tree:r&presence=off", func(e *parley.Envelope) bool {
			return (within(e, "r", "s") || named(e, "cy")) && e.Kind != parley.KindPresence
		}},
		{"dan", "contexts=none", func(e *parley.Envelope) bool { return within(e) || named(e, "dan") }},
		{"dan", "echo=off", func(e *parley.Envelope) bool { return e.From != "dan" }},
		{"dan", "kinds=nothing&presence=off", func(e *parley.Envelope) bool {
			return named(e, "dan") || system(e) && e.Kind != parley.KindPresence
		}},
	}
}

// Connections are killed at any moment, thousands of times, while
// traffic flows and the journal fails and heals: over its connections everybody
// receives exactly what is on record and meant for it, in its order, and every
// envelope is answered once: acknowledged where it is on record, refused where
// it is not. Newcomers meanwhile ask for history, and get what follows on it.
func TestNothingIsLostOrRepeated(t *testing.T) {
	s := demo("ann", "bob", "cy", "dan")
	s.Rules.Limits.Rate, s.Rules.Limits.Burst, s.Rules.Limits.ContextRate = 1e6, 1e6, 1e6
	c := &chaos{harness: serve(t, Options{Spaces: []Space{s}, RetainBytes: 1, Logger: textLog(io.Discard)})}
	c.run()
}

type chaos struct {
	*harness
	kills atomic.Int64

	mu     sync.Mutex
	visits []visit
}

// visit is what a newcomer who asked for history got.
type visit struct {
	wanted
	history int
	last    uint64 // where the space stood when it was welcomed
	got     []uint64
}

func (c *chaos) run() {
	var readers, senders, newcomers sync.WaitGroup
	over := make(chan struct{})
	for i, w := range wants() {
		newcomers.Go(func() { c.visit(w, rand.New(rand.NewPCG(3, uint64(i))), over) })
	}
	read := func() {
		for i, w := range wants() {
			readers.Go(func() { c.receive(w, rand.New(rand.NewPCG(1, uint64(i)))) })
		}
	}
	read()
	senders.Go(func() { c.fail(); read() }) // from the beginning, which is in the journal alone by then
	for i, who := range []string{"ann", "dan"} {
		senders.Go(func() { c.chatter(who, rand.New(rand.NewPCG(2, uint64(i)))) })
	}
	senders.Wait()
	for c.say() != nil {
	}
	end := c.join("ann", "kinds=nothing")
	end.send(`{"kind":"end-all","to":["bob","cy","dan"]}`)
	readers.Wait()
	end.ws.CloseNow()
	close(over)
	newcomers.Wait()
	c.checkVisits()
	c.t.Logf("%d connections killed, %d of newcomers", c.kills.Load(), len(c.visits))
}

// visit comes in again and again, asks for history and stays for a while.
func (c *chaos) visit(w wanted, rnd *rand.Rand, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		default:
		}
		v := visit{wanted: w, history: rnd.IntN(100)}
		if rnd.IntN(4) == 0 {
			v.history = rnd.IntN(c.g.rooms["demo"].limits.History)
		}
		ws, _, err := c.dial(w.who, fmt.Sprintf("%s&history=%d", w.query, v.history))
		if err != nil {
			continue // the journal fails
		}
		c.stay(&v, &peer{t: c.t, ws: ws}, rnd.IntN(v.history+50))
		ws.CloseNow()
		c.mu.Lock()
		c.visits = append(c.visits, v)
		c.mu.Unlock()
	}
}

func (c *chaos) stay(v *visit, p *peer, envelopes int) {
	for n := 0; n <= envelopes; n++ {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond) // at the end nothing comes
		_, data, err := p.ws.Read(ctx)
		cancel()
		if err != nil {
			return
		}
		e, err := parley.Decode(data, 0)
		switch {
		case err != nil:
			c.t.Error(err)
		case e.Kind == parley.KindWelcome && v.last == 0:
			v.last = uint64(field(c.t, e, "history", "last").(float64))
		case e.Seq > 0:
			v.got = append(v.got, e.Seq)
		}
	}
}

// checkVisits holds what newcomers got against the record: as much history as
// they asked for, as far as there is so much, and then all that follows.
func (c *chaos) checkVisits() {
	all := c.read(journal.Query{})
	for _, w := range wants() {
		var seqs []uint64
		for _, e := range all {
			if w.receives(e) {
				seqs = append(seqs, e.Seq)
			}
		}
		for i := range c.visits {
			if v := &c.visits[i]; v.who == w.who && v.query == w.query && len(v.got) > 0 {
				c.checkVisit(v, seqs)
			}
		}
	}
}

func (c *chaos) checkVisit(v *visit, seqs []uint64) {
	then, _ := slices.BinarySearch(seqs, v.last+1) // so many were there
	begin := max(0, then-v.history)
	if v.query != "" { // there may be fewer of what is rarely received
		begin, _ = slices.BinarySearch(seqs, v.got[0])
		if begin < then-v.history {
			c.t.Errorf("%s %q: %d of history, %d were asked for", v.who, v.query, then-begin, v.history)
		}
	}
	if end := min(begin+len(v.got), len(seqs)); !slices.Equal(v.got, seqs[begin:end]) {
		c.t.Errorf("%s %q with history=%d at %d got %v, want %v", v.who, v.query, v.history, v.last, v.got, seqs[begin:end])
	}
}

// outcome is the next answer to something that was sent.
func (p *peer) outcome() *parley.Envelope {
	for {
		if e := p.next(); e.Kind == parley.KindAck || e.Kind == parley.KindError {
			return e
		}
	}
}

// fail has the journal fail and heal again and again.
func (c *chaos) fail() {
	watch := c.join("ann", "echo=off")
	defer watch.ws.CloseNow()
	for range 3 {
		for range 300 {
			watch.next()
		}
		c.journal.Fail(errors.New("full"))
		for c.say() == nil {
		}
		c.journal.Heal()
	}
}

// say sends something over HTTP, as it were.
func (c *chaos) say() error {
	_, err := c.g.Submit(context.Background(), "demo", "ann", []byte(`{"kind":"chat"}`))
	return err
}

// chatter sends, and sends again under the same id what was refused because the
// journal fails, until all is acknowledged: that says the truth about the
// record, once.
func (c *chaos) chatter(who string, rnd *rand.Rand) {
	p := c.join(who, "echo=off&kinds=nothing&presence=off")
	frame := func(i int) string {
		to := []string{``, `"to":["cy"],`, `"to":["bob"],`, `"to":["bob","ann"],`}[i%4]
		kind := []string{"chat", "note"}[i/4%2]
		in := []string{``, `"context":{"id":"r","type":"x"},`, `"context":{"id":"s","parent":"r"},`, `"context":{"id":"w","type":"y"},`}[i/8%4]
		return fmt.Sprintf(`{"id":"%s-%d",%s%s"kind":%q,"payload":%q}`, who, i, to, in, kind, strings.Repeat("x", i*31%700))
	}
	const messages, waiting = 1_000, 40
	sent, acked := 0, map[string]bool{}
	for len(acked) < messages {
		for ; sent < messages && sent-len(acked) < 1+rnd.IntN(waiting); sent++ {
			p.send(frame(sent))
		}
		e := p.outcome()
		id := e.Correlation.IDs[0]
		if e.Kind == parley.KindAck {
			if acked[id] {
				c.t.Errorf("%s was acknowledged twice", id)
			}
			acked[id] = true
			continue
		}
		if code := field(c.t, e, "error"); code != "unavailable" || acked[id] {
			c.t.Errorf("%s is refused: %v", id, code)
		}
		n, _ := strconv.Atoi(id[len(who)+1:])
		p.send(frame(n))
	}
	if n := len(c.read(journal.Query{From: who, Kinds: []string{"chat", "note"}})); n != messages {
		c.t.Errorf("%d of %s are on record, want %d", n, who, messages)
	}
	p.ws.CloseNow()
}

func (c *chaos) read(q journal.Query) (list []*parley.Envelope) {
	reader, _ := c.journal.Reader(context.Background(), "demo")
	for rec, err := range reader.Read(context.Background(), q) {
		if err != nil {
			c.t.Error(err)
		}
		e, err := parley.Decode(rec.Wire(), 0)
		if err != nil {
			c.t.Error(err)
		}
		list = append(list, e)
	}
	return list
}

// receive reads until the end over one connection after the other, and holds
// what came against the record.
func (c *chaos) receive(w wanted, rnd *rand.Rand) {
	var got []uint64
	position, ended := uint64(0), false
	for !ended {
		ws, _, err := c.dial(w.who, fmt.Sprintf("%s&after=%d&epoch=e1", w.query, position))
		if err != nil {
			continue // the journal fails
		}
		p := &peer{t: c.t, ws: ws}
		left := rnd.IntN(10)
		if rnd.IntN(32) == 0 {
			left = rnd.IntN(1_500) // far enough to come from the journal into memory
		}
		for ; left >= 0 && !ended; left-- {
			e, err := p.read()
			if err != nil {
				break
			}
			if e.Kind == parley.KindWelcome && field(c.t, e, "history", "gap") != nil {
				c.t.Errorf("%v: a gap after %d", w, position)
			}
			if e.Seq > 0 {
				position, got = e.Seq, append(got, e.Seq)
			}
			ended = e.Kind == "end-all"
		}
		ws.CloseNow()
		c.kills.Add(1)
	}
	var want []uint64
	for _, e := range c.read(journal.Query{Before: position + 1}) {
		if w.receives(e) {
			want = append(want, e.Seq)
		}
	}
	if !slices.Equal(got, want) {
		n := 0
		for n < min(len(got), len(want)) && got[n] == want[n] {
			n++
		}
		c.t.Errorf("%s %q: %d envelopes, want %d; they differ from number %d on", w.who, w.query, len(got), len(want), n)
	}
}
