package journal_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/parleyhq/parley/internal/journal"
)

// altered is a log that reads as something else.
type altered struct {
	journal.Reader
	alter func(*journal.Record) (*journal.Record, error)
}

func (a altered) Read(ctx context.Context, q journal.Query) iter.Seq2[*journal.Record, error] {
	return func(yield func(*journal.Record, error) bool) {
		for r, err := range a.Reader.Read(ctx, q) {
			if err == nil {
				r, err = a.alter(r)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func TestExportVerified(t *testing.T) {
	log := recorded(t)
	export := func(alter func(*journal.Record) (*journal.Record, error)) (string, journal.Audit, error) {
		var out bytes.Buffer
		audit, err := journal.ExportVerified(t.Context(), &out, "demo", altered{log, alter})
		return out.String(), audit, err
	}
	whole, audit, err := export(func(r *journal.Record) (*journal.Record, error) { return r, nil })
	if err != nil || whole != exported(t, log) || audit.Records != 4 || audit.Envelopes != 3 {
		t.Errorf("it exports %+v, %v:\n%s", audit, err, whole)
	}
	// What does not hold is exported whole, and said.
	edited, audit, err := export(func(r *journal.Record) (*journal.Record, error) {
		if r.Index == 2 {
			other := *r
			other.From = "eve"
			r = &other
		}
		return r, nil
	})
	if b, ok := errors.AsType[*journal.Break](err); !ok || b.Index != 2 || audit.Records != 1 {
		t.Errorf("an edited record: %+v, %v", audit, err)
	}
	if strings.Count(edited, "\n") != strings.Count(whole, "\n") {
		t.Errorf("an edited record is exported as\n%s", edited)
	}
	redacted, _, err := export(func(r *journal.Record) (*journal.Record, error) {
		if r.Index == 1 {
			return r.Redact()
		}
		return r, nil
	})
	if b, ok := errors.AsType[*journal.Break](err); !ok || b.Index != 1 || !strings.Contains(redacted, `"type":"head"`) {
		t.Errorf("a redaction that nobody ordered: %v\n%s", err, redacted)
	}
}

// An export that retention overtakes says so, and does not pass for a whole one,
// nor for one that somebody cut.
func TestOvertakenExport(t *testing.T) {
	log := altered{recorded(t), func(r *journal.Record) (*journal.Record, error) {
		if r.Index == 3 {
			return nil, journal.Overtaken()
		}
		return r, nil
	}}
	var out bytes.Buffer
	if _, err := journal.Export(&out, "demo", log.Read(t.Context(), journal.Query{Chain: true})); !journal.IsOvertaken(err) {
		t.Errorf("the export ends with %v", err)
	}
	audit, err := journal.VerifyExport(&out)
	if !journal.IsOvertaken(err) || audit.Records != 2 {
		t.Errorf("it reads as %+v, %v", audit, err)
	}
}
