package main

import (
	"strings"
	"testing"

	"github.com/parleyhq/parley/client"
)

// Who is removed is told why, where a reason was given.
func TestRemoved(t *testing.T) {
	for reason, want := range map[string]string{
		"removed: ":       "you were removed from the space",
		"removed":         "you were removed from the space",
		"removed: enough": "you were removed from the space: enough",
	} {
		e := ended(&client.EndError{Status: 4003, Reason: reason})
		if e.Message != want || !strings.Contains(e.Hint, "join again") {
			t.Errorf("%q is told as %q (%s)", reason, e.Message, e.Hint)
		}
	}
}
