package store

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Waiting is a proposal that nobody has decided on.
type Waiting struct {
	ID     string
	Seq    uint64
	Kind   string
	Method string
	From   string
	To     []string
	Title  string
	Sample string // of its arguments
	Opened time.Time
}

// Bounds of the queue.
const (
	mostWaiting = 2_000
	mostDecided = 4_096
)

// queue are the proposals that wait, oldest first. It remembers which were decided
// lately, since what the gateway lists may be older than what it sent.
type queue struct {
	list  []*Waiting
	ended map[string]string // id → method, "" is any
	order []string
}

func (q *queue) add(w *Waiting) {
	if len(q.list) >= mostWaiting || q.find(w.ID) >= 0 {
		return
	}
	if method, ok := q.ended[w.ID]; ok && (method == "" || method == w.Method) {
		return
	}
	q.list = append(q.list, w)
	slices.SortStableFunc(q.list, func(a, b *Waiting) int { return cmp.Compare(a.Seq, b.Seq) })
}

func (q *queue) find(id string) int {
	return slices.IndexFunc(q.list, func(w *Waiting) bool { return w.ID == id })
}

// decided takes in that proposals ended: by a request with that method, since another
// one fulfils nothing, or, where it is empty, without one.
func (q *queue) decided(method string, ids ...string) {
	for _, id := range ids {
		if i := q.find(id); i >= 0 && (method == "" || method == q.list[i].Method) {
			q.list = slices.Delete(q.list, i, i+1)
		}
		q.remember(id, method)
	}
}

func (q *queue) remember(id, method string) {
	if q.ended == nil {
		q.ended = map[string]string{}
	}
	if _, ok := q.ended[id]; !ok {
		q.order = append(q.order, id)
	}
	q.ended[id] = method
	if len(q.order) > mostDecided {
		delete(q.ended, q.order[0])
		q.order = q.order[1:]
	}
}

// Queue are the proposals that wait for somebody else than their proposer, oldest
// first: those on which we might decide.
func (s *Store) Queue() []*Waiting {
	var list []*Waiting
	for _, w := range s.queue.list {
		if w.From != s.Me {
			list = append(list, w)
		}
	}
	return list
}

// Seed takes in the proposals that the gateway lists as open. Whatever else was held
// for open was decided where we could not see it.
func (s *Store) Seed(open []*Waiting) {
	listed := make(map[string]bool, len(open))
	newest := uint64(0)
	for _, w := range open {
		listed[w.ID] = true
		newest = max(newest, w.Seq)
	}
	s.queue.list = slices.DeleteFunc(s.queue.list, func(w *Waiting) bool { return !listed[w.ID] && w.Seq <= newest })
	for _, w := range open {
		s.queue.add(w)
		s.look(w.From)
	}
}

// Decided takes in that a proposal is no longer open, as the gateway said to somebody
// who tried.
func (s *Store) Decided(id string) { s.queue.decided("", id) }

// ReadWaiting reads a proposal as the gateway lists it.
func ReadWaiting(v jsontext.Value) *Waiting {
	e := &parley.Envelope{Kind: text(v, "kind"), Payload: parley.Member(v, "payload")}
	w := &Waiting{ID: text(v, "id"), Kind: e.Kind, Method: parley.SplitKind(e.Kind).Method, From: text(v, "from")}
	w.Seq, _ = strconv.ParseUint(string(parley.Member(v, "seq")), 10, 64)
	w.Opened, _ = time.Parse(time.RFC3339, text(v, "opened"))
	for id := range parley.Elements(parley.Member(v, "to")) {
		if s, err := jsontext.AppendUnquote(nil, id); err == nil && len(w.To) < mostNamed {
			w.To = append(w.To, string(s))
		}
	}
	if w.Title, w.Sample = call(e); string(parley.Member(v, "dropped")) == "true" {
		w.Sample = "[no longer on record]"
	}
	return w
}
