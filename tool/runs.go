package tool

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"
	"time"
)

// runs are the calls of modern clients that are under way, or ended a moment
// ago, by their handles.
type runs struct {
	mu     sync.Mutex
	all    map[string]*conversation // guarded by mu
	size   int                      // of their arguments, in bytes; guarded by mu
	closed bool                     // guarded by mu
}

const (
	// DefaultMaxRuns is how many calls of modern clients may wait for their
	// clients at a time where Options do not say.
	DefaultMaxRuns = 10_000
	// DefaultPatience is how long a call waits for a modern client to come back
	// where Options do not say.
	DefaultPatience = time.Hour
	// maxRunBytes is how much the arguments of those calls may take together.
	maxRunBytes = 256 << 20
	// fetchable is how long the result of a call that took several requests is
	// there for a client that asks for it again.
	fetchable = time.Minute
	// keptFor is how long a run is kept on disk that nobody goes on with.
	keptFor = 7 * 24 * time.Hour
)

// add takes a run in.
func (r *runs) add(c *conversation, most int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return Errorf(DependencyUnavailable, "the server is closed")
	}
	for len(r.all) >= most || r.size+c.size > maxRunBytes {
		if !r.evict() {
			return Errorf(ResourceExhausted, "%d calls with arguments of %d bytes wait for their callers, and there is no room for another: try again later", len(r.all), r.size)
		}
	}
	if r.all == nil {
		r.all = make(map[string]*conversation)
	}
	r.all[c.handle] = c
	r.size += c.size
	return nil
}

// evict makes room by forgetting a run that has ended. The caller holds mu.
func (r *runs) evict() bool {
	for _, c := range r.all {
		if c.ended() {
			r.remove(c)
			c.forget()
			return true
		}
	}
	return false
}

func (r *runs) get(handle string) *conversation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[handle]
}

func (r *runs) drop(c *conversation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all[c.handle] == c {
		r.remove(c)
	}
}

// remove is for who holds mu.
func (r *runs) remove(c *conversation) {
	delete(r.all, c.handle)
	r.size -= c.size
}

// close lets no run in any more.
func (r *runs) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

func (r *runs) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// those are the runs that which is true of.
func (r *runs) those(which func(*conversation) bool) (found []*conversation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.all {
		if which(c) {
			found = append(found, c)
		}
	}
	return found
}

// newHandle makes a name for a run that nobody guesses: who knows it may answer
// the run's questions.
func newHandle() string { return rand.Text() }

// stateOf is the requestState of a round. It is another one in each, since
// whoever stands between may let each be used once, and has a seal, so that none
// but those that were given counts. The handle is the secret.
func stateOf(handle string, round int) string {
	state := handle + "." + strconv.Itoa(round)
	seal := sha256.Sum256([]byte(state))
	return state + "." + hex.EncodeToString(seal[:8])
}

// handleOf is the run that a requestState belongs to; "" where it is none.
func handleOf(state string) string {
	handle, rest, _ := strings.Cut(state, ".")
	number, _, _ := strings.Cut(rest, ".")
	round, err := strconv.Atoi(number)
	if err != nil || subtle.ConstantTimeCompare([]byte(state), []byte(stateOf(handle, round))) != 1 {
		return ""
	}
	return handle
}

// runName is that of a modern client's run on disk.
func runName(handle string) string { return "mcp/" + handle }

// unknownRun is the answer to a requestState that leads nowhere.
func unknownRun() *PeerError {
	return &PeerError{
		Code: codeInvalidParams,
		Message: "there is no run with this requestState: its result was fetched, it was cancelled or waited in vain for more than its time, or the server was restarted; " +
			"whether it acted is not known. Make the call again without requestState, if that does no harm",
		Data: []byte(`{"code":"outcome_unknown"}`),
	}
}
