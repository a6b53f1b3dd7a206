package mcpfront

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/mcpfront/excerpt"
)

const resultSchema = `{"type":"object","properties":{"handle":{"type":"string","description":"as the note of the cut result names it: the id of its envelope; the id of the request does as well"},` +
	`"asked":{"type":"boolean","description":"read the arguments that the call was made with, and not its result"},` +
	`"offset":{"type":"integer","minimum":0,"description":"how much to leave out at the beginning, 0 by default"},` +
	`"limit":{"type":"integer","minimum":1,"description":"how much to return, as much as there is room for by default"},` +
	`"unit":{"enum":["characters","lines"],"description":"what offset and limit count, characters by default"},` +
	`"search":{"type":"string","maxLength":256,"description":"return the lines that hold this text, in upper or lower case"},` +
	`"matches":{"type":"integer","minimum":1,"maximum":100,"description":"of the search, 10 by default"},` +
	`"around":{"type":"integer","minimum":0,"maximum":20,"description":"lines to return before and behind each match, 2 by default"}},"required":["handle"]}`

// Bounds of parley__result.
const (
	maxSearch      = 256 // bytes
	maxMatches     = 100
	maxAround      = 20
	defaultPage    = 20_000 // characters, for who has no budget
	defaultMatches = 10
	defaultAround  = 2
)

// reading are the arguments of parley__result. Models send what they leave out
// as zero, too.
type reading struct {
	Handle  string `json:"handle"`
	Asked   bool   `json:"asked"`
	Offset  int    `json:"offset"`
	Limit   int    `json:"limit"`
	Unit    string `json:"unit"`
	Search  string `json:"search"`
	Matches int    `json:"matches"`
	Around  *int   `json:"around"`
}

func (a *reading) check() error {
	around := 0
	if a.Around != nil {
		around = *a.Around
	}
	switch {
	case a.Offset < 0 || a.Limit < 0 || a.Matches < 0 || around < 0:
		return parley.Errorf(parley.InvalidArgument, "offset, limit, matches and around cannot be negative")
	case a.Unit != "" && a.Unit != "characters" && a.Unit != "lines":
		return parley.Errorf(parley.InvalidArgument, "the unit is %.64q", a.Unit).WithHint("it can be characters or lines")
	case len(a.Search) > maxSearch:
		return parley.Errorf(parley.InvalidArgument, "the text to search for has %d bytes, and may have %d", len(a.Search), maxSearch)
	}
	return nil
}

func (a *reading) lines() bool { return a.Unit == "lines" }

// readOn reads what an answer was cut to.
func (x *exchange) readOn(ctx context.Context, raw jsontext.Value) (jsontext.Value, error) {
	var a reading
	if err := arguments(raw, &a); err != nil {
		return asResult(nil, err)
	}
	if err := a.check(); err != nil {
		return asResult(nil, err)
	}
	if a.Asked {
		return asResult(x.readAsked(ctx, &a))
	}
	e, err := x.answerNamed(ctx, a.Handle)
	if err != nil {
		return asResult(nil, err)
	}
	kind := parley.SplitKind(e.Kind)
	text, ok := excerpt.Of(kind.Method, e.Payload)
	if !ok {
		return asResult(nil, parley.Errorf(parley.NotFound, "what %s said was redacted", e.ID))
	}
	tool := ""
	if kind.Method == "tools/call" {
		tool = kind.Subject
	}
	return asResult(a.in(text, x.front.house.ResultBudget(x.place, e.From, tool)))
}

// in is what there is to read in a text, as a result of parley__result.
func (a *reading) in(text excerpt.Text, budget int) (jsontext.Value, error) {
	if a.Search != "" {
		return searched(text, a, budget)
	}
	return paged(text, a, budget)
}

// readAsked reads the arguments of a call.
func (x *exchange) readAsked(ctx context.Context, a *reading) (jsontext.Value, error) {
	e, err := x.named(ctx, a.Handle)
	if err != nil {
		return nil, err
	}
	kind := parley.SplitKind(e.Kind)
	if kind.Type != parley.TypeRequest || len(e.To) != 1 {
		return nil, parley.Errorf(parley.NotFound, "%s is no call: it is %s", e.ID, clip(e.Kind))
	}
	if parley.IsRedacted(e.Payload) {
		return nil, parley.Errorf(parley.NotFound, "what %s said was redacted", e.ID)
	}
	params := member(e.Payload, "params")
	text := excerpt.Whole(string(argumentsOf(kind.Method, params)))
	return a.in(text, x.front.house.ResultBudget(x.place, e.To[0], toolOf(kind.Method, params)))
}

// named is the envelope with an id. Whoever may not read it, or is in another
// space, hears that there is none.
func (x *exchange) named(ctx context.Context, id string) (*parley.Envelope, error) {
	if !parley.ValidID(id) {
		return nil, noResult(id)
	}
	e, err := x.seat.room.API().Envelope(ctx, id)
	if errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		return nil, noResult(id)
	}
	return e, err
}

// answerNamed is the answer that a handle means.
func (x *exchange) answerNamed(ctx context.Context, handle string) (*parley.Envelope, error) {
	e, err := x.named(ctx, handle)
	if err != nil {
		return nil, err
	}
	switch parley.SplitKind(e.Kind).Type {
	case parley.TypeResponse:
		return e, nil
	case parley.TypeRequest:
		return x.answerOf(ctx, e)
	}
	return nil, parley.Errorf(parley.NotFound, "%s is no result of anything: it is %s", e.ID, clip(e.Kind))
}

// answerOf is the answer to a request.
func (x *exchange) answerOf(ctx context.Context, request *parley.Envelope) (*parley.Envelope, error) {
	for e, err := range x.seat.room.API().Envelopes(ctx, &client.Query{Correlation: request.ID, Kind: parley.TypeResponse}) {
		if err != nil {
			return nil, err
		}
		if request.Addressed(e.From) {
			return e, nil
		}
	}
	return nil, parley.Errorf(parley.NotFound, "nobody has answered %s", request.ID)
}

func noResult(handle string) error {
	return parley.Errorf(parley.NotFound, "there is no result %.80q here", handle).
		WithHint("the note of a cut result names its handle; what redaction or retention took off the record is gone")
}

// paged is a page of an answer, as a result of parley__result.
func paged(text excerpt.Text, a *reading, budget int) (jsontext.Value, error) {
	r := excerpt.Range{Offset: a.Offset, Limit: a.Limit, Lines: a.lines()}
	var p excerpt.Page
	var err error
	body, note := fill(budget, func(room int) (string, int, string) {
		p, err = text.Page(r, room)
		if budget == 0 && a.Limit == 0 && utf8.RuneCountInString(p.Text) > defaultPage {
			p, err = text.Page(excerpt.Range{Offset: p.From, Limit: defaultPage}, 0)
		}
		return p.Text, p.Tokens, noteOfPage(text, p)
	})
	if err != nil {
		return nil, err
	}
	meta := fmt.Appendf(nil, `{"from":%d,"to":%d,"characters":%d`, p.From, p.To, text.Characters())
	if p.More {
		meta = fmt.Appendf(meta, `,"next":{"offset":%d,"unit":%q}`, p.Next.Offset, unit(p.Next.Lines))
	}
	return mcp.SetMeta(append(textBlocks(body, note), '}'), metaResult, append(meta, '}')), nil
}

func noteOfPage(text excerpt.Text, p excerpt.Page) string {
	if p.From == p.To {
		return fmt.Sprintf("[The text has %d characters and %d lines. This is the end.]", text.Characters(), text.Lines())
	}
	s := fmt.Sprintf("[Characters %d to %d of %d, lines %d to %d of %d.", p.From, p.To, text.Characters(), p.FirstLine, p.LastLine, text.Lines())
	if !p.More {
		return s + " This is the end.]"
	}
	return s + fmt.Sprintf(" {\"offset\": %d, \"unit\": %q} reads on.]", p.Next.Offset, unit(p.Next.Lines))
}

func unit(lines bool) string {
	if lines {
		return "lines"
	}
	return "characters"
}

// searched is what a search finds in an answer, as a result of parley__result.
func searched(text excerpt.Text, a *reading, budget int) (jsontext.Value, error) {
	q := excerpt.Search{Text: a.Search, Offset: a.Offset, Lines: a.lines(), Matches: min(maxMatches, cmp.Or(a.Matches, defaultMatches)), Around: defaultAround}
	if a.Around != nil {
		q.Around = min(maxAround, *a.Around)
	}
	var found excerpt.Found
	var err error
	body, note := fill(budget, func(room int) (string, int, string) {
		found, err = text.Search(q, room)
		return found.Text, found.Tokens, noteOfSearch(found, q.Offset > 0)
	})
	if err != nil {
		return nil, err
	}
	meta := fmt.Appendf(nil, `{"matches":%d`, found.Matches)
	if found.More {
		meta = fmt.Appendf(meta, `,"next":{"offset":%d,"unit":"characters"}`, found.Next)
	}
	return mcp.SetMeta(append(textBlocks(body, note), '}'), metaResult, append(meta, '}')), nil
}

func noteOfSearch(f excerpt.Found, later bool) string {
	if f.Matches == 0 && later {
		return "[It does not stand there from that offset on.]"
	}
	if f.Matches == 0 {
		return "[It does not stand there.]"
	}
	found := "1 match"
	if f.Matches > 1 {
		found = fmt.Sprintf("%d matches", f.Matches)
	}
	rest := "There are no more."
	if f.More {
		rest = fmt.Sprintf("There are more: the same search with {\"offset\": %d} goes on.", f.Next)
	}
	return "[" + found + ", as NUMBER:LINE, or NUMBER@CHARACTER:PART of a long line. " + rest + "]"
}
