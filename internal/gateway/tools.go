package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// Tool is one of a server's list, with its definition as the server wrote it.
type Tool struct {
	Name       string
	Definition jsontext.Value
}

// Listed is a tool by its name and the digest of its definition.
type Listed = space.Listed

// Listed is what the record knows a tool by.
func (t Tool) Listed() Listed {
	if !t.Definition.IsValid() {
		return Listed{Name: t.Name, Digest: sha256.Sum256(t.Definition)}
	}
	return Listed{Name: t.Name, Digest: parley.DigestParams(t.Definition)}
}

// Unaccepted are the places in a server's list of definitions that are not the
// accepted ones, or not on record yet.
func (g *Gateway) Unaccepted(ctx context.Context, name, participant string, list []Listed) (places []int, err error) {
	err = g.View(ctx, name, func(s *space.State) { places = s.Unaccepted(participant, list) })
	return places, err
}

// ToolsListed is told each complete list of a configured server's tools. What the
// record does not know of them is put there: definitions that are seen for the
// first time, and those that have changed, with what is different. It returns
// when that is done. The error is not_found where the space or the participant
// does not exist, and unavailable where the journal cannot be written: then tell it
// again. A lazy space keeps nothing of tools.
//
// Of two tools with one name the first counts.
func (g *Gateway) ToolsListed(ctx context.Context, name, participant string, tools []Tool) error {
	r, err := g.room(name)
	if err != nil || r.rules.Lazy {
		return err
	}
	select {
	case r.lists <- struct{}{}:
		defer func() { <-r.lists }()
	case <-ctx.Done():
		return ctx.Err()
	}
	l := toolList{room: r, participant: participant, most: min(mostToolNotice, r.limits.EnvelopeBytes) - envelopeAround}
	l.read(tools)
	if err := l.compare(ctx); err != nil {
		return err
	}
	if err := l.tellNew(ctx); err != nil {
		return err
	}
	return l.tellChanged(ctx)
}

// Bounds of what a notice says of tools.
const (
	mostToolNotice  = 256 << 10 // bytes of a notice, or the space's limit on envelopes
	envelopeAround  = 1 << 10   // of them for what stands around the payload
	toolNoticeParts = 4         // of which a definition, or a difference, takes at most one
	toolNesting     = 64        // of a definition that is put on record: everybody has to read it
)

// toolList is a list that is being taken in.
type toolList struct {
	*room
	participant string
	most        int // bytes of a notice

	tools []definition
	news  space.ToolNews

	// The definitions of the notice that was read last, by name.
	notice uint64
	before map[string]jsontext.Value
}

// definition is what is put on record of one.
type definition struct {
	name   string
	digest parley.Digest
	size   int            // as the server wrote it
	json   jsontext.Value // nil where its digest and size are all that is recorded
}

// read takes the digests, and says what is odd.
func (l *toolList) read(tools []Tool) {
	seen := make(map[string]bool, len(tools))
	for _, t := range tools {
		if seen[t.Name] {
			l.log.Warn("a server lists two tools of one name; the first counts", "participant", l.participant, "tool", clip(t.Name, 80))
			continue
		}
		seen[t.Name] = true
		l.tools = append(l.tools, readDefinition(t, l.most/toolNoticeParts))
	}
}

// readDefinition takes a definition's digest. One that is no JSON, or more than
// others should have to read, is recorded by that and its size alone.
func readDefinition(t Tool, most int) definition {
	d := definition{name: t.Name, digest: t.Listed().Digest, size: len(t.Definition)}
	if d.size <= most && t.Definition.IsValid() && nesting(t.Definition) <= toolNesting {
		d.json = t.Definition.Clone()
		_ = d.json.Compact() // it is valid
	}
	return d
}

// nesting is how deep a valid JSON value goes.
func nesting(v jsontext.Value) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
			if c == '\\' {
				i++
			}
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// compare holds the list against the state.
func (l *toolList) compare(ctx context.Context) error {
	listed := make([]space.Listed, len(l.tools))
	for i, t := range l.tools {
		listed[i] = space.Listed{Name: t.name, Digest: t.digest}
	}
	err := l.ask(ctx, func() error {
		if err := l.closed(); err != nil {
			return err
		}
		if !l.state.Known(l.participant) {
			return parley.Errorf(parley.NotFound, "no participant here is called %.80q", l.participant)
		}
		l.news = l.state.ToolNews(l.participant, listed)
		return nil
	})
	if err == nil && l.news.Left > 0 {
		l.log.Warn("tools are not recorded: there are too many, or their names are longer than is kept", "participant", l.participant, "tools", l.news.Left)
	}
	return err
}

// tellNew puts on record what was not known.
func (l *toolList) tellNew(ctx context.Context) error {
	n := l.begin(space.NoticeToolsSeen)
	for _, i := range l.news.New {
		if err := n.add(ctx, l.tools[i].append(nil)); err != nil {
			return err
		}
	}
	return n.flush(ctx)
}

// tellChanged puts on record what is different. The definitions before are read
// from the notices that told of them, each of which is read once.
func (l *toolList) tellChanged(ctx context.Context) error {
	type change struct {
		before space.Tool
		now    definition
	}
	changes := make([]change, len(l.news.Changed))
	for i, at := range l.news.Changed {
		changes[i] = change{l.news.Before[i], l.tools[at]}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.before.Notice, b.before.Notice) })
	n := l.begin(space.NoticeToolsChanged)
	for _, c := range changes {
		was, err := l.definitionBefore(ctx, &c.before)
		if err != nil {
			return err
		}
		if err := n.add(ctx, c.now.appendChange(nil, c.before.Digest, was, l.most/toolNoticeParts)); err != nil {
			return err
		}
	}
	return n.flush(ctx)
}

// definitionBefore reads a definition from the record; nil where it is not there,
// or not any more.
func (l *toolList) definitionBefore(ctx context.Context, t *space.Tool) (jsontext.Value, error) {
	if l.notice != t.Notice {
		l.notice, l.before = t.Notice, make(map[string]jsontext.Value)
		for rec, err := range l.record.Read(ctx, at(t.Notice)) {
			if journal.IsOvertaken(err) {
				break // retention drops it just now
			}
			if err != nil {
				return nil, err
			}
			for el := range parley.Elements(parley.Member(noticeOf(rec), "tools")) {
				name, _ := parley.MemberString(el, "name")
				l.before[name] = parley.Member(el, "definition")
			}
		}
	}
	return l.before[t.Name], nil
}

// noticeOf is what a notice of the gateway says, nil where the record is of
// something else.
func noticeOf(rec *journal.Record) jsontext.Value {
	if rec.Kind != parley.KindNotice {
		return nil
	}
	return parley.Member(rec.Body, "payload")
}

// toolNotice is a notice in the making. What does not fit goes into another one.
type toolNotice struct {
	*toolList
	begins string
	body   []byte
}

func (l *toolList) begin(event string) *toolNotice {
	b := appendQuote([]byte(`{"event":`), event)
	b = appendQuote(append(b, `,"participant":`...), l.participant)
	return &toolNotice{toolList: l, begins: string(append(b, `,"tools":[`...))}
}

func (n *toolNotice) add(ctx context.Context, tool []byte) error {
	if len(n.body) > 0 && len(n.body)+len(tool)+len(",]}") > n.most {
		if err := n.flush(ctx); err != nil {
			return err
		}
	}
	if len(n.body) == 0 {
		n.body = append(n.body, n.begins...)
	} else {
		n.body = append(n.body, ',')
	}
	n.body = append(n.body, tool...)
	return nil
}

// flush puts the notice on record, if it says anything. Each is put there by
// itself, so that a long list does not keep the space from everything else.
func (n *toolNotice) flush(ctx context.Context) error {
	if len(n.body) == 0 {
		return nil
	}
	payload := append(n.body, `]}`...)
	n.body = nil
	return n.put(ctx, func(s *space.State, now time.Time) (*parley.Envelope, error) {
		return s.ToolNotice(payload, now), nil
	})
}
