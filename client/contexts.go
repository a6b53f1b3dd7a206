package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

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
// contract).
type ContextRecord struct {
	ID, Type, Parent string
	Depth            int    // 1 without a parent
	Opener           string // who sent the first envelope
	First, Last      uint64 // positions of its oldest and newest envelope
	Count            uint64 // envelopes on record
	State            ContextState
	Opened, Touched  time.Time         // when the first and the last came
	Metadata         jsontext.Value    // the latest that was sent; nil for none
	Kinds            map[string]uint64 // envelopes by kind, as in chat or mcp/request:tools/call; lists leave it out
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
	v := url.Values{}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	position := func(name string, seq uint64) {
		if seq > 0 {
			v.Set(name, strconv.FormatUint(seq, 10))
		}
	}
	position("after", q.After)
	position("before", q.Before)
	set("state", string(q.State))
	set("type", q.Type)
	set("parent", q.Parent)
	set("opener", q.Opener)
	set("tree", q.Tree)
	if q.Descending {
		v.Set("order", "desc")
	}
	v.Set("limit", strconv.Itoa(min(cmp.Or(q.Limit, pageSize), pageSize)))
	return v
}

// Contexts reads those that match, page by page as the loop goes on. A nil query
// is all. An error is the last thing that comes.
func (a *API) Contexts(ctx context.Context, q *ContextQuery) iter.Seq2[ContextRecord, error] {
	if q == nil {
		q = new(ContextQuery)
	}
	items := limited(a.list(ctx, q.values(), &Query{Descending: q.Descending}, "contexts"), q.Limit)
	return func(yield func(ContextRecord, error) bool) {
		for item, err := range items {
			if err != nil {
				yield(ContextRecord{}, err)
				return
			}
			if !yield(readContext(item), nil) {
				return
			}
		}
	}
}

// Context reads one by its id, with its kinds; not_found where there is none.
func (a *API) Context(ctx context.Context, id string) (ContextRecord, error) {
	body, err := a.get(ctx, nil, "contexts", id)
	if err != nil {
		return ContextRecord{}, err
	}
	return readContext(body), nil
}

func readContext(v jsontext.Value) ContextRecord {
	return ContextRecord{
		ID:       text(v, "id"),
		Type:     text(v, "type"),
		Parent:   text(v, "parent"),
		Depth:    int(sequence(v, "depth")),
		Opener:   text(v, "opener"),
		First:    sequence(v, "first"),
		Last:     sequence(v, "last"),
		Count:    sequence(v, "count"),
		State:    ContextState(text(v, "state")),
		Opened:   when(v, "opened"),
		Touched:  when(v, "touched"),
		Metadata: parley.Member(v, "metadata"),
		Kinds:    readKinds(parley.Member(v, "kinds")),
	}
}

func readKinds(v jsontext.Value) map[string]uint64 {
	if v.Kind() != '{' {
		return nil
	}
	kinds := make(map[string]uint64)
	for kind, n := range parley.Members(v) {
		kinds[kind], _ = strconv.ParseUint(string(n), 10, 64)
	}
	return kinds
}

// Digest is a context in short: what is left to decide, what was concluded, and
// as many of the newest messages as a budget of tokens has room for.
type Digest struct {
	Context    ContextRecord
	Budget     int    // tokens that were asked for
	Used       int    // tokens that the entries take, never more than Budget
	Tokenizer  string // which counted them
	Proposals  []DigestEntry
	Conclusion *DigestEntry // the last one; nil for none
	Kinds      map[string]uint64
	Messages   []DigestEntry // newest first
	Omitted    uint64        // messages and proposals that had no room
}

// DigestEntry is one envelope in short. Its position is for whoever wants to
// read all of it.
type DigestEntry struct {
	Seq  uint64
	ID   string
	From string
	To   []string // of a proposal
	Kind string
	TS   time.Time
	Text string
}

// Digest reads the digest of a context and its descendants within a budget of
// tokens; 0 is the gateway's default. It is not_found where there is no context.
func (a *API) Digest(ctx context.Context, id string, tokens int) (*Digest, error) {
	q := url.Values{}
	if tokens != 0 {
		q.Set("tokens", strconv.Itoa(tokens))
	}
	v, err := a.get(ctx, q, "contexts", id, "digest")
	if err != nil {
		return nil, err
	}
	count := parley.Member(v, "tokens")
	d := &Digest{
		Context:   readContext(parley.Member(v, "context")),
		Budget:    int(sequence(count, "budget")),
		Used:      int(sequence(count, "used")),
		Tokenizer: text(count, "tokenizer"),
		Proposals: readEntries(parley.Member(v, "proposals")),
		Kinds:     readKinds(parley.Member(v, "kinds")),
		Messages:  readEntries(parley.Member(v, "messages")),
		Omitted:   sequence(v, "omitted"),
	}
	if c := parley.Member(v, "conclusion"); c.Kind() == '{' {
		e := readEntry(c)
		d.Conclusion = &e
	}
	return d, nil
}

func readEntries(v jsontext.Value) []DigestEntry {
	var list []DigestEntry
	for el := range parley.Elements(v) {
		list = append(list, readEntry(el))
	}
	return list
}

func readEntry(v jsontext.Value) DigestEntry {
	e := DigestEntry{
		Seq:  sequence(v, "seq"),
		ID:   text(v, "id"),
		From: text(v, "from"),
		Kind: text(v, "kind"),
		TS:   when(v, "ts"),
		Text: text(v, "text"),
	}
	for el := range parley.Elements(parley.Member(v, "to")) {
		if s, err := jsontext.AppendUnquote(nil, el); err == nil {
			e.To = append(e.To, string(s))
		}
	}
	return e
}

// Replay reads all envelopes of a context, and with subtree of its descendants,
// in the space's order, as they come: the gateway sends them in one stream. An
// error is the last thing that comes; without one, the replay was whole. It is
// not_found where there is no context.
func (a *API) Replay(ctx context.Context, id string, subtree bool) iter.Seq2[*parley.Envelope, error] {
	q := url.Values{}
	if subtree {
		q.Set("subtree", "true")
	}
	return decoded(func(yield func(jsontext.Value, error) bool) {
		resp, err := a.open(ctx, http.MethodGet, q, nil, "contexts", id, "replay")
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
