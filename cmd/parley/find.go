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
	"github.com/parleyhq/parley/internal/tui/safe"
)

// What somebody calls an envelope: its id, the unique beginning of it, or its
// seq, with or without a "#".

// recent is how many envelopes the beginning of an id is looked for among.
const recent = 1_000

// findThread is the thread of what somebody named.
func findThread(ctx context.Context, rec record, name string) (*thread, error) {
	if passable(name) {
		found, err := rec.thread(ctx, name)
		if !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
			return found, err
		}
	}
	id, err := findEnvelope(ctx, rec, name)
	if err != nil {
		return nil, err
	}
	return rec.thread(ctx, cmp.Or(id, name))
}

// passable reports whether a name may be a whole id. Senders choose their ids: one
// that reads like a seq, or like the beginning of a UUID as it is shown, could
// otherwise pass for the proposal that somebody means to approve.
func passable(name string) bool {
	_, isSeq := asSeq(name)
	return !isSeq && !isShortUUID(name)
}

// isShortUUID reports whether a name looks like [safe.ShortID] of a UUID.
func isShortUUID(name string) bool {
	const shape = "00000000-0000-0000"
	if len(name) != len(shape) {
		return false
	}
	for i, c := range []byte(name) {
		isHex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
		if dash := shape[i] == '-'; dash != (c == '-') || !dash && !isHex {
			return false
		}
	}
	return true
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

// findProposal is the id of the proposal that somebody named, looked for among the
// open ones first.
func findProposal(ctx context.Context, a *api, name string) (string, error) {
	rec := &gatewayRecord{*a}
	if seq, isSeq := asSeq(name); isSeq {
		id, err := findEnvelope(ctx, rec, name)
		if err == nil && id == "" {
			id, err = openAt(ctx, a, seq)
		}
		return found(name)(id, err)
	}
	list, err := a.get(ctx, "/proposals", url.Values{"state": {"open"}, "limit": {strconv.Itoa(recent)}})
	if err != nil {
		return "", err
	}
	open := items(list)
	if passable(name) {
		// Where another one is shown by this name, it may be meant.
		if id := shownAs(name, open); id != "" {
			return pick(name, open)
		}
		if _, err := rec.one(ctx, name); !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
			return name, err
		}
		if _, err := a.get(ctx, pathOf("/proposals/%s", name), nil); err == nil {
			return name, nil // its envelope is no longer on record, and the rules remember it
		}
	}
	if id, err := pick(name, open); err != nil || id != "" {
		return id, err
	}
	// It is decided already, or unknown: the gateway says which.
	return found(name)(findEnvelope(ctx, rec, name))
}

// found is a look-up that has to succeed.
func found(name string) func(string, error) (string, error) {
	return func(id string, err error) (string, error) {
		if err == nil && id == "" {
			err = parley.Errorf(parley.NotFound, "nothing here is called %q", name).
				WithHint("write a #seq, an id, or how the id begins; parley log --kind 'mcp/proposal:*' lists what was proposed")
		}
		return id, err
	}
}

// shownAs is the id of a proposal that is shown by a name which is not its id.
func shownAs(name string, list []jsontext.Value) string {
	for _, v := range list {
		if id := idOf(v); id != name && safe.ShortID(id) == name {
			return id
		}
	}
	return ""
}

// leastPrefix is how much of an id has to be written, so that an empty variable
// of a shell approves nothing.
const leastPrefix = 4

// pick is the one id that begins with prefix.
func pick(prefix string, list []jsontext.Value) (string, error) {
	if len(prefix) < leastPrefix {
		return "", nil
	}
	var found []string
	for _, v := range list {
		if id := idOf(v); strings.HasPrefix(id, prefix) && (id != prefix || passable(prefix)) {
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
