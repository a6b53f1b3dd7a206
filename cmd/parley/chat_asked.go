package main

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/asked"
)

// endOf says how an envelope ends a form: "" where it does not.
func endOf(a *asked.Ask, e *parley.Envelope) string {
	end, ok := a.EndOf(e)
	switch {
	case !ok:
		return ""
	case end.AnsweredBy != "":
		return "was answered by " + clean(end.AnsweredBy)
	case end.Reason != "":
		return "is no longer asked: " + cutAt(clean(end.Reason), wide)
	}
	return "is no longer asked"
}

// How far back unanswered forms are looked for. Whoever asked has given up by then,
// or was killed before saying so.
const askedWithin = 24 * time.Hour

// unanswered are the requests for forms that wait for this person, the oldest first.
func unanswered(ctx context.Context, a *api, me string, now time.Time) ([]*parley.Envelope, error) {
	rec := &gatewayRecord{*a}
	list, err := listed(ctx, rec, query{
		to: me, kinds: []string{"mcp/request:" + asked.Elicitation}, newest: true, limit: asked.Most, since: now.Add(-askedWithin),
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	answers, err := listed(ctx, rec, query{
		from: me, kinds: []string{"mcp/response:" + asked.Elicitation}, newest: true, limit: 4 * asked.Most,
		after: seqOf(list[len(list)-1]),
	})
	if err != nil {
		return nil, err
	}
	var open []*parley.Envelope
	for _, wire := range slices.Backward(list) {
		e, err := decodeAny(wire)
		if err != nil {
			return nil, err
		}
		one := &asked.Ask{Request: e}
		ended, err := endedBy(one, answers)
		if err == nil && !ended {
			ended, err = hasEnded(ctx, rec, one)
		}
		if err != nil {
			return nil, err
		}
		if _, ok := asked.Read(e, me); ok && !ended {
			open = append(open, e)
		}
	}
	return open, nil
}

// hasEnded looks at everything that answers the request.
func hasEnded(ctx context.Context, rec record, a *asked.Ask) (bool, error) {
	list, err := listed(ctx, rec, query{correlation: a.Request.ID, limit: maxPage})
	if err != nil {
		return false, err
	}
	return endedBy(a, list)
}

func endedBy(a *asked.Ask, list []jsontext.Value) (bool, error) {
	for _, wire := range list {
		e, err := decodeAny(wire)
		if err != nil {
			return false, err
		}
		if endOf(a, e) != "" {
			return true, nil
		}
	}
	return false, nil
}

// refusalOf is the error that a form is answered with which cannot be shown.
func refusalOf(err error) *client.RPCError {
	return &client.RPCError{Code: client.CodeInvalidParams, Message: err.Error()}
}

// isEnded reports whether an answer came too late, or second.
func isEnded(err error) bool {
	return errors.Is(err, &parley.Error{Code: parley.InvalidCorrelation})
}

// openProposals are those that wait for somebody.
func openProposals(ctx context.Context, a *api) ([]*parley.Envelope, error) {
	list, err := a.get(ctx, "/proposals", url.Values{"state": {"open"}, "limit": {strconv.Itoa(mostProposals)}, "order": {"desc"}})
	if err != nil {
		return nil, err
	}
	var open []*parley.Envelope
	for _, item := range slices.Backward(items(list)) {
		if string(parley.Member(item, "dropped")) == "true" {
			open = append(open, droppedEnvelope(item))
			continue
		}
		id, _ := parley.MemberString(item, "id")
		wire, err := a.get(ctx, pathOf("/envelopes/%s", id), nil)
		if err != nil {
			return nil, err
		}
		e, err := decodeAny(wire)
		if err != nil {
			return nil, err
		}
		open = append(open, e)
	}
	return open, nil
}

// mostProposals is how many proposals are listed.
const mostProposals = 20
