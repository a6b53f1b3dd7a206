package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/webhook"
)

func newWebhook(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "webhook VERB",
		Short: "Look after webhooks: list, dead, retry, drop, test, enable; secret makes a new one",
		Long: `Look after the webhooks of a space, for which you need the capability ` + webhook.Capability + `,
which space/* covers. They are set up in parley.yaml.`,
		Example: `  parley webhook list
  parley webhook test ops
  parley webhook dead ops
  parley webhook retry ops --all`,
		Args: group(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newWebhookList(t), newWebhookDead(t), newWebhookRetry(t), newWebhookDrop(t), newWebhookTest(t), newWebhookEnable(t), newWebhookSecret(t))
	return cmd
}

// caller reaches the webhooks of a space.
type webhookCaller struct {
	t *terminal
	target
}

func (c *webhookCaller) call(ctx context.Context, method, path string, into any) (jsontext.Value, error) {
	a, err := c.open(ctx, c.t)
	if err != nil {
		return nil, err
	}
	answer, err := a.value(a.do(ctx, method, "/webhooks"+path, nil, nil))
	if err == nil && into != nil {
		err = json.Unmarshal(answer, into)
	}
	return answer, err
}

// command is a verb that calls the gateway.
func (c *webhookCaller) command(cmd *cobra.Command) *cobra.Command {
	c.addFlags(cmd.Flags())
	return cmd
}

func newWebhookList(t *terminal) *cobra.Command {
	c := &webhookCaller{t: t}
	return c.command(&cobra.Command{
		Use:   "list",
		Short: "List the webhooks of a space, and how they do",
		Example: `  parley webhook list
  parley webhook list --json`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var list struct {
				Items []webhook.Status `json:"items"`
			}
			answer, err := c.call(cmd.Context(), http.MethodGet, "", &list)
			if err != nil {
				return err
			}
			if t.asJSON() {
				return t.writeItems(answer)
			}
			for i := range list.Items {
				t.printWebhook(&list.Items[i])
			}
			return nil
		},
	})
}

// writeItems writes the items of a list as JSON Lines.
func (t *terminal) writeItems(list jsontext.Value) error {
	for _, item := range items(list) {
		if err := t.writeJSON(item); err != nil {
			return err
		}
	}
	return nil
}

func (t *terminal) printWebhook(s *webhook.Status) {
	p := t.palette()
	state := p.good(clean(s.State))
	switch s.State {
	case "disabled":
		state = p.bad("disabled") + " since " + s.Since.Format(time.RFC3339) + ": " + clean(s.Reason)
	case "paused":
		state = p.ask("paused") + " until " + s.Until.Format(time.RFC3339)
	}
	fmt.Fprintf(t.out, "%s  %s  %s\n", p.name(clean(s.Name)), clean(s.URL), state)
	line := fmt.Sprintf("%d delivered, %d waiting, %s", s.Delivered, s.Pending, plural(s.Dead, "dead letter", "dead letters"))
	if s.Unread > 0 {
		line += fmt.Sprintf(", and what is in %d records more", s.Unread)
	}
	if s.Lost > 0 {
		line += fmt.Sprintf(", %d lost", s.Lost)
	}
	if s.Pending > 0 {
		line += ", since " + s.Oldest.Format(time.RFC3339)
	}
	fmt.Fprintf(t.out, "    %s\n    %s\n", line, p.dim(clean(strings.Join(s.Events, " ")+"; content: "+s.Content)))
	if s.Last != nil {
		fmt.Fprintf(t.out, "    last: %s\n", t.answered(s.Last))
	}
}

// answered says how a receiver answered.
func (t *terminal) answered(a *webhook.Attempt) string {
	said := t.palette().good(fmt.Sprint("it answered ", a.Status))
	if a.Problem != "" {
		said = t.palette().bad(clean(a.Problem))
	}
	return fmt.Sprintf("%s, after %d ms, at %s", said, a.Took, a.At.Format(time.RFC3339))
}

func newWebhookDead(t *terminal) *cobra.Command {
	c := &webhookCaller{t: t}
	return c.command(&cobra.Command{
		Use:   "dead NAME",
		Short: "List the events that were given up, the oldest first",
		Example: `  parley webhook dead ops
  parley webhook dead ops --json`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var list struct {
				Items []webhook.Letter `json:"items"`
			}
			answer, err := c.call(cmd.Context(), http.MethodGet, pathOf("/%s/dead", args[0]), &list)
			if err != nil {
				return err
			}
			if t.asJSON() {
				return t.writeItems(answer)
			}
			for _, l := range list.Items {
				about := ""
				if l.Proposal != "" {
					about = " of " + clean(l.Proposal)
				}
				fmt.Fprintf(t.out, "%s  %s  %s%s\n    %s, %s\n", t.palette().name(clean(l.ID)), l.At.Format(time.RFC3339),
					clean(string(l.Event)), about, plural(l.Attempts, "attempt", "attempts"), t.palette().bad(clean(l.Problem)))
			}
			return nil
		},
	})
}

// letters is a verb about dead letters: some, or with --all all of them.
func letters(t *terminal, cmd *cobra.Command, method, one, all, member, done string) *cobra.Command {
	c := &webhookCaller{t: t}
	every := false
	cmd.Args = arguments(1, -1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, ids := args[0], args[1:]
		if every == (len(ids) > 0) {
			return usagef("which of them?").hint("usage: %s, or --all", cmd.UseLine())
		}
		var paths []string
		for _, id := range ids {
			paths = append(paths, pathOf(one, name, id))
		}
		if every {
			paths = append(paths, pathOf(all, name))
		}
		n := 0
		for _, path := range paths {
			var answer map[string]int
			if _, err := c.call(cmd.Context(), method, path, &answer); err != nil {
				return err
			}
			n += answer[member]
		}
		if t.asJSON() {
			return t.writeValue(map[string]int{member: n})
		}
		_, err := fmt.Fprintf(t.out, "%s %s\n", plural(n, "event", "events"), done)
		return err
	}
	cmd.Flags().BoolVar(&every, "all", false, "all of them")
	return c.command(cmd)
}

func newWebhookRetry(t *terminal) *cobra.Command {
	return letters(t, &cobra.Command{
		Use:   "retry NAME ID…",
		Short: "Send events again that were given up",
		Long: `Send events again that were given up, as if they were new: what still fails is retried
as ever, and given up in the end. With --all as many as may wait at a time.`,
		Example: `  parley webhook retry ops msg_57e8894407ea699f674eb1c86e7ed82a
  parley webhook retry ops --all`,
	}, http.MethodPost, "/%s/dead/%s/retry", "/%s/dead/retry", "retried", "on the way again")
}

func newWebhookDrop(t *terminal) *cobra.Command {
	return letters(t, &cobra.Command{
		Use:   "drop NAME ID…",
		Short: "Forget events that were given up",
		Example: `  parley webhook drop ops msg_57e8894407ea699f674eb1c86e7ed82a
  parley webhook drop ops --all`,
	}, http.MethodDelete, "/%s/dead/%s", "/%s/dead", "dropped", "forgotten")
}

func newWebhookTest(t *terminal) *cobra.Command {
	c := &webhookCaller{t: t}
	return c.command(&cobra.Command{
		Use:   "test NAME",
		Short: "Send a test event now, and say how it was answered",
		Example: `  parley webhook test ops
  parley webhook test ops --json`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var a webhook.Attempt
			answer, err := c.call(cmd.Context(), http.MethodPost, pathOf("/%s/test", args[0]), &a)
			if err != nil {
				return err
			}
			if t.asJSON() {
				err = t.writeJSON(answer)
			} else if a.Problem == "" {
				_, err = fmt.Fprintln(t.out, t.answered(&a))
			}
			if err != nil || a.Problem == "" {
				return err
			}
			return parley.Errorf(parley.Unavailable, "the receiver did not take it: %s", clean(a.Problem)).
				WithHint("check the url of the webhook, and what the receiver's log says")
		},
	})
}

func newWebhookEnable(t *terminal) *cobra.Command {
	c := &webhookCaller{t: t}
	return c.command(&cobra.Command{
		Use:   "enable NAME",
		Short: "Send again to a receiver that answered 410 Gone",
		Long: `Send again to a receiver that answered 410 Gone. Events begin with what happens from
now on; those before are on record, and what waited is among the dead letters.`,
		Example: `  parley webhook enable ops
  parley webhook enable ops --space demo`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := c.call(cmd.Context(), http.MethodPost, pathOf("/%s/enable", args[0]), nil)
			if err != nil {
				return err
			}
			if t.asJSON() {
				return t.writeJSON(answer)
			}
			_, err = fmt.Fprintf(t.out, "%s is enabled\n", clean(args[0]))
			return err
		},
	})
}

func newWebhookSecret(t *terminal) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Make a secret with which events are signed",
		Long: `Make a random secret, which parley.yaml and the receiver are given:

  webhooks:
    - {name: ops, url: "https://example.org/parley", secret: "${file:ops.secret}"}

With --out it goes to a file that only you can read, and is not shown.`,
		Example: `  parley webhook secret
  parley webhook secret --out ops.secret`,
		Args: arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			var b [32]byte
			rand.Read(b[:]) // never fails
			secret := webhook.NewSecret(b[:])
			if out != "" {
				return writeTokenFile(out, secret)
			}
			if t.asJSON() {
				return t.writeValue(map[string]string{"secret": secret})
			}
			_, err := fmt.Fprintln(t.out, secret)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the secret to this new `FILE`")
	return cmd
}
