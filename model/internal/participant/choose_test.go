package participant

import (
	"slices"
	"strings"
	"testing"

	"github.com/parleyhq/parley/internal/modelspec"
	"github.com/parleyhq/parley/tool/sampling"
)

func TestOrder(t *testing.T) {
	models := []modelspec.Model{
		{Name: "sonnet", Model: "claude-sonnet-4", Cost: new(0.6), Speed: new(0.5), Intelligence: new(0.8)},
		{Name: "mini", Model: "gpt-5-mini", Cost: new(0.1), Speed: new(0.9), Intelligence: new(0.4)},
		{Name: "opus", Model: "claude-opus-4", Cost: new(1.0), Speed: new(0.2), Intelligence: new(1.0)},
		{Name: "plain", Model: "llama3.2"},
	}
	for _, c := range []struct {
		name                      string
		hints                     string
		cost, speed, intelligence float64
		want                      []int
	}{
		{"nothing is wanted", "", 0, 0, 0, []int{0, 1, 2, 3}},
		{"a name", "mini", 0, 0, 0, []int{1}},
		{"the endpoint's name", "GPT-5", 0, 0, 0, []int{1}},
		{"a part of two, in the list's order", "claude", 0, 0, 0, []int{0, 2}},
		{"a part of two, the cleverer first", "claude", 0, 0, 1, []int{2, 0}},
		{"hints in their order", "opus,claude,llama", 0, 1, 0, []int{2, 0, 3}},
		{"a hint wins over priorities", "opus", 1, 1, 0, []int{2}},
		{"hints that name nothing", "gemini, ,," + strings.Repeat("s", 200), 0, 0, 0, []int{0, 1, 2, 3}},
		{"the first of them does not", "gemini,llama", 0, 0, 0, []int{3}},
		{"cheap", "", 1, 0, 0, []int{1, 3, 0, 2}},
		{"fast", "", 0, 1, 0, []int{1, 0, 3, 2}},
		{"clever", "", 0, 0, 1, []int{2, 0, 3, 1}},
		{"clever, and a little cheap", "", 0.3, 0, 1, []int{2, 0, 1, 3}},
	} {
		wanted := sampling.Preferences{Cost: c.cost, Speed: c.speed, Intelligence: c.intelligence}
		if c.hints != "" {
			for hint := range strings.SplitSeq(c.hints, ",") {
				wanted.Hints = append(wanted.Hints, sampling.Hint{Name: hint})
			}
		}
		if got := Order(models, wanted); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
