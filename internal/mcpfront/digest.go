package mcpfront

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcp"
)

// digest reads a context in short, for a model whose window has no room for all
// of it.
func (x *exchange) digest(ctx context.Context, id string, tokens int) (jsontext.Value, error) {
	if id == "" {
		return asResult(nil, parley.Errorf(parley.InvalidArgument, "a digest is of a context, and none is named").
			WithHint("give its id as context"))
	}
	d, err := x.seat.room.API().Digest(ctx, id, tokens)
	if err != nil {
		return asResult(nil, err)
	}
	return toolResult(digestText(d), digestObject(d), false), nil
}

// digestText is a digest for reading. Each text in it is one line already.
func digestText(d *client.Digest) string {
	var b strings.Builder
	c := &d.Context
	fmt.Fprintf(&b, "Context %s of %s, %s, with %d envelopes of its own.\n", c.ID, c.Opener, c.State, c.Count)
	for _, p := range d.Proposals {
		fmt.Fprintf(&b, "Still to be decided: #%d %s by %s: %s\n", p.Seq, p.ID, p.From, tame(p.Text))
	}
	if d.Conclusion != nil {
		fmt.Fprintf(&b, "Concluded: #%d %s: %s\n", d.Conclusion.Seq, d.Conclusion.From, tame(d.Conclusion.Text))
	}
	for _, m := range slices.Backward(d.Messages) {
		fmt.Fprintf(&b, "#%d %s %s [%s] %s\n", m.Seq, m.TS.Format(time.RFC3339), m.From, tame(m.Kind), tame(m.Text))
	}
	if d.Omitted > 0 {
		fmt.Fprintf(&b, "%d more are left out.\n", d.Omitted)
	}
	return strings.TrimSpace(b.String())
}

func digestObject(d *client.Digest) jsontext.Value {
	b := fmt.Appendf(nil, `{"context":%s,"state":%s,"tokens":{"budget":%d,"used":%d,"tokenizer":%s},"proposals":`,
		mcp.Quote(d.Context.ID), mcp.Quote(string(d.Context.State)), d.Budget, d.Used, mcp.Quote(d.Tokenizer))
	b = appendEntries(b, d.Proposals)
	if d.Conclusion != nil {
		b = appendEntry(append(b, `,"conclusion":`...), d.Conclusion)
	}
	b = append(b, `,"kinds":{`...)
	for i, kind := range slices.Sorted(maps.Keys(d.Kinds)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `%s:%d`, mcp.Quote(kind), d.Kinds[kind])
	}
	b = appendEntries(append(b, `},"messages":`...), d.Messages)
	return fmt.Appendf(b, `,"omitted":%d}`, d.Omitted)
}

func appendEntries(b []byte, list []client.DigestEntry) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEntry(b, &list[i])
	}
	return append(b, ']')
}

func appendEntry(b []byte, e *client.DigestEntry) []byte {
	b = fmt.Appendf(b, `{"seq":%d,"id":%s,"from":%s`, e.Seq, mcp.Quote(e.ID), mcp.Quote(e.From))
	if e.Kind != "" {
		b = fmt.Appendf(b, `,"kind":%s`, mcp.Quote(e.Kind))
	}
	if !e.TS.IsZero() {
		b = fmt.Appendf(b, `,"ts":%s`, mcp.Quote(e.TS.Format(time.RFC3339)))
	}
	if len(e.To) > 0 {
		b = append(b, `,"to":[`...)
		for i, to := range e.To {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, mcp.Quote(to)...)
		}
		b = append(b, ']')
	}
	return fmt.Appendf(b, `,"text":%s}`, mcp.Quote(e.Text))
}
