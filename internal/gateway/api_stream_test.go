package gateway

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/parleyhq/parley/internal/journal"
)

// meanwhile streams the record, with something else happening once a number of
// records has been sent.
func (k *kept) meanwhile(sent int, do func()) (text string, err error) {
	var out strings.Builder
	c := caller{identity: identity{room: k.room()}, reads: newTurns(apiReads)}
	_, err = journal.Export(&out, "demo", func(yield func(*journal.Record, error) bool) {
		n := 0
		for rec, err := range c.chain(k.t.Context(), 0) {
			if !yield(rec, err) {
				return
			}
			if n++; n == sent {
				do()
			}
		}
	})
	return out.String(), err
}

func (k *kept) chat(n int) (ids []string) {
	for i := range n {
		ids = append(ids, k.send([]string{"ann", "bob", "cy"}[i%3], fmt.Sprintf(`{"kind":"chat","payload":{"text":"%d"}}`, i)))
	}
	return ids
}

// drop drops what a checkpoint stands behind.
func (k *kept) drop(bytes int64) {
	k.t.Helper()
	r := k.room()
	cut, err := r.record.Cut(k.t.Context(), journal.Retention{Bytes: bytes})
	if err != nil || cut.Records == 0 {
		k.t.Fatalf("nothing is to be dropped: %v", err)
	}
	done := make(chan error, 1)
	if err := r.do(k.t.Context(), func() { r.mark(cut, done) }); err != nil {
		k.t.Fatal(err)
	}
	if err := <-done; err != nil {
		k.t.Fatal(err)
	}
}

// What is redacted or replaced while the record is being sent comes with what
// explains that.
func TestStreamOfAChangingRecord(t *testing.T) {
	k := keep(t, Options{})
	ids := k.chat(2 * chunkOfLog)
	k.save()
	text, err := k.meanwhile(1, func() {
		last := ids[len(ids)-1]
		k.send("ann", `{"kind":"space/redact","payload":{"id":"`+last+`"}}`)
		eventually(t, "the redaction", func() bool { return k.redactedOnRecord(last) })
		k.save()
		k.save()
	})
	if err != nil {
		t.Fatal(err)
	}
	audit, err := journal.VerifyExport(strings.NewReader(text))
	if err != nil || audit.Redacted != 1 || audit.Checkpoints < 3 {
		t.Errorf("it verifies as %+v, %v", audit, err)
	}
}

func (k *kept) redactedOnRecord(id string) bool {
	for rec, err := range k.room().record.Read(context.Background(), journal.Query{ID: id}) {
		return err == nil && rec.Redacted
	}
	return false
}

// What retention drops while the record is being sent leaves no gap.
func TestStreamOvertakenByRetention(t *testing.T) {
	k := keep(t, Options{})
	k.chat(2 * chunkOfLog)
	k.save()
	text, err := k.meanwhile(1, func() { k.drop(1 << 10) })
	if !journal.IsOvertaken(err) {
		t.Fatalf("the stream ends with %v", err)
	}
	if _, err := journal.VerifyExport(strings.NewReader(text)); !journal.IsOvertaken(err) {
		t.Errorf("it verifies as %v", err)
	}
	text, err = k.meanwhile(0, func() {})
	if err != nil {
		t.Fatal(err)
	}
	audit, err := journal.VerifyExport(strings.NewReader(text))
	if err != nil || audit.Dropped == 0 {
		t.Errorf("the next verifies as %+v, %v", audit, err)
	}
}
