package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func newLogRedact(t *terminal, from *recordFlags) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "redact ID",
		Short: "Take off the record what an envelope said, on record",
		Long: `Send space/redact, which you need the capability for, and wait until it is carried
out: the payload, context metadata and unknown fields of the envelope are gone for
good, from the journal, from searches and from memory. Who sent it, when, to whom and
of which kind, the SUBJECT included, stays, and the chain still verifies. So does the
order itself, with your reason.

ID is the envelope's whole id, or its seq. Backups, exports and what participants
received already keep what they have.`,
		Example: `  parley log redact 0199a9f3-c1b2-7c3d-8e4f-5a6b7c8d9e0f --reason "a password"
  parley log redact 12`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if from.journal != "" {
				return usagef("a gateway redacts, so that it is on record who ordered it").hint("leave --journal out, and start the gateway")
			}
			a, err := from.target.open(cmd.Context(), t)
			if err != nil {
				return err
			}
			return redact(cmd.Context(), t, &gatewayRecord{*a}, args[0], reason)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`WHY`, for the record")
	return cmd
}

func redact(ctx context.Context, t *terminal, g *gatewayRecord, name, reason string) error {
	wire, err := named(ctx, g, name)
	if e, ok := errors.AsType[*parley.Error](err); ok && e.Code == parley.NotFound {
		return e.WithHint("write the whole id, or the seq: parley log --full shows both")
	}
	if err != nil {
		return err
	}
	id := idOf(wire)
	if parley.IsRedacted(parley.Member(wire, "payload")) {
		return parley.Errorf(parley.InvalidArgument, "#%d is redacted already", seqOf(wire))
	}
	payload := members{{"id", quote(id)}}.say("reason", reason)
	order := &parley.Envelope{ID: client.NewID(), Kind: parley.KindRedact, Payload: payload.object()}
	receipt, err := g.post(ctx, "/envelopes", order.AppendBody(nil))
	if err != nil {
		return err
	}
	if err := g.untilRedacted(ctx, id, seqOf(receipt)); err != nil {
		return err
	}
	if t.asJSON() {
		return t.writeJSON(receipt)
	}
	kind, _ := parley.MemberString(wire, "kind")
	sender, _ := parley.MemberString(wire, "from")
	_, err = fmt.Fprintf(t.out, "#%d redacts #%d, %s of %s\n", seqOf(receipt), seqOf(wire), clean(kind), clean(sender))
	return err
}

// named is the envelope with this seq or whole id. The beginning of an id is
// not enough for what cannot be undone.
func named(ctx context.Context, rec record, name string) (jsontext.Value, error) {
	if _, ok := asSeq(name); ok {
		id, err := findEnvelope(ctx, rec, name)
		if err != nil {
			return nil, err
		}
		if id != "" {
			name = id
		}
	}
	return rec.one(ctx, name)
}

// How long to wait for a redaction that is on record to be carried out, and how
// often to look.
const (
	redactWithin = 30 * time.Second
	redactLook   = 20 * time.Millisecond
)

// untilRedacted waits until the record has lost the words, or a notice says
// that it will not.
func (g *gatewayRecord) untilRedacted(ctx context.Context, id string, seq uint64) error {
	late := time.After(redactWithin)
	for {
		wire, err := g.one(ctx, id)
		if err != nil {
			return err
		}
		if parley.IsRedacted(parley.Member(wire, "payload")) {
			return nil
		}
		notices, err := listed(ctx, g, query{after: seq, kinds: []string{parley.KindNotice}, correlation: id, limit: 10})
		if err != nil {
			return err
		}
		for _, notice := range notices {
			if why, ok := parley.MemberString(parley.Member(notice, "payload"), "reason"); ok {
				return parley.Errorf(parley.NotFound, "the gateway could not redact it: %s", clean(why))
			}
		}
		select {
		case <-time.After(redactLook):
		case <-late:
			return parley.Errorf(parley.Unavailable, "the order is on record as #%d, and not carried out yet", seq).
				WithHint("the gateway goes on trying, also after a restart; its log says what keeps it")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
