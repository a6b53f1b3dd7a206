package main

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func newSendGrant(s *sender) *cobra.Command {
	var reason string
	var expires expiry
	cmd := &cobra.Command{
		Use:   "grant RECIPIENT CAPABILITY…",
		Short: "Let somebody send more",
		Long: `Give capabilities that you have yourself. The receipt holds the grant's id, by which
"parley send revoke" takes it back.`,
		Example: `  parley send grant agent "mcp/request:tools/call:write_file" --expires 10m
  parley send grant agent '{"kind":"mcp/request:tools/call:write_file","params":{"arguments":{"path":"notes/*"}}}'`,
		Args: arguments(2, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			caps, err := capabilityList(args[1:])
			if err != nil {
				return err
			}
			payload := members{{"recipient", quote(args[0])}, {"capabilities", caps}}
			payload = payload.say("reason", reason)
			if at := expires.at(time.Now()); !at.IsZero() {
				payload = payload.say("expires", at.UTC().Format(time.RFC3339))
			}
			return s.order(cmd.Context(), parley.KindGrant, payload)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`WHY`, for the record")
	cmd.Flags().Var(&expires, "expires", "ends by itself, as 10m or 2026-11-20T18:00:00Z")
	return cmd
}

func newSendRevoke(s *sender) *cobra.Command {
	var reason, grant string
	cmd := &cobra.Command{
		Use:   "revoke RECIPIENT (--grant ID | CAPABILITY…)",
		Short: "Let somebody send less",
		Example: `  parley send revoke agent --grant 0199a9f3-c1b2-7c3d-8e4f-5a6b7c8d9e0f
  parley send revoke agent "mcp/request:tools/call:write_file"`,
		Args: arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			payload := members{{"recipient", quote(args[0])}}
			switch {
			case (grant == "") == (len(args) == 1):
				return usagef("either --grant or capabilities").hint("usage: %s", cmd.UseLine())
			case grant != "":
				payload = payload.say("grant_id", grant)
			default:
				caps, err := capabilityList(args[1:])
				if err != nil {
					return err
				}
				payload = append(payload, argument{"capabilities", caps})
			}
			return s.order(cmd.Context(), parley.KindRevoke, payload.say("reason", reason))
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`WHY`, for the record")
	cmd.Flags().StringVar(&grant, "grant", "", "the `ID` of the grant")
	return cmd
}

func newSendKick(s *sender) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "kick PARTICIPANT",
		Short: "Close somebody's connections",
		Long: `Close a participant's connections. It may come back; to keep it out, revoke what it
may send, or take away its token.`,
		Example: `  parley send kick agent
  parley send kick agent --reason "runs in circles"`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			payload := members{{"participant", quote(args[0])}}
			return s.order(cmd.Context(), parley.KindKick, payload.say("reason", reason))
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`WHY`, for the record")
	return cmd
}

func (s *sender) order(ctx context.Context, kind string, payload members) error {
	return s.post(ctx, &parley.Envelope{ID: client.NewID(), Kind: kind, Payload: payload.object()})
}

// say adds a text, unless it is empty.
func (m members) say(name, text string) members {
	if text == "" {
		return m
	}
	return append(m, argument{name, quote(text)})
}

// capabilityList is a JSON array of capabilities, each in the form in which it was
// written.
func capabilityList(texts []string) (jsontext.Value, error) {
	b := []byte{'['}
	for i, text := range texts {
		c, err := parley.ParseCapability(text)
		if err != nil {
			e := asError(err)
			return nil, usagef("%s", e.Message).hint("%s", e.Hint)
		}
		raw, err := c.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, raw...)
	}
	return append(b, ']'), nil
}

// expiry is a flag: a time as in RFC 3339, or how long from now.
type expiry struct {
	after time.Duration
	time  time.Time
}

func (x *expiry) String() string {
	switch {
	case x.after != 0:
		return x.after.String()
	case !x.time.IsZero():
		return x.time.Format(time.RFC3339)
	}
	return ""
}

func (x *expiry) Type() string { return "TIME" }

func (x *expiry) Set(s string) error {
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		*x = expiry{after: d}
		return nil
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return usagef("%q is neither a duration nor a time", s).hint("write 10m, or 2026-11-20T18:00:00Z")
	}
	*x = expiry{time: at}
	return nil
}

// at is when it is; zero is never. It counts whole seconds, and never less than
// was asked for.
func (x *expiry) at(now time.Time) time.Time {
	if x.after == 0 {
		return x.time
	}
	return now.Add(x.after + time.Second - 1).Truncate(time.Second)
}
