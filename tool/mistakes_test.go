package tool

import (
	"context"
	"strings"
	"testing"

	"github.com/parleyhq/parley/tool/sampling"
)

// Mistakes of a program that asks show at the place where they were made.
func TestMistakesOfAsking(t *testing.T) {
	s, err := NewServer(quiet(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	add := func(needs Tool) func() {
		needs.Name = "ask"
		return func() { Add(s, needs, func(context.Context, *Call, none) (none, error) { return none{}, nil }) }
	}
	call := func(needs Tool, mistake func(c *Call)) func() {
		return func() { mistake(NewAskingCall(needs, Community, "", &actor{})) }
	}
	sample := func(c *Call) { c.Sample(t.Context(), prompt("?")) }
	typed := func(c *Call) { SampleAs[move](t.Context(), c, prompt("?")) }
	form := func(c *Call) { Elicit[move](t.Context(), c, sampling.Elicitation[none]{Key: "move"}) }
	within := func(b Branch) func(c *Call) {
		return func(c *Call) { c.Branch(t.Context(), b, func(context.Context, *Call) error { return nil }) }
	}
	for name, c := range map[string]struct {
		make func()
		want string
	}{
		"an ability that there is not": {add(Tool{Needs: []Ability{"roots"}}), `it needs "roots", which is none of`},
		"a negative depth":             {add(Tool{Depth: -1}), "the depth is -1"},
		"negative tokens":              {add(Tool{Tokens: -1}), "the tokens are -1"},
		"a form's key":                 {add(Tool{Elicits: []string{"a b"}}), `"a b" is none`},
		"half a handoff":               {func() { AddHandoff(s, Tool{Name: "ask"}, Handoff[none, none, none, none]{}) }, "three functions"},
		"a model":                      {call(Tool{Needs: []Ability{Elicitation}}, sample), "asks for sampling, which its Needs do not have"},
		"a model with tools":           {call(Tool{Needs: []Ability{Sampling}}, typed), "asks for sampling.tools, which"},
		"a human":                      {call(Tool{Needs: []Ability{SamplingTools}}, form), "asks for elicitation, which"},
		"another form":                 {call(Tool{Needs: []Ability{Elicitation}, Elicits: []string{}}, form), `asks for the form "move", which its Elicits`},
		"before the asking":            {call(asks, func(c *Call) { form(c.muted("Before")) }), "asks in Before: that is for Client"},
		"a branch below it": {call(asks, func(c *Call) {
			c.muted("After").Branch(t.Context(), Branch{}, func(_ context.Context, c *Call) error { form(c); return nil })
		}), "asks in After"},
		"a branch's depth":  {call(asks, within(Branch{Depth: -1})), "a branch has the limits -1 and 0"},
		"a branch's tokens": {call(asks, within(Branch{Tokens: -1})), "a branch has the limits 0 and -1"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, c.want) {
					t.Errorf("panics with %q, want %q", p, c.want)
				}
			}()
			c.make()
		})
	}
	// What includes an ability is enough for it.
	c := NewAskingCall(Tool{Name: "ask", Needs: []Ability{SamplingTools}}, Community, "", &actor{model: []string{text("yes")}})
	if x, err := c.Sample(t.Context(), prompt("?")); err != nil || x.Parsed != "yes" {
		t.Errorf("got %q, %v", x.Parsed, err)
	}
}

// Tools that no request should offer are not offered, whatever is asked for.
func TestToolsThatAreNotOffered(t *testing.T) {
	a := &actor{model: []string{text("yes")}}
	c := NewAskingCall(asks, Community, "", a)
	for _, tools := range [][]sampling.Tool{{{Name: sampling.SchemaTool}}, {{Name: ""}}, {{Name: "look"}, {Name: "look"}}} {
		ask := prompt("?")
		ask.Tools = tools
		_, text := c.Sample(t.Context(), ask)
		_, typed := SampleAs[move](t.Context(), c, ask)
		_, calls := c.SampleTools(t.Context(), ask)
		if text == nil || typed == nil || calls == nil || len(a.asked) != 0 {
			t.Errorf("%v: %v, %v, %v", tools, text, typed, calls)
		}
	}
	if _, err := c.SampleTools(t.Context(), prompt("?")); err == nil {
		t.Error("no tools are enough")
	}
	ask := prompt("?")
	ask.MaxTokens = -1
	if _, err := c.Sample(t.Context(), ask); err == nil || !strings.Contains(err.Error(), "at most -1 tokens") || len(a.asked) != 0 {
		t.Errorf("a reply of less than nothing is asked for: %v", err)
	}
}
