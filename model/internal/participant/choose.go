package participant

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parleyhq/parley/internal/modelspec"
	"github.com/parleyhq/parley/tool/sampling"
)

// Order is which models to ask, by index, the best first: those that the
// request's hints name, or else all.
//
// The hints count in their order. One names the models that it is a part of the
// name of, as the room or the endpoint calls them, in whatever case. Among the
// models of one hint, or of none, the priorities decide: how much they want of
// what a model is good at. Where they do not, the list does.
func Order(models []modelspec.Model, wanted sampling.Preferences) []int {
	var order []int
	for _, hint := range wanted.Hints {
		order = append(order, ranked(models, wanted, func(i int) bool {
			return named(models[i], hint.Name) && !slices.Contains(order, i)
		})...)
		if len(order) == len(models) {
			break // however many hints there are
		}
	}
	if len(order) > 0 {
		return order
	}
	return ranked(models, wanted, func(int) bool { return true })
}

// named reports whether a hint is a part of a model's name. A hint that says
// nothing names none.
func named(m modelspec.Model, hint string) bool {
	if strings.TrimSpace(hint) == "" || len(hint) > modelspec.MaxName {
		return false
	}
	hint = strings.ToLower(hint)
	return strings.Contains(strings.ToLower(m.Name), hint) || strings.Contains(strings.ToLower(m.Model), hint)
}

// ranked are those models that are among the chosen, the best first.
func ranked(models []modelspec.Model, wanted sampling.Preferences, chosen func(int) bool) []int {
	var order []int
	for i := range models {
		if chosen(i) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(worth(models[b], wanted), worth(models[a], wanted))
	})
	return order
}

// worth is how much a model is what is wanted.
func worth(m modelspec.Model, wanted sampling.Preferences) float64 {
	return wanted.Cost*(1-orHalf(m.Cost)) + wanted.Speed*orHalf(m.Speed) + wanted.Intelligence*orHalf(m.Intelligence)
}

func orHalf(n *float64) float64 {
	if n == nil {
		return 0.5
	}
	return *n
}
