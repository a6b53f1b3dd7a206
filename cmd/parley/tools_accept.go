package main

import (
	"context"
	"fmt"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func newToolsList(t *terminal) *cobra.Command {
	var from target
	cmd := &cobra.Command{
		Use:   "list [PARTICIPANT]",
		Short: "List the tools of servers, and what became of their definitions",
		Long: `List the tools whose definitions are on record, of everybody or of one participant:
the beginning of each definition's digest, and whether it is the accepted one. The
definition that was seen first is accepted; one that differs from it is not, until
somebody accepts it.`,
		Example: `  parley tools list
  parley tools list files --json`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := from.open(cmd.Context(), t)
			if err != nil {
				return err
			}
			participant := ""
			if len(args) > 0 {
				participant = args[0]
			}
			list, err := knownTools(cmd.Context(), a, participant)
			if err != nil {
				return err
			}
			return t.printTools(list)
		},
	}
	from.addFlags(cmd.Flags())
	return cmd
}

func knownTools(ctx context.Context, a *api, participant string) ([]jsontext.Value, error) {
	q := url.Values{}
	if participant != "" {
		q.Set("participant", participant)
	}
	list, err := a.get(ctx, "/tools", q)
	return items(list), err
}

func (t *terminal) printTools(list []jsontext.Value) error {
	for _, item := range list {
		if t.asJSON() {
			if err := t.writeJSON(item); err != nil {
				return err
			}
			continue
		}
		digest := member(item, "digest")
		fmt.Fprintf(t.out, "%s  %s  %s  %s\n", t.palette().name(member(item, "participant")), member(item, "tool"), digest[:min(len(digest), 12)], t.standing(item))
	}
	return nil
}

// standing says what became of a definition.
func (t *terminal) standing(item jsontext.Value) string {
	if isAccepted(item) {
		return t.palette().good("accepted")
	}
	return t.palette().bad("changed") + " " + member(item, "changed")
}

func isAccepted(item jsontext.Value) bool { return parley.Member(item, "accepted").Kind() == 't' }

func newToolsAccept(t *terminal) *cobra.Command {
	var to target
	var digest, reason string
	cmd := &cobra.Command{
		Use:   "accept PARTICIPANT TOOL",
		Short: "Accept the changed definition of a tool",
		Long: `Accept the newest definition of a server's tool, for which you need the capability
for space/accept-tool. Where the server has "pin: strict", nobody can call the tool
before. What changed is printed; "parley log" shows the notice with all of it.

What is accepted is the definition as it is now. With --digest it is the one that you
have looked at, or none.`,
		Example: `  parley tools accept files write_file
  parley tools accept files write_file --digest 5a006af1… --reason "the new limit is fine"`,
		Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s := &sender{t, &to}
			return s.accept(cmd.Context(), args[0], args[1], digest, reason)
		},
	}
	to.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&digest, "digest", "", "only the definition with this `DIGEST`, in full, as parley tools list --json shows it")
	cmd.Flags().StringVar(&reason, "reason", "", "`WHY`, for the record")
	return cmd
}

// accept sends the order. The digest of what is printed here goes with it, so that
// nothing else is accepted where the definition changes meanwhile.
func (s *sender) accept(ctx context.Context, participant, tool, digest, reason string) error {
	a, err := s.api(ctx)
	if err != nil {
		return err
	}
	list, err := knownTools(ctx, a, participant)
	if err != nil {
		return err
	}
	for _, item := range list {
		if name, _ := parley.MemberString(item, "tool"); name != tool || digest != "" {
			continue
		}
		if isAccepted(item) {
			s.say("%s of %s is accepted already", clean(tool), clean(participant))
			return nil
		}
		s.say("%s", member(item, "changed"))
		digest, _ = parley.MemberString(item, "digest")
	}
	payload := members{{"participant", quote(participant)}, {"tool", quote(tool)}}
	payload = payload.say("digest", digest).say("reason", reason)
	return s.post(ctx, &parley.Envelope{ID: client.NewID(), Kind: parley.KindAcceptTool, Payload: payload.object()})
}
