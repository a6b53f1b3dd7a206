package main

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// What somebody calls an envelope: its id, the unique beginning of it, or its
// seq, with or without a "#".

// recent is how many envelopes the beginning of an id is looked for among.
const recent = 1_000

// findThread is the thread of what somebody named.
func findThread(ctx context.Context, rec record, name string) ([]jsontext.Value, error) {
	list, err := rec.thread(ctx, name)
	if !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		return list, err
	}
	id, findErr := findEnvelope(ctx, rec, name)
	if findErr != nil {
		return nil, findErr
	}
	if id == "" {
		return nil, err
	}
	return rec.thread(ctx, id)
}

// findEnvelope is the id of the envelope with this seq, or of the only recent one
// whose id begins like that; empty where there is none.
func findEnvelope(ctx context.Context, rec record, name string) (string, error) {
	if seq, ok := asSeq(name); ok {
		list, err := listed(ctx, rec, query{after: seq - 1, before: seq + 1, limit: 1})
		if err != nil || len(list) == 0 {
			return "", err
		}
		return idOf(list[0]), nil
	}
	list, err := listed(ctx, rec, query{limit: recent, newest: true})
	if err != nil {
		return "", err
	}
	// Who types the beginning of an id has it from a proposal, mostly.
	proposals := slices.DeleteFunc(slices.Clone(list), func(wire jsontext.Value) bool {
		kind, _ := parley.MemberString(wire, "kind")
		return parley.SplitKind(kind).Type != parley.TypeProposal
	})
	if id, err := pick(name, proposals); err == nil && id != "" {
		return id, nil
	}
	return pick(name, list)
}

// findProposal is the id of the proposal that somebody named. A number is a seq,
// so that no id that somebody chose can pass for another proposal; the beginning
// of an id is looked for among the open ones first.
func findProposal(ctx context.Context, a *api, name string) (string, error) {
	_, err := a.get(ctx, pathOf("/proposals/%s", name), nil)
	if !errors.Is(err, &parley.Error{Code: parley.ProposalNotFound}) && !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		return name, err
	}
	rec := &gatewayRecord{*a}
	if _, isSeq := asSeq(name); !isSeq {
		list, err := a.get(ctx, "/proposals", url.Values{"state": {"open"}, "limit": {strconv.Itoa(recent)}})
		if err != nil {
			return "", err
		}
		if id, err := pick(name, items(list)); err != nil || id != "" {
			return id, err
		}
	}
	// It is decided already, or unknown: the gateway says which.
	id, err := findEnvelope(ctx, rec, name)
	return cmp.Or(id, name), err
}

// pick is the one id that begins with prefix.
func pick(prefix string, list []jsontext.Value) (string, error) {
	var found []string
	for _, v := range list {
		if id := idOf(v); strings.HasPrefix(id, prefix) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return "", parley.Errorf(parley.InvalidArgument, "%d ids begin with %s", len(found), prefix).
		WithHint("write more of it: %s", strings.Join(found[:min(len(found), 5)], ", "))
}

func idOf(v jsontext.Value) string {
	id, _ := parley.MemberString(v, "id")
	return id
}

// asSeq reads a place, as #12 or 12. With a zero in front it begins an id.
func asSeq(name string) (uint64, bool) {
	digits := strings.TrimPrefix(name, "#")
	seq, err := strconv.ParseUint(digits, 10, 63)
	return seq, err == nil && digits[0] != '0'
}
