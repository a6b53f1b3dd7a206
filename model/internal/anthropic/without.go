package anthropic

import (
	"errors"
	"strings"
	"sync/atomic"

	"github.com/parleyhq/parley/model/internal/provider"
)

// without is what a model is not asked for, since it refuses that. There is no list
// of such models, for it would always be old. What was learnt is kept once
// a request has got a reply without: the words of an error may be those of
// whoever asked, and one asker does not decide how the others' requests are told.
type without struct {
	heat  bool // a temperature
	force bool // to call tools in any case
}

// learns says whether a model has refused something that it can be asked without.
// The temperatures that were sent, and the tools that had to be called, are in
// order.
func (w *without) learns(asked *request, err error) bool {
	failed, ok := errors.AsType[*provider.Error](err)
	if !ok || failed.Kind != provider.Invalid {
		return false
	}
	switch {
	case asked.params.Temperature.Valid() && strings.Contains(failed.Message, "temperature"):
		w.heat = true
	case asked.forced() && strings.Contains(failed.Message, "tool_choice"):
		w.force = true
	default:
		return false
	}
	return true
}

// refusals are what a model was seen to refuse.
type refusals struct{ heat, force atomic.Bool }

func (r *refusals) load() without { return without{r.heat.Load(), r.force.Load()} }

func (r *refusals) add(w without) {
	if w.heat {
		r.heat.Store(true)
	}
	if w.force {
		r.force.Store(true)
	}
}
