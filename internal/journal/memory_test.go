package journal_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/journaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemory(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journaltest.Harness {
		m := journal.NewMemory(journal.MemoryOptions{Queue: 64})
		return journaltest.Harness{
			Open:  func() journal.Journal { return m },
			Break: m.Fail,
			Heal:  m.Heal,
			Queue: 64,
		}
	})
}
