package main

import (
	"context"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/tui/safe"
)

// contextTypes knows which type a context was opened with: what a later envelope
// says of it changes nothing, and is not shown.
type contextTypes struct {
	look  func(id string) (string, error)
	known map[string]string
	left  int // contexts that may still be looked up; below 0 is no bound
}

const (
	mostTypes = 1_000 // contexts that are looked up for a list
	keptTypes = 1_024 // that are remembered
)

// of is the type of a context, "" where it has none or nobody can tell.
func (c *contextTypes) of(id string) string {
	if typ, known := c.known[id]; known || c.left == 0 {
		return typ
	}
	c.left--
	typ, err := c.look(id)
	if err != nil {
		return ""
	}
	if c.known == nil || len(c.known) == keptTypes {
		c.known = make(map[string]string)
	}
	c.known[id] = typ
	return typ
}

// goBy makes what is printed to read go by what a record says of contexts, for at
// most so many of them; below 0 is no bound.
func (p *printer) goBy(ctx context.Context, rec record, most int) {
	if p.r == nil {
		return
	}
	p.r.types = &contextTypes{left: most, look: func(id string) (string, error) {
		c, err := rec.context(ctx, id)
		return c.Type, err
	}}
}

// context names the context of an envelope, with its type where the envelope says
// one.
func (r *renderer) context(c *parley.Context) string {
	typ := c.Type
	if typ != "" && r.types != nil {
		typ = r.types.of(c.ID)
	}
	return r.paint.dim("  [" + strings.TrimSpace(clean(typ)+" "+clean(safe.ShortID(c.ID))) + "]")
}
