package main

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui"
	"github.com/parleyhq/parley/internal/tui/store"
)

// screenRoom is a room as the console on a whole screen asks it: by the place that we have
// in it, and over HTTP for what is on record.
type screenRoom struct {
	*client.Room
	api *api
	sdk *client.API
}

var _ tui.Room = (*screenRoom)(nil)

func (s *screenRoom) Space() string { return s.Welcome().Space.Name }

func (s *screenRoom) People() (ids []string, upTo uint64) {
	upTo = s.Welcome().History.Last
	for _, p := range s.Participants() {
		ids = append(ids, p.ID)
	}
	return ids, upTo
}

func (s *screenRoom) Known(ctx context.Context) (ids []string, err error) {
	list, err := s.sdk.Participants(ctx)
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return ids, err
}

func (s *screenRoom) Answer(ctx context.Context, request *parley.Envelope, result jsontext.Value, failure *client.RPCError) error {
	var err error
	if failure != nil {
		_, err = s.RespondError(ctx, request, failure)
	} else {
		_, err = s.Respond(ctx, request, result)
	}
	return err
}

func (s *screenRoom) Envelope(ctx context.Context, id string) (*parley.Envelope, error) {
	return s.sdk.Envelope(ctx, id)
}

func (s *screenRoom) Chain(ctx context.Context, id string) (client.Chain, error) {
	return s.sdk.Chain(ctx, id)
}

func (s *screenRoom) Search(ctx context.Context, q *client.Query) ([]*parley.Envelope, error) {
	var list []*parley.Envelope
	for e, err := range s.sdk.Envelopes(ctx, q) {
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func (s *screenRoom) Verify(ctx context.Context) (string, error) {
	audit, err := (&gatewayRecord{*s.api}).verify(ctx)
	if err != nil {
		return "", asError(err)
	}
	return chainHolds(audit), nil
}

func (s *screenRoom) Notice(ctx context.Context, seq uint64) (*parley.Envelope, error) {
	list, err := s.Search(ctx, &client.Query{After: max(seq, 1) - 1, Limit: 1})
	if err == nil && (len(list) == 0 || list[0].Seq != seq) {
		err = parley.Errorf(parley.NotFound, "there is no envelope #%d", seq).WithHint("retention may have dropped it")
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// mostOpen is how many open proposals are listed at once.
const mostOpen = 1_000

func (s *screenRoom) Waiting(ctx context.Context) ([]*store.Waiting, error) {
	var open []*store.Waiting
	after := ""
	for len(open) < mostOpen {
		q := url.Values{"state": {"open"}, "limit": {strconv.Itoa(mostOpen)}}
		if after != "" {
			q.Set("after", after)
		}
		page, err := s.api.get(ctx, "/proposals", q)
		if err != nil {
			return nil, err
		}
		for _, item := range items(page) {
			open = append(open, store.ReadWaiting(item))
		}
		after = scalar(parley.Member(page, "next"))
		if after == "" {
			break
		}
	}
	return open, nil
}

func (s *screenRoom) Proposal(ctx context.Context, id string) (tui.Standing, error) {
	v, err := s.api.get(ctx, pathOf("/proposals/%s", id), nil)
	if err != nil {
		return tui.Standing{}, err
	}
	closed := parley.Member(v, "closed")
	standing := tui.Standing{
		State: stringMember(v, "state"), By: stringMember(closed, "by"), Reason: stringMember(closed, "reason"),
		Opened: timeMember(v, "opened"), Expires: timeMember(v, "expires"),
	}
	if string(parley.Member(v, "dropped")) == "true" {
		standing.Dropped = droppedEnvelope(v)
	}
	return standing, nil
}

func stringMember(obj jsontext.Value, name string) string {
	s, _ := parley.MemberString(obj, name)
	return s
}

func timeMember(obj jsontext.Value, name string) time.Time {
	t, _ := time.Parse(time.RFC3339, stringMember(obj, name))
	return t
}

func (s *screenRoom) Tools(ctx context.Context, participant string) ([]tui.Listed, error) {
	q := url.Values{}
	if participant != "" {
		q.Set("participant", participant)
	}
	v, err := s.api.get(ctx, "/tools", q)
	if err != nil {
		return nil, err
	}
	var list []tui.Listed
	for _, item := range items(v) {
		seq, _ := strconv.ParseUint(string(parley.Member(item, "notice")), 10, 64)
		list = append(list, tui.Listed{
			Participant: stringMember(item, "participant"), Name: stringMember(item, "tool"), Notice: seq, Digest: stringMember(item, "digest"),
			Accepted: string(parley.Member(item, "accepted")) == "true", Changed: stringMember(item, "changed"),
		})
	}
	return list, nil
}

func (s *screenRoom) Unanswered(ctx context.Context) ([]*parley.Envelope, error) {
	return unanswered(ctx, s.api, s.ID(), time.Now())
}

func (s *screenRoom) Cause(ctx context.Context, request *parley.Envelope) string {
	return findCause(ctx, s.api, s.ID(), request)
}
