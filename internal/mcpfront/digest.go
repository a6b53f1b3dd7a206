package mcpfront

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
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
	object, err := json.Marshal(d, json.Deterministic(true))
	return toolResult(digestText(d), object, false), err
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
