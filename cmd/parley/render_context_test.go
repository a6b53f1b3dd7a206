package main

import (
	"errors"
	"fmt"
	"testing"
)

func TestContextTypes(t *testing.T) {
	asked := 0
	c := &contextTypes{left: 2, look: func(id string) (string, error) {
		asked++
		return "of " + id, nil
	}}
	for _, id := range []string{"a", "b", "a", "b"} {
		if got := c.of(id); got != "of "+id {
			t.Errorf("%s is %q", id, got)
		}
	}
	if got := c.of("c"); got != "" || asked != 2 {
		t.Errorf("one too many is %q, asked %d times", got, asked)
	}

	c.left = -1
	for i := range 2 * keptTypes {
		c.of(fmt.Sprint(i))
	}
	if len(c.known) > keptTypes || asked != 2+2*keptTypes {
		t.Errorf("%d are remembered, asked %d times", len(c.known), asked)
	}

	c.look = func(string) (string, error) { return "believed", errors.New("not there") }
	if got := c.of("x"); got != "" {
		t.Errorf("what cannot be looked up is %q", got)
	}
}
