package main

import (
	"context"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

func newTokenApprovalLink(t *terminal) *cobra.Command {
	var to target
	var ttl time.Duration
	cmd := &cobra.Command{
		Use:   "approval-link PROPOSAL",
		Short: "Make a link that decides on one proposal, without signing in",
		Long: `Make a link with which the participant whose token it is can approve or reject one
proposal in any browser, once. It lasts a day unless --ttl says otherwise, and no
longer than the proposal. PROPOSAL is its id, the unique beginning of it, or its seq.

The link opens a page with the exact call, and decides nothing by being opened.
Whoever has it decides in your name: send it to nobody but yourself. It signs nobody
in. Sign out everywhere, in the console, makes those that are not used worthless.`,
		Example: `  parley token approval-link 0199a9f3-c1b2 --token-file you.token
  parley token approval-link 12 --ttl 8h`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := to.open(cmd.Context(), t)
			if err != nil {
				return err
			}
			link, expires, err := makeApprovalLink(cmd.Context(), a, args[0], ttl)
			if err != nil {
				return err
			}
			return t.printLink(link, "It decides on this proposal once", expires, time.DateTime)
		},
	}
	to.addFlags(cmd.Flags())
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "how long it lasts: a `TIME` from 1m to 168h (default 24h)")
	return cmd
}

func makeApprovalLink(ctx context.Context, a *api, name string, ttl time.Duration) (link string, expires time.Time, err error) {
	id, err := findProposal(ctx, a, name)
	if err != nil {
		return "", expires, err
	}
	body := members{}
	if ttl != 0 {
		body = members{{"ttl", quote(ttl.String())}}
	}
	made, err := a.value(a.do(ctx, http.MethodPost, pathOf("/proposals/%s/links", id), nil, body.object()))
	if err != nil {
		return "", expires, err
	}
	return a.expiring(made, "url")
}
