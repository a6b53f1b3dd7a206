package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// contextList is a record of contexts alone, the oldest first.
type contextList struct {
	record
	all []client.ContextRecord
}

func (l contextList) contexts(_ context.Context, q *client.ContextQuery) iter.Seq2[client.ContextRecord, error] {
	return func(yield func(client.ContextRecord, error) bool) {
		for i, c := range slices.Backward(l.all) {
			if !yield(c, nil) || q.Limit > 0 && len(l.all)-i == q.Limit {
				return
			}
		}
	}
}

func (l contextList) context(_ context.Context, id string) (client.ContextRecord, error) {
	for _, c := range l.all {
		if c.ID == id {
			return c, nil
		}
	}
	return client.ContextRecord{}, noContext(id)
}

// contextsOf makes contexts out of "ID" and "ID<PARENT".
func contextsOf(now time.Time, spec string) contextList {
	var l contextList
	for i, word := range strings.Fields(spec) {
		id, parent, _ := strings.Cut(word, "<")
		at := now.Add(-time.Minute)
		l.all = append(l.all, client.ContextRecord{
			ID: id, Parent: parent, Opener: "a", First: uint64(i + 1), Last: uint64(i + 1), Count: 1,
			State: client.ContextOpen, Opened: at, Touched: at,
		})
	}
	return l
}

// shape is a forest as it is printed, without what is said of the contexts.
func shape(t *testing.T, rec record, q client.ContextQuery, most, depth int) string {
	t.Helper()
	f, _, err := readForest(t.Context(), rec, &q, most)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := &treePrinter{t: &terminal{out: &out, outTTY: true}, now: time.Now(), depth: depth}
	if err := p.print(f); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		name, facts, _ := strings.Cut(strings.TrimSpace(line), " · ")
		if strings.Contains(facts, "a circle") {
			name += " (circle)"
		}
		if i := strings.LastIndex(facts, " below"); i >= 0 {
			name += facts[strings.LastIndex(facts[:i], " "):]
		}
		lines = append(lines, name)
	}
	return strings.Join(lines, "\n")
}

func TestForest(t *testing.T) {
	for _, c := range []struct {
		name, contexts string
		q              client.ContextQuery
		most, depth    int
		want           string
	}{
		{name: "nothing"},
		{name: "in their order", contexts: "a b<a c a2<a d<b", want: "a\n├─ b\n│  └─ d\n└─ a2\nc"},
		{name: "never opened", contexts: "a b<x c<x", want: "a\nx (never opened)\n├─ b\n└─ c"},
		{name: "child before parent", contexts: "b<a a", want: "a\n└─ b"},
		{name: "the newest, and where they stand", contexts: "a b<a c d<b", most: 1, want: "a\n└─ b\n└─ d"},
		{name: "two in a circle", contexts: "z a<b b<a c<b", want: "z\na (circle)\n└─ b\n└─ c"},
		{name: "hanging from a circle", contexts: "h<b a<b b<a", want: "a (circle)\n└─ b\n└─ h"},
		{name: "a circle of three", contexts: "a<c b<a c<b", want: "a (circle)\n└─ b\n└─ c"},
		{name: "a circle, from within", contexts: "a<b b<a", q: client.ContextQuery{Tree: "b"}, want: "b\n└─ a"},
		{name: "depth", contexts: "a b<a c<b d<a", depth: 1, want: "a 2 below"},
		{name: "names", contexts: "a\x1b[2J", want: `a\u001b[2J`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shape(t, contextsOf(time.Now(), c.contexts), c.q, c.most, c.depth); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// A deep tree is shown whole, in lines that do not grow without end.
func TestDeepTree(t *testing.T) {
	const deep = 10_000
	var spec strings.Builder
	for i := range deep {
		fmt.Fprintf(&spec, "c%d<c%d ", i+1, i)
	}
	lines := strings.Split(shape(t, contextsOf(time.Now(), spec.String()), client.ContextQuery{}, 0, 0), "\n")
	if len(lines) != deep+1 {
		t.Fatalf("%d lines", len(lines))
	}
	if last := lines[deep]; !strings.HasSuffix(last, "c10000") || len(last) > 100 {
		t.Errorf("the last is %q", last)
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 59 * time.Second: "59s", time.Minute: "1m", 119 * time.Minute: "1h",
		47 * time.Hour: "47h", 48 * time.Hour: "2d", 1000 * time.Hour: "41d",
	} {
		if got := age(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

func TestGist(t *testing.T) {
	for payload, want := range map[string]string{
		`{"text":"no\nmore"}`:              "no",
		`{"score":1,"decision":"Deny it"}`: "Deny it",
		`{"score":1}`:                      `{"score":1}`,
		`{"text":"\u001b[2J"}`:             `\u001b[2J`,
		`[1]`:                              `[1]`,
		`{"redacted":true}`:                `[redacted]`,
	} {
		if got := new(renderer).gist(&parley.Envelope{Payload: jsontext.Value(payload)}); got != want {
			t.Errorf("%s is %q, want %q", payload, got, want)
		}
	}
}

func TestFindContext(t *testing.T) {
	rec := contextsOf(time.Now(), "01234567-89ab-4cde-8f01-23456789abcd abcd-1 abcd-2 x<parent-x")
	byTree := treeList{rec}
	for name, want := range map[string]string{
		"01234567-89ab-4cde": "01234567-89ab-4cde-8f01-23456789abcd",
		"abcd-1":             "abcd-1",
		"parent-x":           "parent-x",
		"pare":               "parent-x",
		"x":                  "x",
	} {
		if got, err := findContext(t.Context(), byTree, name); got != want || err != nil {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	for name, code := range map[string]parley.Code{"abcd": parley.InvalidArgument, "abc": parley.NotFound, "what": parley.NotFound} {
		if got, err := findContext(t.Context(), byTree, name); !errors.Is(err, &parley.Error{Code: code}) {
			t.Errorf("%s is %q, %v, want %s", name, got, err, code)
		}
	}
}

// treeList knows trees of one level.
type treeList struct{ contextList }

func (l treeList) contexts(ctx context.Context, q *client.ContextQuery) iter.Seq2[client.ContextRecord, error] {
	if q.Tree == "" {
		return l.contextList.contexts(ctx, q)
	}
	var in contextList
	for _, c := range l.all {
		if c.ID == q.Tree || c.Parent == q.Tree {
			in.all = append(in.all, c)
		}
	}
	return in.contexts(ctx, q)
}
