package mcpfront

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcp"
)

func (x *exchange) listTools(ctx context.Context) (jsontext.Value, error) {
	return x.list(ctx, sectionTools)
}
func (x *exchange) listResources(ctx context.Context) (jsontext.Value, error) {
	return x.list(ctx, sectionResources)
}
func (x *exchange) listTemplates(ctx context.Context) (jsontext.Value, error) {
	return x.list(ctx, sectionTemplates)
}
func (x *exchange) listPrompts(ctx context.Context) (jsontext.Value, error) {
	return x.list(ctx, sectionPrompts)
}

// listed is an entry as the caller sees it.
type listed struct {
	key string // by which it is asked for; lists are in this order
	raw jsontext.Value
}

// list answers one of the lists, a page of it.
func (x *exchange) list(ctx context.Context, s section) (jsontext.Value, error) {
	cursor, err := readCursor(member(x.msg.Params, "cursor"))
	if err != nil {
		return nil, err
	}
	all, err := x.visible(ctx, s)
	if err != nil {
		return nil, err
	}
	at := 0
	if cursor != "" {
		at, _ = slices.BinarySearchFunc(all, cursor, func(l listed, key string) int {
			return cmp.Or(cmp.Compare(l.key, key), -1) // behind the key itself
		})
	}
	return page(all[at:], sections[s].member), nil
}

// offered is what a server has for the caller, or why not.
type offered struct {
	server string
	offer  *Offer
	err    error
}

// offers asks all servers at once: one that does not answer costs its own
// entries, and nobody else's.
func (x *exchange) offers(ctx context.Context) []offered {
	ctx, stop := context.WithTimeout(ctx, x.front.opts.Patience)
	defer stop()
	all := make([]offered, len(x.servers()))
	var asking sync.WaitGroup
	for i, server := range x.servers() {
		asking.Go(func() {
			offer, err := x.offer(ctx, server)
			if ctx.Err() != nil && x.caps != nil {
				offer, err = x.common(ctx, server)
			}
			if errors.Is(err, context.DeadlineExceeded) {
				err = parley.Errorf(parley.Unavailable, "the server %s has not said what it offers within %v", server, x.front.opts.Patience).
					WithHint("try again soon; it is listed once it has")
			}
			all[i] = offered{server, offer, err}
		})
	}
	asking.Wait()
	return all
}

// common is what a server offers to everybody: for a caller whose own session
// takes its time to begin.
func (x *exchange) common(ctx context.Context, server string) (*Offer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.front.opts.Patience/10)
	defer cancel()
	return x.front.house.Offer(ctx, x.place, server, nil)
}

// visible is what the caller may request or propose.
func (x *exchange) visible(ctx context.Context, s section) ([]listed, error) {
	caps := x.seat.room.Capabilities()
	var all []listed
	if x.target == "" && s == sectionTools {
		for _, b := range builtins {
			if b.allowed(caps) {
				all = append(all, listed{b.name, b.definition()})
			}
		}
	}
	for _, o := range x.offers(ctx) {
		if o.err != nil && x.target != "" {
			return nil, o.err
		}
		if o.err != nil {
			continue // what is down, or slow, offers nothing; its coming is announced
		}
		for _, e := range o.offer.entries(o.server, s) {
			n, ok := judge(caps, e)
			switch {
			case !ok:
			case x.target != "":
				all = append(all, listed{e.own, e.raw})
			default:
				all = append(all, listed{e.shared, e.show(n, x.cuts(e))})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b listed) int { return strings.Compare(a.key, b.key) })
	return all, nil
}

// servers are those that the caller's endpoint is made of.
func (c *caller) servers() []string {
	if c.target != "" {
		return []string{c.target}
	}
	return c.seat.front.house.Servers(c.place.Space)
}

func (c *caller) offer(ctx context.Context, server string) (*Offer, error) {
	o, err := c.seat.front.house.Offer(ctx, c.place, server, c.caps)
	if errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		return c.seat.offerOf(ctx, server)
	}
	return o, err
}

// judge says whether somebody may ask for an entry, and whether that needs
// approval: by the sets that judge the call itself, for all params that it may
// have.
func judge(caps parley.Capabilities, e *entry) (need, bool) {
	a := parley.Action{
		Kind: parley.Kind{Type: parley.TypeRequest, Method: sections[e.section].method, Subject: e.own},
		To:   []string{e.server},
	}
	if e.section == sectionTemplates {
		a.Kind.Subject = "" // which URIs come of it is not known
	}
	request := caps.Extent(&a)
	a.Kind.Type = parley.TypeProposal
	propose := caps.Extent(&a) != parley.Never
	if e.section == sectionTemplates && request == parley.Never && !propose {
		return judgeTemplate(caps, e)
	}
	switch {
	case request == parley.Always, request == parley.Sometimes && !propose:
		return needsNothing, true
	case request == parley.Sometimes:
		return mayNeedApproval, true
	}
	return needsApproval, propose
}

// judgeTemplate judges a template by its literal beginning, as if a star stood
// behind it: some grant may fit what comes of it.
func judgeTemplate(caps parley.Capabilities, e *entry) (need, bool) {
	literal, _, _ := strings.Cut(e.own, "{")
	for n, typ := range []string{parley.TypeRequest, parley.TypeProposal} {
		a := parley.Action{Kind: parley.Kind{Type: typ, Method: "resources/read", Subject: literal + "x"}, To: []string{e.server}}
		if caps.Extent(&a) != parley.Never {
			return []need{needsNothing, needsApproval}[n], true
		}
	}
	return 0, false
}

// page is a list's result, cut to size.
func page(all []listed, name string) jsontext.Value {
	b := append(append(jsontext.Value(`{"`), name...), `":[`...)
	for i, l := range all {
		if i == pageEntries || i > 0 && len(b)+len(l.raw) > pageBytes {
			b = append(append(b, `],"nextCursor":"`...), writeCursor(all[i-1].key)...)
			return append(b, `","ttlMs":0,"cacheScope":"private"}`...)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, l.raw...)
	}
	return append(b, `],"ttlMs":0,"cacheScope":"private"}`...)
}

// A cursor is the key of the last entry that was sent: so nothing is sent twice
// or left out when the list changes in between, but for what changed.
func writeCursor(key string) string { return base64.RawURLEncoding.EncodeToString([]byte(key)) }

func readCursor(v jsontext.Value) (string, error) {
	if v == nil {
		return "", nil
	}
	s, ok := mcp.Unquote(v)
	key, err := base64.RawURLEncoding.DecodeString(s)
	if !ok || err != nil || len(key) == 0 {
		return "", invalidParams("the cursor is none that was given out")
	}
	return string(key), nil
}

// isDown reports whether an error says that a server is not there at present.
func isDown(err error) bool {
	return errors.Is(err, &parley.Error{Code: parley.Unavailable}) || errors.Is(err, &parley.Error{Code: parley.TargetAbsent})
}
