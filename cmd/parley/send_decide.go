package main

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func newSendFulfil(s *sender) *cobra.Command {
	var to string
	var amend []string
	cmd := &cobra.Command{
		Use:     "fulfil PROPOSAL",
		Aliases: []string{"approve"},
		Short:   "Approve a proposal by making the request, and print the result",
		Long: `Make the request that somebody proposed, exactly as proposed, in your own name. The
result comes to you and to the proposer. PROPOSAL is its id, the unique beginning
of it, or its seq. With --amend the request differs from the proposal, and says so.

The request is made at once. "parley log chain PROPOSAL --full" shows before, uncut,
what it will be.`,
		Example: `  parley send fulfil 0199a9f3-c1b2
  parley send fulfil 12 --amend path=drafts/hello.txt`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			changes, err := s.parseArguments(amend)
			if err != nil {
				return err
			}
			return s.fulfil(cmd.Context(), args[0], to, changes)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the `TARGET`, where the proposal leaves it open")
	cmd.Flags().StringArrayVar(&amend, "amend", nil, "another argument than proposed, as `KEY=VALUE`; may be repeated")
	return cmd
}

func (s *sender) fulfil(ctx context.Context, name, to string, changes members) error {
	a, err := s.api(ctx)
	if err != nil {
		return err
	}
	id, err := findProposal(ctx, a, name)
	if err != nil {
		return err
	}
	proposal, err := readProposal(ctx, a, id)
	if err != nil {
		return err
	}
	s.show(proposal)
	room, err := s.join(ctx)
	if err != nil {
		return err
	}
	defer leave(room)
	var opts []client.SendOption
	if to != "" {
		opts = append(opts, client.To(to))
	}
	var reply *client.Reply
	if len(changes) == 0 {
		reply, err = room.Fulfil(ctx, proposal, opts...)
	} else {
		reply, err = room.Amend(ctx, proposal, amended(proposal, changes), opts...)
	}
	if err != nil {
		return callError(err)
	}
	return s.printOutcome(reply.Envelope)
}

// show says what is about to be approved, to whoever looks.
func (s *sender) show(proposal *parley.Envelope) {
	if !s.errTTY {
		return
	}
	r := &renderer{w: s.err, paint: s.errPalette(), full: true}
	_ = r.write(proposal) // it only informs
}

// amended is a proposal's params with other arguments.
func amended(proposal *parley.Envelope, changes members) jsontext.Value {
	params := parley.Member(proposal.Payload, "params")
	arguments := membersOf(parley.Member(params, "arguments")).with(changes)
	return membersOf(params).with(members{{"arguments", arguments.object()}}).object()
}

func newSendReject(s *sender) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "reject PROPOSAL [MESSAGE…]",
		Short: "Say no to a proposal",
		Long: `End a proposal without doing it. The reason is one of disagree, unsafe, busy, incapable,
policy, duplicate, invalid, timeout and other; the message is for people.`,
		Example: `  parley send reject 0199a9f3-c1b2 --reason unsafe
  parley send reject 12 --reason policy not on a Friday`,
		Args: arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := members{{"reason", quote(reason)}}.say("message", strings.Join(args[1:], " "))
			return s.decide(cmd.Context(), args[0], "reject", body.object())
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "disagree", "the `WORD` for why")
	_ = cmd.RegisterFlagCompletionFunc("reason", cobra.FixedCompletions(
		[]string{"disagree", "unsafe", "busy", "incapable", "policy", "duplicate", "invalid", "timeout", "other"},
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func newSendWithdraw(s *sender) *cobra.Command {
	return &cobra.Command{
		Use:   "withdraw PROPOSAL",
		Short: "Take a proposal of your own back",
		Example: `  parley send withdraw 0199a9f3-c1b2
  parley send withdraw 12 --token-file .parley/agent.token`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.decide(cmd.Context(), args[0], "withdraw", nil)
		},
	}
}
