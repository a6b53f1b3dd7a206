package gateway

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// escaped makes a part of a path of any id, those included that lead elsewhere as
// they are.
func escaped(id string) string { return strings.ReplaceAll(url.PathEscape(id), ".", "%2E") }

// Ids that mean something elsewhere mean nothing here.
func TestStrangeContextIDs(t *testing.T) {
	h := newHouse(t)
	for i, id := range []string{
		"/", "/%2F", ".", "..", "../..", "a/../b", "//", "a/", "/a", "digest", "x/digest", "x/replay", "%2F", "%", "%zz", "?limit=1", "#", "&", "a,b", "*", "'", `"`, `\`, "{}",
		"tree:x", "null", strings.Repeat("i", 128), strings.Repeat("/", 128),
	} {
		said := fmt.Sprint("said-", i)
		h.inContext("agent", said, fmt.Sprintf(`{"id":%q}`, id))
		var one struct {
			ID    string
			Count int
		}
		if h.get("human", "contexts/"+escaped(id)).into(&one); one.ID != id || one.Count != 1 {
			t.Errorf("%q was read as %+v", id, one)
		}
		for _, path := range []string{"contexts/" + escaped(id) + "/replay", "contexts/" + escaped(id) + "/digest?tokens=100", "envelopes?subtree=true&context=" + url.QueryEscape(id)} {
			if r := h.get("human", path); strings.Count(r.body, `"said-`) != 1 || !strings.Contains(r.body, `"`+said+`"`) {
				t.Errorf("%s: %s", path, r.body)
			}
		}
		if ids, _ := h.get("human", "contexts?tree="+url.QueryEscape(id)).items(); !slices.Equal(ids, []string{id}) {
			t.Errorf("the tree of %q is %q", id, ids)
		}
	}
	for _, id := range []string{"", " ", "a b", "\x00", "\n", "é", "👩", strings.Repeat("i", 129)} {
		h.ask("agent", "POST", "/v1/spaces/demo/envelopes", fmt.Sprintf(`{"kind":"note","context":{"id":%s}}`, quoted(id))).refused(400, parley.InvalidContext)
		h.ask("human", "GET", "/v1/spaces/demo/contexts?tree=nothing&parent="+url.QueryEscape("x"+id), "").ok(200)
	}
}

func quoted(s string) string { return string(appendQuote(nil, s)) }

// A tree that was opened from its leaves, and one that goes round, come to an
// end however they are read.
func TestEndlessContexts(t *testing.T) {
	const deep, round = 500, 7
	h := newHouse(t, func(o *Options) {
		o.Spaces[0].Rules.Limits = space.Limits{OpenContexts: 1000, ContextDepth: 1000, Rate: 1e6, Burst: 1e6, EnvelopeBytes: 4 << 10}
	})
	for i := range deep {
		h.inContext("agent", fmt.Sprint("up", i), fmt.Sprintf(`{"id":"up/%d","parent":"up/%d"}`, i, i+1))
	}
	for i := range round {
		h.inContext("agent", fmt.Sprint("round", i), fmt.Sprintf(`{"id":"round/%d","parent":"round/%d"}`, i, (i+1)%round))
	}
	for _, c := range []struct {
		root string
		want int
	}{{fmt.Sprint("up/", deep), deep}, {"up/9", 10}, {"round/0", round}, {"round/4", round}} {
		if ids, _ := h.get("human", "contexts?limit=1000&tree="+url.QueryEscape(c.root)).items(); len(ids) != c.want {
			t.Errorf("the tree of %s has %d contexts, want %d", c.root, len(ids), c.want)
		}
		if c.root == fmt.Sprint("up/", deep) { // nobody has opened it
			h.ask("human", "GET", "/v1/spaces/demo/contexts/"+escaped(c.root), "").refused(404, parley.NotFound)
			continue
		}
		if n := strings.Count(h.get("human", "contexts/"+escaped(c.root)+"/replay?subtree=true").body, "\n"); n != c.want {
			t.Errorf("a replay of %s has %d envelopes, want %d", c.root, n, c.want)
		}
		var d struct {
			Messages []struct{ ID string }
			Omitted  int
		}
		if h.get("human", "contexts/"+escaped(c.root)+"/digest").into(&d); len(d.Messages)+d.Omitted != c.want {
			t.Errorf("a digest of %s has %d messages and omits %d, want %d", c.root, len(d.Messages), d.Omitted, c.want)
		}
	}
}

// Of two who open a context at once one does, and what it said of the type and the
// parent holds.
func TestOpenedAtOnce(t *testing.T) {
	const count = 100
	h := newHouse(t)
	var both sync.WaitGroup
	for _, who := range []string{"human", "agent"} {
		both.Go(func() {
			for i := range count {
				h.ask(who, "POST", "/v1/spaces/demo/envelopes",
					fmt.Sprintf(`{"kind":"chat","context":{"id":"c%d","type":%q,"parent":"of-%s"}}`, i, who, who))
			}
		})
	}
	both.Wait()
	for i := range count {
		var c struct {
			Opener, Type, Parent string
			Count                int
		}
		if h.get("human", fmt.Sprint("contexts/c", i)).into(&c); c.Count != 2 || c.Type != c.Opener || c.Parent != "of-"+c.Opener {
			t.Errorf("c%d is %+v", i, c)
		}
	}
}

// A context may have the id of an envelope, and one is not taken for the other.
func TestContextNamedAsAnEnvelope(t *testing.T) {
	h := newHouse(t)
	h.chat("agent", "name")
	h.inContext("agent", "inside", `{"id":"name"}`)
	if e := h.get("human", "envelopes/name").body; strings.Contains(e, `"context"`) {
		t.Errorf("the envelope is %s", e)
	}
	if r := h.get("human", "contexts/name/replay").body; strings.Count(r, "\n") != 1 || !strings.Contains(r, `"inside"`) {
		t.Errorf("the context has %s", r)
	}
	h.ask("human", "GET", "/v1/spaces/demo/contexts/inside", "").refused(404, parley.NotFound)
}
