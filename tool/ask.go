package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// inquiry is a question before it has a name.
type inquiry struct {
	name, method string
	asked        jsontext.Value // what was wanted, by which the question is known again
	params       jsontext.Value // what is sent
}

// ask puts a question of this call, or branch. What it needs has to be declared:
// the caller was told of it, and whether somebody answers it was looked at before
// the function began.
func (c *Call) ask(ctx context.Context, needs Ability, a inquiry) (jsontext.Value, error) {
	if !c.tool.needs(needs) {
		panic(fmt.Sprintf("tool %s asks for %s, which its Needs do not have", c.tool.Name, needs))
	}
	if c.silent != "" {
		panic(fmt.Sprintf("tool %s asks in %s: that is for Client", c.tool.Name, c.silent))
	}
	if c.run.peer == nil {
		return nil, &AskError{Reason: Missing, Method: a.method, Message: "the call has nobody to ask"}
	}
	raw, err := c.run.ask(ctx, a, c.place.mark())
	if _, unkept := errors.AsType[*unkeptError](err); unkept {
		return nil, err // nobody who could be asked is to blame
	}
	if err != nil {
		return nil, askError(ctx, a.method, err)
	}
	return raw, nil
}

// needs says whether a tool declares an ability, or one that includes it.
func (t *Tool) needs(a Ability) bool {
	return slices.Contains(t.Needs, a) || a == Sampling && slices.Contains(t.Needs, SamplingTools)
}

// lacks is what the tool needs and nobody does; "" is nothing.
func (t *Tool) lacks(p Peer) Ability {
	for _, a := range t.Needs {
		if p == nil || !p.Can(a) {
			return a
		}
	}
	return ""
}
