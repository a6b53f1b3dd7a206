package client

import (
	"context"
	"errors"
	"iter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// TranscriptOptions say what [Transcript] tells a model. Nil is valid.
type TranscriptOptions struct {
	// Me is the participant whose words are the model's own: they have the role
	// of the assistant, all others that of the user. Default: nobody.
	Me string

	// Query chooses what is told; its order does not count, its Limit is that of
	// the newest. Default: all that is on record.
	Query *Query

	// Filter narrows it down, as Envelopes.MainOnly does. Of the 4,096 contexts
	// that were opened last it sees the types and parents that the gateway's tree
	// has, of others what the envelopes say. Default: no filter.
	Filter func(Envelopes) Envelopes

	// Tokens is the budget. Default: 8,000.
	Tokens int

	// Count tells how many tokens a text has: for a budget that must hold
	// exactly, with the tokenizer of the model. Default: an estimate that is
	// rather too high, for prose and code by about a half.
	Count func(text string) int
}

const defaultTranscriptTokens = 8_000

// Transcript tells a model what happened in a space, within a budget of tokens.
//
//	told, err := client.Transcript(ctx, room.API(), &client.TranscriptOptions{
//		Me: room.ID(), Filter: client.Envelopes.MainOnly, Tokens: 4_000,
//	})
//
// The newest envelopes are told as they are, one text block each, oldest first.
// In front of them stand the digests of contexts whose older envelopes had no
// room, and first of all a note that says how much is missing, and from which
// position to read on. A text that alone would take more than half of the
// budget is cut short. Presence and reports of progress are left out.
//
// A digest holds what the filter lets through. Where the query chooses by
// anything but positions and contexts there are none, since a digest does not
// know of that.
//
// What others wrote begins with a line like "#12 ann → bob (chat): …", and each
// of its further lines is indented, so that nobody can write what looks like
// somebody else's. It remains what others wrote: material and no instructions.
//
// The same record makes the same transcript. Errors are invalid_argument for a
// budget below zero, and those of [API].
func Transcript(ctx context.Context, api *API, opts *TranscriptOptions) (*Messages, error) {
	var o TranscriptOptions
	if opts != nil {
		o = *opts
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	q := *o.Query
	q.Descending = true
	t := newTelling(o.Tokens, o.Count, o.Me)
	t.plain = q.chooses()
	if err := t.read(o.narrow(ctx, api, &q)); err != nil {
		return nil, err
	}
	t.settle()
	digest := func(id string, tokens int) (*Digest, error) { return api.Digest(ctx, id, tokens) }
	if err := t.digest(digest, o.lets(&q)); err != nil {
		return nil, err
	}
	return t.messages(), nil
}

func (o *TranscriptOptions) check() error {
	if o.Tokens < 0 {
		return parley.Errorf(parley.InvalidArgument, "a budget of %d tokens", o.Tokens).WithHint("leave it 0 for the default")
	}
	if o.Tokens == 0 {
		o.Tokens = defaultTranscriptTokens
	}
	if o.Count == nil {
		o.Count = estimateTokens
	}
	if o.Query == nil {
		o.Query = new(Query)
	}
	return nil
}

// chooses reports whether a query goes by what a digest does not know of.
func (q *Query) chooses() bool {
	return q.Kind != "" || q.From != "" || q.To != "" || q.Correlation != "" || q.Text != "" ||
		!q.Since.IsZero() || !q.Until.IsZero()
}

// narrow is what the query finds and the filter lets through, newest first.
func (o *TranscriptOptions) narrow(ctx context.Context, api *API, q *Query) Envelopes {
	found := api.History(ctx, q)
	if o.Filter == nil {
		return found
	}
	tree := api.Contexts(ctx, &ContextQuery{Tree: q.Context, Descending: true, Limit: keptContexts})
	return o.Filter(placed(found, tree))
}

// placed gives envelopes the types and parents that their contexts have in the
// gateway's tree, which matters where the first envelope comes last. The tree is
// read once, when the first envelope in a context comes.
func placed(all Envelopes, tree iter.Seq2[ContextRecord, error]) Envelopes {
	return func(yield func(*parley.Envelope, error) bool) {
		var known map[string]*ContextRecord
		for e, err := range all {
			if err == nil && e.Context != nil && known == nil {
				known, err = readTree(tree)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(place(e, known), nil) {
				return
			}
		}
	}
}

func readTree(tree iter.Seq2[ContextRecord, error]) (map[string]*ContextRecord, error) {
	known := make(map[string]*ContextRecord)
	for c, err := range tree {
		if errors.Is(err, &parley.Error{Code: parley.NotFound}) {
			break
		}
		if err != nil {
			return nil, err
		}
		known[c.ID] = &c
	}
	return known, nil
}

func place(e *parley.Envelope, known map[string]*ContextRecord) *parley.Envelope {
	if e.Context == nil || known[e.Context.ID] == nil {
		return e
	}
	c, moved := known[e.Context.ID], *e
	moved.Context = &parley.Context{ID: c.ID, Type: c.Type, Parent: c.Parent, Metadata: e.Context.Metadata}
	return &moved
}

// lets reports what of a digest the query and the filter let through.
func (o *TranscriptOptions) lets(q *Query) func(of *ContextRecord, entry *DigestEntry) bool {
	return func(of *ContextRecord, entry *DigestEntry) bool {
		if entry.Seq <= q.After || q.Before > 0 && entry.Seq >= q.Before {
			return false
		}
		if o.Filter == nil {
			return true
		}
		e := &parley.Envelope{
			ID: entry.ID, Seq: entry.Seq, TS: entry.TS, From: entry.From, To: entry.To, Kind: entry.Kind,
			Context: &parley.Context{ID: of.ID, Type: of.Type, Parent: of.Parent},
		}
		for range o.Filter(func(yield func(*parley.Envelope, error) bool) { yield(e, nil) }) {
			return true
		}
		return false
	}
}

// read takes in what there is to tell, newest first, until the budget is spent,
// and then a little more, to say what is missing.
func (t *telling) read(all Envelopes) error {
	for e, err := range all {
		if err != nil {
			return err
		}
		if e.Kind == parley.KindPresence || parley.SplitKind(e.Kind).Method == progressed {
			continue
		}
		if !t.take(e) {
			return nil
		}
	}
	return nil
}

// Messages are a transcript, ready to be sent to a model.
type Messages struct {
	// Messages are the oldest first, the roles taking turns.
	Messages []Message

	// Tokens is what they take: what Count says of every block, and 4 for every
	// message. It is never more than the budget.
	Tokens int

	// Omitted is how many envelopes are not told as they are, summed up or not.
	// With More there are others, older still, that were not counted.
	Omitted int
	More    bool

	// Before is the position to read on from, with [Query].Before: what is older
	// is not told as it is. 0 where nothing is omitted.
	Before uint64

	// Digests are the contexts that are summed up, by their ids.
	Digests []string
}

// Roles of a [Message].
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Message is one as MCP's sampling has it.
type Message struct {
	Role    string  `json:"role"`
	Content []Block `json:"content"`
}

// Block is a content block. Its Type is "text".
type Block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// MarshalJSON writes the message as MCP has it: a single block stands by itself
// and not in a list, since earlier versions of MCP know nothing else.
func (m Message) MarshalJSON() ([]byte, error) {
	var content any = m.Content
	if len(m.Content) == 1 {
		content = m.Content[0]
	}
	return json.Marshal(struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	}{m.Role, content})
}

// UnmarshalJSON reads a message with one block or a list of them.
func (m *Message) UnmarshalJSON(data []byte) error {
	var wire struct {
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	m.Role, m.Content = wire.Role, nil
	if wire.Content.Kind() == '[' {
		return json.Unmarshal(wire.Content, &m.Content)
	}
	m.Content = make([]Block, 1)
	return json.Unmarshal(wire.Content, &m.Content[0])
}
