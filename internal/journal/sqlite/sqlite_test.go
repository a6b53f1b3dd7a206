package sqlite

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/journaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestJournal(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journaltest.Harness {
		disk := newDisk(t)
		opts := Options{Path: filepath.Join(t.TempDir(), "parley.db"), QueueRecords: 64, vfs: disk.name}
		return journaltest.Harness{
			Open: func() journal.Journal {
				j, err := Open(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				return j
			},
			Break: disk.fail,
			Heal:  func() { disk.fail(nil) },
			Queue: 64,
			Settle: func(j journal.Journal, space string, seq uint64) {
				if err := j.(*Journal).WaitIndexed(t.Context(), space, seq); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}
