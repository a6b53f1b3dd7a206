package gateway

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// What is shown of a correlation chain: so many envelopes, and so many bytes of
// them, which is less than a page takes.
const (
	chainMost  = 1_000
	chainBytes = pageBytes - 1<<10
)

// postEnvelope sends one envelope. It goes the way of a WebSocket's frames, so
// the same rules hold, and a refusal is on record.
func postEnvelope(w http.ResponseWriter, r *http.Request, c caller) error {
	waiting := &waiter{outcome: make(chan outcome, 1)}
	s, err := readEnvelope(w, r, c, waiting)
	if err != nil {
		return err
	}
	got, err := waiting.wait(r.Context(), c.room, s)
	if err != nil {
		return err
	}
	return writeReceipt(w, got)
}

// readEnvelope reads a body as a submission. One that is too large is one as
// well: it is refused in the same way, and on record.
func readEnvelope(w http.ResponseWriter, r *http.Request, c caller, by submitter) (submission, error) {
	limit := c.room.limits.EnvelopeBytes
	body, err := readBody(w, r.Body, limit+1)
	if err != nil {
		return submission{}, err
	}
	if len(body) <= limit {
		return c.room.parse(c.id, by, body), nil
	}
	h := sha256.New()
	h.Write(body)
	rest, err := skipBody(w, r.Body, h, int64(oversizeFactor-1)*int64(limit))
	if err != nil {
		return submission{}, err
	}
	s := submission{from: c.id, by: by, size: len(body) + int(rest), err: tooLarge(limit)}
	h.Sum(s.digest[:0])
	return s, nil
}

// send submits an envelope that was made here in the caller's name.
func (c caller) send(ctx context.Context, e *parley.Envelope) (Receipt, error) {
	waiting := &waiter{outcome: make(chan outcome, 1)}
	return waiting.wait(ctx, c.room, c.room.parse(c.id, waiting, e.AppendBody(nil)))
}

// writeReceipt answers that an envelope is on record.
func writeReceipt(w http.ResponseWriter, got Receipt) error {
	return writeJSON(w, http.StatusAccepted, append(got.append(nil), '\n'))
}

func (r Receipt) append(b []byte) []byte {
	b = appendQuote(append(b, `{"id":`...), r.ID)
	b = strconv.AppendUint(append(b, `,"seq":`...), r.Seq, 10)
	b = appendQuote(append(b, `,"epoch":`...), r.Epoch)
	b = appendTime(append(b, `,"ts":`...), r.TS)
	return append(b, '}')
}

// appendTime writes a time as envelopes have it.
func appendTime(b []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(b, `"2006-01-02T15:04:05.000Z"`)
}

// listEnvelopes reads the journal by position.
func listEnvelopes(w http.ResponseWriter, r *http.Request, c caller) error {
	p := readParams(r)
	q := journal.Query{
		After:       p.position("after"),
		Before:      p.position("before"),
		Newest:      p.newest(),
		Kinds:       p.patterns("kind"),
		From:        p.text("from"),
		To:          p.text("to"),
		Contexts:    p.list("context"),
		Correlation: p.text("correlation"),
		Text:        p.text("q"),
		Since:       p.time("since"),
		Until:       p.time("until"),
	}
	limit := p.limit()
	subtree := p.flag("subtree", false)
	if subtree && len(q.Contexts) == 0 {
		p.fail("subtree adds the descendants of a context, and none is named").WithHint("name one with context=ID")
	}
	if err := p.done(); err != nil {
		return err
	}
	if subtree {
		var err error
		if q, err = c.withDescendants(r.Context(), q); err != nil {
			return err
		}
	}
	q.Limit = limit + 1 // one more says whether there is a next page
	page := newPage(limit)
	err := c.read(r.Context(), q, func(rec *journal.Record) bool { return page.add(rec.Wire(), rec.Seq) })
	if err != nil {
		return err
	}
	return page.write(w)
}

// getEnvelope reads one envelope as it was delivered.
func getEnvelope(w http.ResponseWriter, r *http.Request, c caller) error {
	if err := readParams(r).done(); err != nil {
		return err
	}
	rec, err := c.one(r.Context(), journal.Query{ID: r.PathValue("id")})
	if err != nil {
		return err
	}
	if rec == nil {
		return parley.Errorf(parley.NotFound, "no envelope here has the id %.130q", r.PathValue("id"))
	}
	return writeJSON(w, http.StatusOK, append(rec.Wire(), '\n'))
}

// getChain reads what the correlation chain of an envelope, or of a context,
// reaches in both directions.
func getChain(w http.ResponseWriter, r *http.Request, c caller) error {
	if err := readParams(r).done(); err != nil {
		return err
	}
	var records []*journal.Record
	var cut bool
	err := c.reading(r.Context(), func(ctx context.Context) (err error) {
		records, cut, err = journal.Thread(ctx, c.room.record, r.PathValue("id"), chainMost, chainBytes)
		return err
	})
	if err != nil {
		return err
	}
	page := newPage(len(records))
	for _, rec := range records {
		page.add(rec.Wire(), rec.Seq)
	}
	if cut {
		page.members = jsontext.Value(`"truncated":true`)
	}
	return page.write(w)
}
