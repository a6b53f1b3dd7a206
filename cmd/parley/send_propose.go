package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func newSendPropose(s *sender) *cobra.Command {
	var call callFlags
	var where contextFlags
	var reason string
	var expires expiry
	var wait bool
	cmd := &cobra.Command{
		Use:   "propose TARGET TOOL [key=value…]",
		Short: "Ask for what you may not do yourself",
		Long: `Propose that a tool be called, or another request be made with METHOD --params.
Whoever may make the request approves it with "parley send fulfil ID". TARGET "-"
leaves it to them whom to ask. Arguments are written as for "parley send request".`,
		Example: `  parley send propose files write_file path=hello.txt content=Hello --reason "to try it"
  parley send propose files write_file path=report.md content=@report.md --expires 10m --wait`,
		Args: arguments(2, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			method, params, err := call.call(s, args[1], args[2:])
			if err != nil {
				return err
			}
			in, err := where.context()
			if err != nil {
				return err
			}
			opts := []client.SendOption{client.Reason(reason), client.Expires(expires.at(time.Now())), client.InContext(in)}
			e, err := client.NewProposal(addressee(args[0]), method, params, opts...)
			if err != nil {
				return err
			}
			if wait {
				return s.proposeAndWait(cmd.Context(), e)
			}
			return s.post(cmd.Context(), e)
		},
	}
	call.add(cmd)
	where.add(cmd)
	f := cmd.Flags()
	f.StringVar(&reason, "reason", "", "`WHY`, for whoever decides")
	f.Var(&expires, "expires", "ends by itself, as 10m or 2026-11-20T18:00:00Z; else when the space says")
	f.BoolVar(&wait, "wait", false, "wait until it is decided, and print the result")
	return cmd
}

// proposeAndWait proposes and waits for the outcome. A proposal that is not
// fulfilled is exit code 1.
func (s *sender) proposeAndWait(ctx context.Context, e *parley.Envelope) error {
	room, err := s.join(ctx)
	if err != nil {
		return err
	}
	defer leave(room)
	receipt, err := room.Send(ctx, e)
	if err != nil {
		return err
	}
	s.say("proposed as #%d %s; waiting for a decision (Ctrl-C stops waiting, the proposal stays)", receipt.Seq, clean(receipt.ID))
	p, err := room.Proposal(ctx, e.ID)
	if err != nil {
		return err
	}
	outcome, err := p.Wait(ctx)
	if outcome.Decision == "" {
		return err
	}
	return s.printDecision(e.ID, outcome, err)
}

func (s *sender) printDecision(id string, o client.Outcome, failure error) error {
	switch o.Decision {
	case client.Fulfilled, client.Amended:
		s.say("%s by %s", o.Decision, clean(o.By))
		if failure != nil {
			return callError(failure)
		}
		return s.printOutcome(o.Reply.Envelope)
	}
	e := parley.Errorf(parley.ProposalClosed, "%s was %s by %s", id, o.Decision, o.By)
	if o.Reason != "" {
		e.Message += ": " + o.Reason
	}
	if o.Message != "" {
		e.Message += fmt.Sprintf(" (%s)", o.Message)
	}
	return e
}
