package main

import (
	"context"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// attendance hears who is there, and who comes and goes: "join human", "leave human".
type attendance chan string

func (r *room) attendance(t *testing.T, ctx context.Context) attendance {
	t.Helper()
	heard := make(attendance, 1000)
	in, err := client.Dial(ctx, r.url, &client.Options{Token: "token-of-reader", Space: "club", OnArrival: func(e *parley.Envelope) {
		if e.Kind == "system/presence" {
			event, _ := parley.MemberString(e.Payload, "event")
			who, _ := parley.MemberString(parley.Member(e.Payload, "participant"), "id")
			heard <- event + " " + who
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	for _, p := range in.Participants() {
		heard <- "join " + p.ID
	}
	return heard
}

// await waits until it has happened.
func (a attendance) await(t *testing.T, ctx context.Context, what string) {
	t.Helper()
	for {
		select {
		case happened := <-a:
			if happened == what {
				return
			}
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, ctx.Err())
		}
	}
}
