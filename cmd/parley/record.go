package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/sqlite"
)

// record is where "parley log" reads: a gateway, or a journal file.
type record interface {
	// list yields envelopes as they were delivered.
	list(ctx context.Context, q query) iter.Seq2[jsontext.Value, error]
	// one returns the envelope with this id.
	one(ctx context.Context, id string) (jsontext.Value, error)
	// thread returns what the correlation chain of an id reaches.
	thread(ctx context.Context, id string) (*thread, error)
	// export writes the whole record as package journal exports it, and checks
	// it on the way. What retention overtakes ([journal.IsOvertaken]) may be
	// exported again.
	export(ctx context.Context, w io.Writer) (journal.Audit, error)
	// verify holds the chain against heads that were kept elsewhere.
	verify(ctx context.Context, kept ...journal.Head) (journal.Audit, error)
	head(ctx context.Context) (journal.Head, error)
	// chain yields the records of every type behind an index. Retention may
	// overtake it, as it may an export.
	chain(ctx context.Context, after uint64) iter.Seq2[*journal.Record, error]
	// contexts yields the contexts that a query asks for.
	contexts(ctx context.Context, q *client.ContextQuery) iter.Seq2[client.ContextRecord, error]
	// context returns the one with this id.
	context(ctx context.Context, id string) (client.ContextRecord, error)
	close() error
}

// query is what to list.
type query struct {
	after, before uint64
	limit         int
	newest        bool // newest first
	from, to      string
	kinds         []string
	contexts      []string // any of them
	subtree       bool     // and what descends from them
	correlation   string
	text          string
	since, until  time.Time
}

func (q *query) values() url.Values {
	v := url.Values{}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	number := func(name string, n uint64) {
		if n > 0 {
			v.Set(name, strconv.FormatUint(n, 10))
		}
	}
	number("after", q.after)
	number("before", q.before)
	number("limit", uint64(q.limit))
	set("from", q.from)
	set("to", q.to)
	if len(q.contexts) > 0 {
		v["context"] = q.contexts
	}
	if q.subtree {
		set("subtree", "true")
	}
	set("correlation", q.correlation)
	set("q", q.text)
	if !q.since.IsZero() {
		set("since", q.since.UTC().Format(time.RFC3339Nano))
	}
	if !q.until.IsZero() {
		set("until", q.until.UTC().Format(time.RFC3339Nano))
	}
	if len(q.kinds) > 0 {
		v["kind"] = q.kinds
	}
	set("order", "asc")
	if q.newest {
		set("order", "desc")
	}
	return v
}

func (q *query) journal() journal.Query {
	return journal.Query{
		After: q.after, Before: q.before, Limit: q.limit, Newest: q.newest,
		From: q.from, To: q.to, Kinds: q.kinds, Contexts: q.contexts, Correlation: q.correlation,
		Since: q.since, Until: q.until, Text: q.text,
	}
}

// listed is a list as a whole, for queries with a limit.
func listed(ctx context.Context, rec record, q query) ([]jsontext.Value, error) {
	var all []jsontext.Value
	for wire, err := range rec.list(ctx, q) {
		if err != nil {
			return nil, err
		}
		all = append(all, wire)
	}
	return all, nil
}

// gatewayRecord reads over HTTP.
type gatewayRecord struct{ api }

// maxPage is how many envelopes are asked for at once.
const maxPage = 500

func (g *gatewayRecord) list(ctx context.Context, q query) iter.Seq2[jsontext.Value, error] {
	return func(yield func(jsontext.Value, error) bool) {
		for want := q.limit; ; {
			q.limit = maxPage
			if want > 0 {
				q.limit = min(maxPage, want)
			}
			page, err := g.get(ctx, "/envelopes", q.values())
			if err != nil {
				yield(nil, err)
				return
			}
			got := items(page)
			for _, wire := range got {
				if !yield(wire, nil) {
					return
				}
			}
			if len(got) == 0 || len(got) == want || parley.Member(page, "next") == nil {
				return
			}
			want = max(0, want-len(got))
			q.pass(seqOf(got[len(got)-1]))
		}
	}
}

// pass goes on behind a place.
func (q *query) pass(seq uint64) {
	if q.newest {
		q.before = seq
	} else {
		q.after = seq
	}
}

func seqOf(wire jsontext.Value) uint64 {
	n, _ := strconv.ParseUint(string(parley.Member(wire, "seq")), 10, 64)
	return n
}

func (g *gatewayRecord) one(ctx context.Context, id string) (jsontext.Value, error) {
	return g.get(ctx, pathOf("/envelopes/%s", id), nil)
}

func (g *gatewayRecord) thread(ctx context.Context, id string) (*thread, error) {
	list, err := g.get(ctx, pathOf("/envelopes/%s/chain", id), nil)
	if err != nil {
		return nil, err
	}
	return &thread{id: id, list: items(list), cut: string(parley.Member(list, "truncated")) == "true"}, nil
}

func (g *gatewayRecord) export(ctx context.Context, w io.Writer) (journal.Audit, error) {
	resp, err := g.do(ctx, "GET", "/journal", nil, nil)
	if err != nil {
		return journal.Audit{}, err
	}
	defer resp.Body.Close()
	audit, err := journal.VerifyExport(io.TeeReader(resp.Body, w))
	if err != nil {
		// What does not hold is exported all the same, to be looked at.
		_, copyErr := io.Copy(w, resp.Body)
		err = errors.Join(err, copyErr)
	}
	return audit, err
}

func (g *gatewayRecord) verify(ctx context.Context, kept ...journal.Head) (journal.Audit, error) {
	var audit journal.Audit
	err := unlessOvertaken(func() error {
		resp, err := g.do(ctx, "GET", "/journal", nil, nil)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		audit, err = journal.VerifyExport(resp.Body, kept...)
		return err
	})
	return audit, err
}

// readTries is how often a record is read that retention overtakes.
const readTries = 5

// unlessOvertaken reads a record, and begins anew where retention drops meanwhile
// what was to come next.
func unlessOvertaken(read func() error) error {
	for range readTries {
		if err := read(); !journal.IsOvertaken(err) {
			return err
		}
	}
	return parley.Errorf(parley.Unavailable, "retention overtook it %d times: what was to be read next had been dropped", readTries).
		WithHint("try again when the space is quieter, or read a backup with --journal FILE")
}

func (g *gatewayRecord) head(ctx context.Context) (journal.Head, error) {
	v, err := g.get(ctx, "/head", nil)
	if err != nil {
		return journal.Head{}, err
	}
	text, _ := parley.MemberString(v, "head")
	return journal.ParseHead(text)
}

func (g *gatewayRecord) chain(ctx context.Context, after uint64) iter.Seq2[*journal.Record, error] {
	return func(yield func(*journal.Record, error) bool) {
		resp, err := g.do(ctx, "GET", "/journal", behind(after), nil)
		if err != nil {
			yield(nil, err)
			return
		}
		defer resp.Body.Close()
		x, err := journal.ReadExport(resp.Body)
		if err != nil {
			yield(nil, err)
			return
		}
		for r, err := range x.Records() {
			if !yield(r, err) {
				return
			}
		}
		if _, whole := x.Head(); !whole {
			yield(nil, parley.Errorf(parley.Unavailable, "the record was cut off on its way").WithHint("try again"))
		}
	}
}

// behind is the query of what comes behind a place.
func behind(place uint64) url.Values {
	if place == 0 {
		return nil
	}
	return url.Values{"after": {strconv.FormatUint(place, 10)}}
}

func (g *gatewayRecord) close() error { return nil }

// fileRecord reads a journal file, which a gateway may be writing meanwhile.
type fileRecord struct {
	journal *sqlite.Journal
	reader  journal.Reader
	space   string
}

// openFile opens a journal. Where no space was named, its only one is meant.
func openFile(ctx context.Context, path, space string) (*fileRecord, error) {
	j, err := sqlite.Open(ctx, sqlite.Options{Path: path, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	spaces, err := j.Spaces(ctx)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	if space == "" && len(spaces) == 1 {
		space = spaces[0]
	}
	switch {
	case len(spaces) == 0:
		err := parley.Errorf(parley.NotFound, "the journal %s holds no space", path).
			WithHint("a gateway writes them as soon as it runs; is this the file that it was told?")
		return nil, errors.Join(err, j.Close())
	case space == "": // what was not asked for would pass for checked
		err := parley.Errorf(parley.InvalidArgument, "the journal %s has %s", path, plural(len(spaces), "space", "spaces")).
			WithHint("name one with --space or PARLEY_SPACE: %s", strings.Join(spaces, ", "))
		return nil, errors.Join(err, j.Close())
	case !slices.Contains(spaces, space):
		err := parley.Errorf(parley.NotFound, "the journal %s has no space %s", path, space).
			WithHint("it has: %s", strings.Join(spaces, ", "))
		return nil, errors.Join(err, j.Close())
	}
	r, err := j.Reader(ctx, space)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return &fileRecord{j, r, space}, nil
}

func (f *fileRecord) list(ctx context.Context, q query) iter.Seq2[jsontext.Value, error] {
	return func(yield func(jsontext.Value, error) bool) {
		selected := q.journal()
		if q.subtree {
			var err error
			if selected.Contexts, err = f.subtree(ctx, q.contexts); err != nil {
				yield(nil, err)
				return
			}
		}
		for r, err := range f.reader.Read(ctx, selected) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(r.Wire(), nil) {
				return
			}
		}
	}
}

// maxSubtree is how many contexts may be read together.
const maxSubtree = 10_000

// subtree are the ids of contexts and of all that descend from them.
func (f *fileRecord) subtree(ctx context.Context, roots []string) ([]string, error) {
	var all []string
	for _, id := range roots {
		ids, more, err := journal.Descendants(ctx, f.reader, id, maxSubtree)
		if err == nil && more {
			err = parley.Errorf(parley.LimitReached, "%.130q has more than %d contexts below it", id, maxSubtree).
				WithHint("name one of those below it; parley log tree lists them")
		}
		if err != nil {
			return nil, err
		}
		all = append(all, ids...)
	}
	return all, nil
}

func (f *fileRecord) one(ctx context.Context, id string) (jsontext.Value, error) {
	for r, err := range f.reader.Read(ctx, journal.Query{ID: id, Limit: 1}) {
		if err != nil {
			return nil, err
		}
		return r.Wire(), nil
	}
	return nil, parley.Errorf(parley.NotFound, "nothing here has the id %.130q", id)
}

// How long a chain may be: in envelopes as over HTTP, in bytes longer, since nobody
// else waits meanwhile.
const (
	maxThread      = 1_000
	maxThreadBytes = 32 << 20
)

func (f *fileRecord) thread(ctx context.Context, id string) (*thread, error) {
	records, cut, err := journal.Thread(ctx, f.reader, id, maxThread, maxThreadBytes)
	if err != nil {
		return nil, err
	}
	found := &thread{id: id, cut: cut}
	for _, r := range records {
		found.list = append(found.list, r.Wire())
	}
	return found, nil
}

func (f *fileRecord) export(ctx context.Context, w io.Writer) (journal.Audit, error) {
	return journal.ExportVerified(ctx, w, f.space, f.reader)
}

func (f *fileRecord) verify(ctx context.Context, kept ...journal.Head) (journal.Audit, error) {
	return journal.Verify(ctx, f.space, f.reader, kept...)
}

func (f *fileRecord) head(ctx context.Context) (journal.Head, error) {
	b, err := f.reader.Bounds(ctx)
	return b.Head, err
}

func (f *fileRecord) chain(ctx context.Context, after uint64) iter.Seq2[*journal.Record, error] {
	return f.reader.Read(ctx, journal.Query{Chain: true, After: after})
}

func (f *fileRecord) close() error { return f.journal.Close() }

// recordFlags say where to read.
type recordFlags struct {
	target
	journal string
}

func (f *recordFlags) add(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	f.addFlags(flags)
	flags.StringVar(&f.journal, "journal", "", "read the journal `FILE`, also while no gateway runs")
}

// open finds the record that the flags name.
func (f *recordFlags) open(ctx context.Context, t *terminal) (record, error) {
	if f.journal != "" {
		return openFile(ctx, f.journal, f.spaceNamed())
	}
	a, err := f.target.open(ctx, t)
	if err != nil {
		return nil, err
	}
	return &gatewayRecord{*a}, nil
}
