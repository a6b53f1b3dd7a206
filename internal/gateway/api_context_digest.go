package gateway

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/digest"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// What is looked at for one digest at most, of messages and of proposals.
const (
	digestMost  = 2_000
	digestBytes = 8 << 20
)

// getDigest puts a context in short.
func getDigest(w http.ResponseWriter, r *http.Request, c caller) error {
	p := readParams(r)
	budget := p.tokens()
	subtree := p.flag("subtree", true)
	if err := p.done(); err != nil {
		return err
	}
	d := digesting{caller: c, Digest: digest.New(budget), open: make(map[uint64]bool)}
	if err := d.look(r.Context()); err != nil {
		return err
	}
	var body []byte
	err := c.reading(r.Context(), func(ctx context.Context) (err error) {
		body, err = d.make(ctx, r.PathValue("id"), subtree)
		return err
	})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, append(body, '\n'))
}

// tokens is the budget of a digest.
func (p *params) tokens() int {
	text := p.text("tokens")
	if text == "" {
		return digest.Default
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < digest.Least || n > digest.Most {
		p.fail("tokens is %.40q, not a number from %d to %d", text, digest.Least, digest.Most)
	}
	return n
}

// digesting is a digest that is being put together. All but look is called
// within a reading.
type digesting struct {
	caller
	*digest.Digest
	open          map[uint64]bool // places of the space's open proposals
	oldest, newer uint64          // the first of them, and what comes after the last
	tree          []*journal.Context
}

// look asks the state which proposals are open.
func (d *digesting) look(ctx context.Context) error {
	if d.room.rules.Lazy {
		return nil
	}
	return d.view(ctx, func(s *space.State) {
		for _, p := range s.Proposals(space.Open) {
			if d.oldest == 0 {
				d.oldest = p.Seq
			}
			d.open[p.Seq] = true
			d.newer = p.Seq + 1
		}
	})
}

func (d *digesting) make(ctx context.Context, id string, subtree bool) ([]byte, error) {
	one, err := d.gather(ctx, id, subtree)
	if err != nil {
		return nil, err
	}
	if err := d.conclusion(ctx, one); err != nil {
		return nil, err
	}
	if err := d.proposals(ctx); err != nil {
		return nil, err
	}
	kinds, total := d.counts()
	d.Count(kinds)
	described, err := d.describe(ctx, one)
	if err != nil {
		return nil, err
	}
	q := within(journal.Query{Newest: true, Limit: digestMost}, d.tree)
	if err := d.each(ctx, q, d.Say); err != nil {
		return nil, err
	}
	return d.Append(nil, described, total), nil
}

// describe writes the context itself. Metadata for which there is no room are left
// out, which it says.
func (d *digesting) describe(ctx context.Context, one *journal.Context) ([]byte, error) {
	metadata, err := d.metadata(ctx, one)
	if err != nil {
		return nil, err
	}
	state := d.stateOf(one, d.room.now())
	if d.Describe(metadata) {
		return appendContext(nil, one, state, metadata), nil
	}
	b := appendContext(nil, one, state, nil)
	b = strconv.AppendInt(append(b[:len(b)-1], `,"metadata_omitted":`...), int64(len(metadata)), 10)
	return append(b, '}'), nil
}

// gather finds the context and its descendants.
func (d *digesting) gather(ctx context.Context, id string, subtree bool) (*journal.Context, error) {
	one, err := d.theContext(ctx, id)
	if err != nil {
		return nil, err
	}
	if d.tree = []*journal.Context{one}; subtree {
		d.tree, err = d.family(ctx, id, true)
	}
	return one, err
}

// conclusion takes in the last conclusion.
func (d *digesting) conclusion(ctx context.Context, one *journal.Context) error {
	seq := d.concluded(one)
	if seq == 0 {
		return nil
	}
	rec, err := recordOf(ctx, d.room.record, at(seq))
	if rec != nil {
		d.Conclude(rec)
	}
	return err
}

// concluded is where the conclusion stands: the context's own one or, where it has
// none, the newest of its descendants. Where nobody concluded anything a summary
// stands in; else it is a message as any other.
func (d *digesting) concluded(one *journal.Context) uint64 {
	var decided, summed uint64
	for _, c := range d.tree {
		decided, summed = max(decided, c.Concluded), max(summed, c.Summed)
	}
	return cmp.Or(one.Concluded, decided, one.Summed, summed)
}

// proposals are the open ones of the context and its descendants.
func (d *digesting) proposals(ctx context.Context) error {
	if len(d.open) == 0 {
		return nil
	}
	q := journal.Query{
		Kinds: []string{parley.TypeProposal},
		After: d.oldest - 1, Before: d.newer, Newest: true, Limit: digestMost,
	}
	return d.each(ctx, within(q, d.tree), func(rec *journal.Record) bool { return !d.open[rec.Seq] || d.Propose(rec) })
}

// counts adds up what all contexts hold.
func (d *digesting) counts() (kinds map[string]uint64, total uint64) {
	kinds = make(map[string]uint64)
	for _, c := range d.tree {
		total += c.Count
		for kind, n := range c.Kinds {
			kinds[kind] += n
		}
	}
	return kinds, total
}

// each reads records until fn has enough, or they become too many bytes.
func (d *digesting) each(ctx context.Context, q journal.Query, fn func(*journal.Record) bool) error {
	size := 0
	for rec, err := range d.room.record.Read(ctx, q) {
		if err != nil {
			return err
		}
		if size += len(rec.Body); !fn(rec) || size > digestBytes {
			return nil
		}
	}
	return nil
}
