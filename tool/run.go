package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// run is what the branches of one call share: whom they ask, and what was
// answered.
type run struct {
	peer Peer
	id   string // a secret, or a name that nobody else's run has
	kept *keeping
	root place

	mu       sync.Mutex
	named    map[[sha256.Size]byte]int // how often each thing was named; guarded by mu
	answered map[string]*reply         // on record from before a restart, by question; guarded by mu
}

// reply is what a question was answered with.
type reply struct {
	Result jsontext.Value `json:"result,omitzero"`
	Error  *PeerError     `json:"error,omitzero"`
}

func (a *reply) get() (jsontext.Value, error) {
	if a.Error != nil {
		return nil, a.Error
	}
	return a.Result, nil
}

// tidy leaves of an answer what can be kept, so that it comes to the same each
// time: one that is no JSON is null, which answers nothing.
func (a *reply) tidy() {
	if a.Error == nil && !a.Result.IsValid() {
		a.Result = jsontext.Value("null")
	}
	if e := a.Error; e != nil && e.Data != nil && !e.Data.IsValid() {
		a.Error = &PeerError{Code: e.Code, Message: e.Message}
	}
}

// ask puts a question, unless its answer is on record.
func (r *run) ask(ctx context.Context, a inquiry, c *parley.Context) (jsontext.Value, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q := Question{ID: r.next("question", []byte(a.method), a.asked), Name: a.name, Method: a.method, Params: a.params, Context: c}
	if known := r.take(q.ID); known != nil {
		return known.get()
	}
	result, err := r.peer.Ask(ctx, q)
	given := &reply{Result: result}
	if err != nil {
		var ok bool
		if given.Error, ok = errors.AsType[*PeerError](err); !ok {
			return nil, err // nobody has answered it
		}
	}
	if r.kept != nil {
		given.tidy()
		if err := r.kept.answer(q.ID, given); err != nil {
			return nil, err
		}
	}
	return given.get()
}

// next names the next thing of a kind, a question or a context, by what it is
// and how many of it there were before, so that a function that runs again gets
// the answers that it got, in whatever order its goroutines ask.
func (r *run) next(kind string, what ...[]byte) string {
	h := sha256.New()
	h.Write([]byte(kind))
	for _, w := range what {
		h.Write([]byte{0}) // which no part has
		h.Write(w)
	}
	digest := [sha256.Size]byte(h.Sum(nil))
	r.mu.Lock()
	if r.named == nil {
		r.named = make(map[[sha256.Size]byte]int)
	}
	n := r.named[digest]
	r.named[digest] = n + 1
	r.mu.Unlock()
	return r.derive(kind, hex.EncodeToString(digest[:]), strconv.Itoa(n))
}

// derive makes a name that is the same whenever the run gets to the same place,
// and that nobody guesses who does not know the run's.
func (r *run) derive(parts ...string) string {
	h := sha256.New()
	h.Write([]byte(r.id))
	for _, p := range parts {
		h.Write([]byte{0})
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// take takes an answer off the record.
func (r *run) take(question string) *reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.answered[question]
	delete(r.answered, question)
	return a
}
