package main

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// spoken is a record in which one envelope was said in each of these contexts, the
// oldest first; "" is the main one, and reading ends with err.
type spoken struct {
	record
	in  []string
	err error
	q   *query // the last that was asked
}

func (s spoken) list(_ context.Context, q query) iter.Seq2[jsontext.Value, error] {
	*s.q = q
	return func(yield func(jsontext.Value, error) bool) {
		for i, id := range slices.Backward(s.in) {
			in := ""
			if id != "" {
				in = fmt.Sprintf(`,"context":{"id":%q}`, id)
			}
			if !yield(jsontext.Value(fmt.Sprintf(`{"seq":%d,"id":"e%[1]d","from":"a","kind":"chat"%s,"payload":{}}`, i+1, in)), nil) {
				return
			}
		}
		if s.err != nil {
			yield(nil, s.err)
		}
	}
}

func (s spoken) contexts(_ context.Context, q *client.ContextQuery) iter.Seq2[client.ContextRecord, error] {
	return func(yield func(client.ContextRecord, error) bool) {
		for _, id := range s.in {
			if strings.HasPrefix(id, q.Type) && !yield(client.ContextRecord{ID: id, Type: q.Type}, nil) {
				return
			}
		}
	}
}

// Only what is shown counts, and what cannot be found keeps nobody from listening.
func TestPast(t *testing.T) {
	in := []string{"a1", "", "b1", "a2", "", "c1", "a1", ""}
	for _, c := range []struct {
		filter string
		most   int
		err    error
		want   string
		asked  []string
	}{
		{"all", 2, nil, "6 7", nil},
		{"all", 9, nil, "1 3 4 6 7", nil},
		{"type:a,b", 3, nil, "3 4 7", nil},
		{"type:nothing", 3, nil, "", nil},
		{"id:x%2Cy,z%25", 9, nil, "1 3 4 6 7", []string{"x,y", "z%"}},
		{"tree:a", 9, noContext("a"), "1 3 4 6 7", []string{"a"}},
		{"tree:a", 9, parley.Errorf(parley.LimitReached, "too many"), "1 3 4 6 7", []string{"a"}},
	} {
		var out, said bytes.Buffer
		term := &terminal{out: &out, err: &said}
		rec := spoken{in: in, err: c.err, q: new(query)}
		p, err := newPast(t.Context(), rec, c.filter, query{newest: true})
		if err != nil {
			t.Fatal(err)
		}
		err = p.tell(t.Context(), rec, newPrinter(term, false), c.most, func(*parley.Envelope) bool { return true })
		var got []string
		for line := range strings.Lines(out.String()) {
			got = append(got, fmt.Sprint(seqOf(jsontext.Value(line))))
		}
		if err != nil || strings.Join(got, " ") != c.want || !slices.Equal(rec.q.contexts, c.asked) || rec.q.subtree != strings.HasPrefix(c.filter, "tree:") {
			t.Errorf("%d of %s: %s, %v, asked for %+v", c.most, c.filter, got, err, *rec.q)
		}
		if limited := strings.Contains(said.String(), "not shown: too many"); limited != (c.err != nil && strings.Contains(c.err.Error(), "too many")) {
			t.Errorf("%s: it says %q", c.filter, &said)
		}
	}
	rec := spoken{in: in, err: parley.Errorf(parley.Internal, "broken"), q: new(query)}
	if err := (&past{}).tell(t.Context(), rec, newPrinter(&terminal{out: new(bytes.Buffer)}, false), 9, func(*parley.Envelope) bool { return true }); err == nil {
		t.Error("a record that cannot be read is told without an error")
	}
}
