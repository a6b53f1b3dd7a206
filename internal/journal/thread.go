package journal

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/parleyhq/parley"
)

// Thread is everything that the correlation chain of an envelope reaches, both
// ways: what it answers, what answers it, and so on from there, by place. It
// leads from the reasoning to the proposal, the decision, the call and its
// result.
//
// The id may be a context's, and an id in a correlation_id as well: then the
// context's envelopes count as named by it. An envelope of that id comes first.
// What a context concluded leads on to what names the context: the action that
// followed.
//
// At most so many records are returned, and so many bytes of them as they are
// delivered, but for one that is larger; cut says that there are others. Then
// those are there that come first: the one asked for, its proposal, decision, call
// and answer, then other acts, then what was only said. So nobody can push an act
// out of it with talk. Where nothing has the id, the error is not_found.
func Thread(ctx context.Context, log Reader, id string, most, bytes int) (records []*Record, cut bool, err error) {
	t := thread{log: log, start: id, most: most, room: bytes,
		found: map[uint64]*Record{}, asked: map[string]bool{}, ended: map[string]bool{}}
	t.ask(decided, id)
	if err := t.follow(ctx); err != nil {
		return nil, false, err
	}
	if len(t.found) == 0 {
		return nil, false, parley.Errorf(parley.NotFound, "nothing here has the id %.130q", id)
	}
	for _, r := range t.found {
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b *Record) int { return cmp.Compare(a.Seq, b.Seq) })
	return records, t.cut, nil
}

// What is looked for around an id, step by step: while there is something to do at
// one, the next has to wait.
const (
	decided = iota // an act, and what its space lets end it: of what was asked for, and of what ended that
	named          // the same of what others name
	acted          // other acts that name it
	meant          // what it is, where that is no act: a statement, or what a context holds
	said           // all that names it
	steps
)

// node is an id that a thread leads to.
type node struct {
	id        string
	context   bool // no envelope has it, so it may be a context's
	concluded bool // it is a context's, of which a conclusion was found
}

type thread struct {
	log   Reader
	start string
	most  int
	room  int                // in bytes
	found map[uint64]*Record // by Seq
	asked map[string]bool    // ids that were followed or are going to be
	ended map[string]bool    // contexts of which a conclusion was found
	next  [steps][]node
	bytes int  // that were taken
	seen  int  // ids that were looked up
	cut   bool // there was no room for one more
	over  bool // and nothing else is looked for
}

// idsOfThread is how many ids are looked up for each record that there is room for:
// one that names many costs no more than that.
const idsOfThread = 4

// wireRoom is what stands around a body at most: its seq, and a comma.
const wireRoom = 28

func (t *thread) follow(ctx context.Context) error {
	for !t.over {
		step := slices.IndexFunc(t.next[:], func(waiting []node) bool { return len(waiting) > 0 })
		if step < 0 {
			return nil
		}
		n := t.next[step][0]
		t.next[step] = t.next[step][1:]
		if err := t.walk(ctx, step, n); err != nil {
			return err
		}
	}
	return nil
}

func (t *thread) walk(ctx context.Context, step int, n node) error {
	switch {
	case step <= named:
		return t.visit(ctx, n)
	case step == acted && n.concluded:
		return t.cross(ctx, n)
	case step == acted && n.context:
		return t.fill(ctx, Query{Correlation: n.id, Kinds: kindsOfActs}, Query{Contexts: []string{n.id}, Kinds: kindsOfActs})
	case step == acted:
		return t.fill(ctx, Query{Correlation: n.id, Kinds: kindsOfActs})
	case step == meant && n.context:
		return t.fill(ctx, Query{Contexts: []string{n.id}})
	case step == meant:
		return t.fill(ctx, Query{ID: n.id, Limit: 1})
	default:
		return t.fill(ctx, Query{Correlation: n.id})
	}
}

// visit looks up an id, and what ended it. What has no room there is left out
// alone: it makes no difference to the others.
func (t *thread) visit(ctx context.Context, n node) error {
	if t.seen++; t.seen > idsOfThread*t.most {
		t.cut, t.over = true, true
		return nil
	}
	r, err := t.first(ctx, n.id)
	if err != nil {
		return err
	}
	switch {
	case r != nil && (n.id == t.start || isAct(r)):
		t.add(r, named)
	default:
		n.context = r == nil
		t.push(meant, n)
	}
	t.push(acted, n)
	t.push(said, n)
	if r == nil || len(endings(r)) == 0 {
		return nil
	}
	_, err = t.take(ctx, Query{Correlation: n.id, Kinds: endings(r)}, decided)
	return err
}

// cross goes from what a context concluded to what names the context. Whoever
// names an id that an envelope has as well means the envelope.
func (t *thread) cross(ctx context.Context, n node) error {
	if t.asked[n.id] {
		return nil
	}
	envelope, err := t.first(ctx, n.id)
	if err != nil || envelope != nil {
		return err
	}
	t.push(said, n)
	return t.fill(ctx, Query{Correlation: n.id, Kinds: kindsOfActs})
}

// first is the record with an id, nil for none.
func (t *thread) first(ctx context.Context, id string) (*Record, error) {
	for r, err := range t.log.Read(ctx, Query{ID: id, Limit: 1}) {
		return r, err
	}
	return nil, nil
}

// fill adds what queries find, until there is no room.
func (t *thread) fill(ctx context.Context, queries ...Query) error {
	for _, q := range queries {
		whole, err := t.take(ctx, q, named)
		if err != nil {
			return err
		}
		if !whole {
			t.over = true
			return nil
		}
	}
	return nil
}

// take adds what a query finds, whose ids are followed at a step, or reports false
// where one has no room. A query that has kinds is one for acts.
func (t *thread) take(ctx context.Context, q Query, step int) (whole bool, err error) {
	for r, err := range t.log.Read(ctx, q) {
		if err != nil {
			return false, err
		}
		if len(q.Kinds) > 0 && !isAct(r) {
			continue
		}
		if !t.add(r, step) {
			return false, nil
		}
	}
	return true, nil
}

// add takes a record in, or reports false where it has no room.
func (t *thread) add(r *Record, step int) bool {
	if t.found[r.Seq] != nil {
		return true
	}
	size := len(r.Body) + wireRoom
	if len(t.found) == t.most || t.bytes+size > t.room && t.bytes > 0 {
		t.cut, t.over = true, len(t.found) == t.most
		return false
	}
	t.found[r.Seq] = r
	t.bytes += size
	t.ask(step, r.ID)
	for _, id := range r.Correlations {
		t.ask(named, id)
	}
	if r.Kind == KindConclusion && r.Context != "" && !t.ended[r.Context] {
		t.ended[r.Context] = true
		t.push(acted, node{id: r.Context, concluded: true})
	}
	return true
}

func (t *thread) ask(step int, id string) {
	if !t.asked[id] {
		t.asked[id] = true
		t.push(step, node{id: id})
	}
}

func (t *thread) push(step int, n node) { t.next[step] = append(t.next[step], n) }

// kindsOfActs are those of what acts; all others are said only.
var kindsOfActs = []string{"mcp/*", "capability/*", "space/*", "system/*"}

// isAct reports whether a record of one of these kinds acts. Anybody may send as many
// notifications as they like; they report, or ask for something.
func isAct(r *Record) bool {
	k := parley.SplitKind(r.Kind)
	group, _, _ := strings.Cut(k.Type, "/")
	return slices.Contains(kindsOfActs, group+"/*") && !strings.HasPrefix(k.Method, "notifications/")
}

// endings are the kinds of what ends a record. The rules let one do so, so that they
// are few, whoever else names it.
func endings(r *Record) []string {
	switch parley.SplitKind(r.Kind).Type {
	case parley.TypeProposal:
		return []string{parley.TypeRequest + ":*", parley.TypeReject + ":*", parley.TypeWithdraw + ":*", parley.KindNotice}
	case parley.TypeRequest:
		return []string{parley.TypeResponse + ":*"}
	}
	return nil
}
