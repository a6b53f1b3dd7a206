package summarizer

import (
	"testing"

	"github.com/parleyhq/parley/internal/journal"
)

// What is put on record says that it is a summary: a decision keeps its place.
func TestConclusionIsASummary(t *testing.T) {
	e := conclusion("c", 9, "model", answer{Text: "They talked."})
	if e.Kind != journal.KindConclusion || !journal.IsSummary(e.Context.Metadata, e.Context.ID) || summedUp(e) != 9 {
		t.Errorf("it is %s of %+v: %s", e.Kind, e.Context, e.Context.Metadata)
	}
}
