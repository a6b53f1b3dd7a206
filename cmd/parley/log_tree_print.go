package main

import (
	"bufio"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/digest"
)

// treePrinter writes contexts: to read, or as JSON Lines.
//
//	reason-789 reasoning · open · 3 envelopes, #4 to #9 · opened 5m ago by agent, last 10s ago
//	│  metadata: {"confidence":0.95}
//	│  concludes: Deny the operation
//	└─ reason-790 reasoning · concluded · 1 envelope, #5 · opened 4m ago by agent
type treePrinter struct {
	t         *terminal
	paint     palette
	now       time.Time
	depth     int               // levels to show; 0 is all
	concluded map[string]string // first words of conclusions
	w         *bufio.Writer
}

func (p *treePrinter) print(f *forest) error {
	p.w = bufio.NewWriter(p.t.out)
	for _, n := range f.roots {
		if err := p.tree(n, "", "", 1); err != nil {
			return err
		}
	}
	return p.w.Flush()
}

// tree writes a node after first, and what belongs to it after rest.
func (p *treePrinter) tree(n *node, first, rest string, level int) error {
	deeper := p.depth == 0 || level < p.depth
	if err := p.node(n, first, rest, deeper); err != nil || !deeper {
		return err
	}
	for i, child := range n.children {
		branch, below := "├─ ", "│  "
		if i == len(n.children)-1 {
			branch, below = "└─ ", "   "
		}
		if level > mostLevels { // lines would grow with every level
			branch, below = "… ", ""
		}
		if err := p.tree(child, rest+branch, rest+below, level+1); err != nil {
			return err
		}
	}
	return nil
}

func (p *treePrinter) node(n *node, first, rest string, deeper bool) error {
	if p.t.asJSON() {
		if !n.asked {
			return nil
		}
		wire, err := json.Marshal(n.entry, inMillis)
		if err != nil {
			return err
		}
		return p.t.writeJSON(wire)
	}
	fmt.Fprintln(p.w, p.paint.dim(first)+p.line(n, deeper))
	if n.entry == nil {
		return nil
	}
	if deeper && len(n.children) > 0 {
		rest += "│  "
	} else {
		rest += "   "
	}
	if len(n.entry.Metadata) > 0 {
		metadata := (&renderer{}).cut(clean(compact(n.entry.Metadata)), few)
		fmt.Fprintln(p.w, p.paint.dim(rest+"metadata: "+metadata))
	}
	if words := p.concluded[n.id]; words != "" {
		fmt.Fprintln(p.w, p.paint.dim(rest)+"concludes: "+words)
	}
	return nil
}

// inMillis writes times as the contract does, in whole milliseconds.
var inMillis = json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, t time.Time) error {
	return e.WriteToken(jsontext.String(t.UTC().Format("2006-01-02T15:04:05.000Z")))
}))

// line says all that is known of a context, but for its conclusion.
func (p *treePrinter) line(n *node, deeper bool) string {
	s := p.paint.name(clean(n.id))
	if n.entry == nil {
		s += p.paint.dim(" (never opened)")
	} else {
		s += p.facts(n.entry)
	}
	if n.circle {
		s += " · " + p.paint.bad("a circle: it is nested in "+clean(n.entry.Parent)+", which descends from it")
	}
	if !deeper && len(n.children) > 0 {
		s += p.paint.dim(fmt.Sprintf(" · %d below", len(n.children)))
	}
	return s
}

func (p *treePrinter) facts(c *client.ContextRecord) string {
	var s strings.Builder
	if c.Type != "" {
		s.WriteString(" " + p.paint.note(clean(c.Type)))
	}
	state := p.paint.dim(clean(string(c.State)))
	if c.State == client.ContextOpen {
		state = p.paint.good(string(c.State))
	}
	places := fmt.Sprintf("#%d", c.First)
	if c.Last != c.First {
		places += fmt.Sprintf(" to #%d", c.Last)
	}
	fmt.Fprintf(&s, " · %s · %s, %s", state, plural(int(c.Count), "envelope", "envelopes"), places)
	fmt.Fprintf(&s, " · opened %s ago by %s", age(p.now.Sub(c.Opened)), p.paint.name(clean(c.Opener)))
	if c.Last != c.First {
		fmt.Fprintf(&s, ", last %s ago", age(p.now.Sub(c.Touched)))
	}
	return s.String()
}

// age is how long ago something was, in its largest unit.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}

// few is how much of metadata, or of a conclusion, is shown in a tree, in
// characters.
const few = 80

// gist is the first line of what an envelope says.
func (r *renderer) gist(e *parley.Envelope) string {
	if parley.IsRedacted(e.Payload) {
		return "[redacted]"
	}
	text := cmp.Or(digest.Words(e.Payload), compact(e.Payload))
	return r.cut(cleanLines(text)[0], few)
}
