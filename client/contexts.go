package client

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// ContextState says whether a context is in use.
type ContextState string

// A context is concluded when nothing has referred to it for the idle time of
// its type, and open again once somebody does.
const (
	ContextOpen      ContextState = "open"
	ContextConcluded ContextState = "concluded"
)

// ContextRecord is what the gateway's tree says of one context (section 8 of the
// contract). In JSON it is what the gateway writes.
type ContextRecord struct {
	ID       string            `json:"id"`
	Type     string            `json:"type,omitzero"`
	Parent   string            `json:"parent,omitzero"`
	Depth    int               `json:"depth"`  // 1 without a parent
	Opener   string            `json:"opener"` // who sent the first envelope
	First    uint64            `json:"first"`  // positions of its oldest and newest envelope
	Last     uint64            `json:"last"`
	Count    uint64            `json:"count"` // envelopes on record
	State    ContextState      `json:"state"`
	Opened   time.Time         `json:"opened"` // when the first and the last came
	Touched  time.Time         `json:"touched"`
	Metadata jsontext.Value    `json:"metadata,omitzero"` // the latest that was sent; nil for none
	Kinds    map[string]uint64 `json:"kinds,omitzero"`    // envelopes by kind, as in chat or mcp/request:tools/call; lists leave it out
}

// ContextQuery chooses contexts. The zero value is all of them, in the order in
// which they were opened. All conditions must hold.
type ContextQuery struct {
	After, Before uint64 // exclusive bounds of First; 0 is none
	Limit         int    // contexts in all; 0 is no limit
	State         ContextState
	Type          string
	Parent        string // children of this context
	Opener        string // opened by this participant
	Tree          string // this context and all its descendants
	Descending    bool   // newest first
}

func (q *ContextQuery) values() url.Values {
	v := parameters{}
	v.position("after", q.After)
	v.position("before", q.Before)
	v.set("state", string(q.State))
	v.set("type", q.Type)
	v.set("parent", q.Parent)
	v.set("opener", q.Opener)
	v.set("tree", q.Tree)
	v.page(q.Limit, q.Descending)
	return url.Values(v)
}

// Contexts reads those that match, page by page as the loop goes on. A nil query
// is all. An error is the last thing that comes.
func (a *API) Contexts(ctx context.Context, q *ContextQuery) iter.Seq2[ContextRecord, error] {
	if q == nil {
		q = new(ContextQuery)
	}
	items := limited(a.list(ctx, q.values(), "contexts"), q.Limit)
	return func(yield func(ContextRecord, error) bool) {
		for item, err := range items {
			var c ContextRecord
			if err == nil {
				err = read(item, &c)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// Context reads one by its id, with its kinds; not_found where there is none.
func (a *API) Context(ctx context.Context, id string) (c ContextRecord, err error) {
	body, err := a.get(ctx, nil, "contexts", id)
	if err == nil {
		err = read(body, &c)
	}
	return c, err
}

// read takes an answer of the gateway for what it should be.
func read(v jsontext.Value, into any) error {
	if err := json.Unmarshal(v, into); err != nil {
		return parley.Errorf(parley.Internal, "the gateway's answer is not understood: %v", err)
	}
	return nil
}

// Digest is a context in short: what is left to decide, what was concluded, and
// as many of the newest messages as a budget of tokens has room for. In JSON it is
// what the gateway writes.
type Digest struct {
	Context      ContextRecord `json:"context"`
	DigestTokens `json:"tokens"`
	Proposals    []DigestEntry     `json:"proposals"`
	Conclusion   *DigestEntry      `json:"conclusion,omitzero"` // the last one; nil for none
	Kinds        map[string]uint64 `json:"kinds"`
	Messages     []DigestEntry     `json:"messages"` // newest first
	Omitted      uint64            `json:"omitted"`  // envelopes that are listed nowhere
}

// DigestTokens says how large a digest is.
type DigestTokens struct {
	Budget    int    `json:"budget"`    // tokens that were asked for
	Used      int    `json:"used"`      // tokens that the entries take, never more than Budget
	Tokenizer string `json:"tokenizer"` // which counted them
}

// DigestEntry is one envelope in short. Its position is for whoever wants to
// read all of it.
type DigestEntry struct {
	Seq  uint64    `json:"seq"`
	ID   string    `json:"id"` // cut where it is very long: read by Seq then
	From string    `json:"from"`
	To   []string  `json:"to,omitzero"`   // of a proposal
	Kind string    `json:"kind,omitzero"` // but of a conclusion; cut where it is very long
	TS   time.Time `json:"ts,omitzero"`   // but of a proposal
	Text string    `json:"text"`

	ToOmitted int `json:"to_omitted,omitzero"` // how many more it is addressed to
}

// Digest reads the digest of a context and its descendants within a budget of
// tokens; 0 is the gateway's default. It is not_found where there is no context.
func (a *API) Digest(ctx context.Context, id string, tokens int) (*Digest, error) {
	q := parameters{}
	q.on("tokens", strconv.Itoa(tokens), tokens != 0)
	v, err := a.get(ctx, url.Values(q), "contexts", id, "digest")
	if err != nil {
		return nil, err
	}
	d := new(Digest)
	if err := read(v, d); err != nil {
		return nil, err
	}
	return d, nil
}

// Replay reads all envelopes of a context, and with subtree of its descendants,
// in the space's order, as they come: the gateway sends them in one stream. An
// error is the last thing that comes; without one, the replay was whole. It is
// not_found where there is no context.
func (a *API) Replay(ctx context.Context, id string, subtree bool) iter.Seq2[*parley.Envelope, error] {
	q := parameters{}
	q.on("subtree", "true", subtree)
	return decoded(func(yield func(jsontext.Value, error) bool) {
		resp, err := a.open(ctx, http.MethodGet, url.Values(q), nil, "contexts", id, "replay")
		if err != nil {
			yield(nil, err)
			return
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, mostBody)
		lines.Split(wholeLines)
		for lines.Scan() {
			if !yield(jsontext.Value(bytes.Clone(lines.Bytes())), nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, fmt.Errorf("client: reading the gateway's answer: %w", err))
		}
	})
}

// wholeLines splits what a gateway streams. A last line without an end was cut
// off.
func wholeLines(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}
