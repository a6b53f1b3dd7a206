package main

import (
	"bufio"
	"fmt"
	"strings"
	"time"

	"github.com/parleyhq/parley"
)

// treePrinter writes contexts: to read, or as JSON Lines.
//
//	reason-789 reasoning · open · 3 envelopes, #4 to #9 · opened 5m ago by agent, last 10s ago
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
		return p.t.writeJSON(n.entry.wire)
	}
	fmt.Fprintln(p.w, p.paint.dim(first)+p.line(n, deeper))
	if words := p.concluded[n.id]; words != "" && n.entry != nil {
		if deeper && len(n.children) > 0 {
			rest += "│  "
		} else {
			rest += "   "
		}
		fmt.Fprintln(p.w, p.paint.dim(rest)+"concludes: "+words)
	}
	return nil
}

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

func (p *treePrinter) facts(c *contextEntry) string {
	var s strings.Builder
	if c.Type != "" {
		s.WriteString(" " + p.paint.note(clean(c.Type)))
	}
	state := p.paint.dim(clean(c.State))
	if c.State == stateOpen {
		state = p.paint.good(c.State)
	}
	places := fmt.Sprintf("#%d", c.First)
	if c.Last != c.First {
		places += fmt.Sprintf(" to #%d", c.Last)
	}
	fmt.Fprintf(&s, " · %s · %s, %s", state, plural(int(c.Count), "envelope", "envelopes"), places)
	fmt.Fprintf(&s, " · opened %s ago by %s", c.Opened.age(p.now), p.paint.name(clean(c.Opener)))
	if c.Last != c.First {
		fmt.Fprintf(&s, ", last %s ago", c.Touched.age(p.now))
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

// few is how much of a conclusion is shown in a tree, in characters.
const few = 80

// gist is the first line of what an envelope says.
func (r *renderer) gist(e *parley.Envelope) string {
	text, ok := parley.MemberString(e.Payload, "text")
	if !ok {
		text = compact(e.Payload)
	}
	for name := range parley.Members(e.Payload) { // or whatever else it calls its words
		if words, isText := parley.MemberString(e.Payload, name); !ok && isText {
			text, ok = words, true
		}
	}
	return r.cut(cleanLines(text)[0], few)
}
