package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/asked"
)

// consider looks at what an envelope has to do with forms: it asks for one, or ends
// one.
func (c *chat) consider(ctx context.Context, e *parley.Envelope) {
	if params, ok := asked.Read(e, c.room.ID()); ok {
		c.asked(ctx, e, params)
		return
	}
	for _, a := range slices.Clone(c.forms) {
		// While ours is on its way, the gateway says whose was the first.
		if why := endOf(a, e); why != "" && !a.Sending {
			c.withdrawn(a, why)
		}
	}
}

// asked takes a form, or what is none where somebody sits at a terminal, or refuses it.
func (c *chat) asked(ctx context.Context, e *parley.Envelope, params jsontext.Value) {
	if c.forms.Find(e.ID) != nil {
		return
	}
	a := asked.Take(e, params)
	if a.Form == nil && c.console.tty == nil { // nobody reads what is asked
		c.say(fmt.Sprintf("%s asks something (#%d) that is refused: %s", clean(e.From), e.Seq, clean(a.Unfit.Error())))
		c.refuse(ctx, e, refusalOf(a.Unfit))
		return
	}
	if c.forms.IsFull(e.From) {
		c.say(fmt.Sprintf("%s asks something (#%d) that is refused: too many forms wait", clean(e.From), e.Seq))
		c.refuse(ctx, e, &client.RPCError{Code: client.CodeBusy, Message: "too many forms wait to be filled in here"})
		return
	}
	c.forms = append(c.forms, a)
	if c.open != nil {
		c.say(c.t.errPalette().dim(fmt.Sprintf("(%s asks something as well, #%d: after this one)", clean(e.From), e.Seq)))
	}
}

// mostRefusals is how many refusals may be on their way: whoever makes more of them
// necessary gets none.
const mostRefusals = 64

func (c *chat) refuse(ctx context.Context, request *parley.Envelope, why *client.RPCError) {
	if c.refusing == mostRefusals {
		return
	}
	c.refusing++
	c.do(ctx, func(ctx context.Context) func() {
		_, err := c.room.RespondError(ctx, request, why)
		return func() {
			c.refusing--
			if err != nil && !isEnded(err) {
				c.t.printError(asError(err))
			}
		}
	})
}

// openNext begins with the form that has waited longest.
func (c *chat) openNext(ctx context.Context) {
	if c.open != nil || c.opening || len(c.forms) == 0 {
		return
	}
	a := c.forms[0]
	c.opening = true
	c.do(ctx, func(ctx context.Context) func() {
		cause := findCause(ctx, c.api, c.room.ID(), a.Request)
		return func() {
			c.opening = false
			if c.forms.Find(a.Request.ID) == nil {
				return
			}
			a.Cause = cause
			c.open = newFilling(a)
			c.say(c.open.introduction(c.t.errPalette())...)
			if n := len(c.forms) - 1; n > 0 {
				c.say(c.t.errPalette().dim("(" + plural(n, "other form waits", "other forms wait") + ")"))
			}
			c.ask()
		}
	})
}

// causeWithin bounds how long it may take to find out why somebody asks: they are
// shown without, then.
const causeWithin = 3 * time.Second

// findCause looks for the call in the course of which somebody asks.
func findCause(ctx context.Context, a *api, me string, request *parley.Envelope) string {
	ctx, cancel := context.WithTimeout(ctx, causeWithin)
	defer cancel()
	for _, id := range request.Correlation.IDs[:min(len(request.Correlation.IDs), 4)] {
		wire, err := a.get(ctx, pathOf("/envelopes/%s", id), nil)
		if err != nil {
			continue
		}
		if call, err := decodeAny(wire); err == nil {
			if cause := causeOf(call, request.From, me); cause != "" {
				return cause
			}
		}
	}
	return ""
}

// fill takes a line for the form that is open.
func (c *chat) fill(ctx context.Context, text string) {
	if name, _, ok := commandIn(text); ok && !formCommand[name] {
		c.command(ctx, text)
		return
	}
	if name, _, ok := commandIn(text); ok && name == "/help" {
		c.say(formHelp...)
		c.say(c.open.introduction(c.t.errPalette())...)
		c.ask()
		return
	}
	action, problem := c.open.take(text)
	if problem != "" {
		c.say(c.t.errPalette().bad("→ ") + clean(problem))
	}
	if action != "" {
		c.submit(ctx, action)
		return
	}
	c.ask()
}

// submit sends what came of a form.
func (c *chat) submit(ctx context.Context, action string) {
	a := c.open.Ask
	result, err := c.open.result(action)
	if err != nil { // each answer was checked before
		c.say(clean(problemOf(err)))
		c.ask()
		return
	}
	a.Sending = true
	c.errand(ctx, func(ctx context.Context) func() {
		_, err := c.room.Respond(ctx, a.Request, result)
		return func() {
			a.Sending = false
			c.submitted(a, action, err)
		}
	})
}

func (c *chat) submitted(a *asked.Ask, action string, err error) {
	done := map[string]string{accept: "Sent.", decline: "Declined.", dismiss: "Put away."}
	switch {
	case err == nil:
		c.console.settled()
		c.finish(a, done[action])
	case isEnded(err):
		c.finish(a, "Nobody waits for that any more: it was answered elsewhere, or is no longer asked.")
	case !errors.Is(err, context.Canceled):
		c.t.printError(asError(err))
		c.ask()
	}
}

// withdrawn takes a form away that was ended by somebody else.
func (c *chat) withdrawn(a *asked.Ask, why string) {
	c.finish(a, fmt.Sprintf("The form of %s (#%d) %s.", clean(a.Request.From), a.Request.Seq, why))
}

// finish takes a form away, with a word.
func (c *chat) finish(a *asked.Ask, word string) {
	c.forms.Remove(a)
	c.say(word)
	if c.open != nil && c.open.Ask == a {
		c.open = nil
		c.ask()
	}
}

// reconcile holds the forms that wait against those that are unanswered on record,
// where we may have missed what ended them.
func (c *chat) reconcile(ctx context.Context, list []*parley.Envelope, after uint64, now time.Time) {
	for _, a := range slices.Clone(c.forms) {
		missed := a.Request.Seq <= after && a.Request.TS.After(now.Add(-askedWithin)) && !a.Sending
		if missed && !slices.ContainsFunc(list, func(e *parley.Envelope) bool { return e.ID == a.Request.ID }) {
			c.withdrawn(a, "was answered, or is no longer asked")
		}
	}
	for _, e := range list {
		c.consider(ctx, e)
	}
}
