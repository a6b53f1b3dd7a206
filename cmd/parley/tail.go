package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// tailFlags say what to listen to.
type tailFlags struct {
	history    int
	after      uint64
	directed   bool
	kinds      []string
	context    string
	withMain   bool
	noPresence bool
	full       bool
}

func newTail(t *terminal) *cobra.Command {
	var to target
	var flags tailFlags
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Listen to a space",
		Long: `Show what happens in a space, as it happens, until Ctrl-C. After a lost
connection it goes on where it was. What the gateway refuses is nobody's to
see, and so is not shown.

With --context only one line of reasoning is shown, besides what names me: CONTEXT is
its id, or the unique beginning of a recent one, and those nested in it belong to it.
CONTEXT may also be id:ID,… for these alone, tree:ID,… for several with what is nested
in them, type:TYPE,… for all of these types, or all. --with-main adds what belongs to
no context. A context that nobody has opened yet can be waited for; one with a colon
in its id as id:ID.

--history N is the newest N of these contexts; for type:TYPE,… and all they are looked
for among the newest 10,000 envelopes. With --with-main the main context counts, too.`,
		Example: `  parley tail --history 20
  parley tail --context 0199a9f3-c1b2 --with-main
  parley tail --kinds chat,mcp/proposal:* --no-presence`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notEmpty(cmd, "context"); err != nil {
				return err
			}
			return runTail(cmd.Context(), t, &to, flags)
		},
	}
	to.addFlags(cmd.Flags())
	f := cmd.Flags()
	f.IntVar(&flags.history, "history", 0, "first the newest `N` envelopes, of the context with --context")
	f.Uint64Var(&flags.after, "after", 0, "first everything after `SEQ`")
	f.BoolVar(&flags.directed, "directed", false, "only broadcasts, and what names me")
	f.StringSliceVar(&flags.kinds, "kinds", nil, "only kinds that match one of these `PATTERNS`")
	f.StringVar(&flags.context, "context", "", "only what belongs to this `CONTEXT`, and what names me")
	f.BoolVar(&flags.withMain, "with-main", false, "with --context: and what belongs to none")
	f.BoolVar(&flags.noPresence, "no-presence", false, "not who comes and goes")
	f.BoolVar(&flags.full, "full", false, "cut nothing")
	return cmd
}

// notEmpty refuses a flag that an empty variable of a shell was given for: without it
// everything is shown.
func notEmpty(cmd *cobra.Command, name string) error {
	if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
		return usagef("--%s is empty", name).hint("leave it out for everything")
	}
	return nil
}

func runTail(ctx context.Context, t *terminal, to *target, flags tailFlags) error {
	if flags.history < 0 {
		return usagef("--history is below 0")
	}
	if err := flags.checkContext(); err != nil {
		return err
	}
	a, err := to.open(ctx, t)
	if err != nil {
		return stopped(ctx, err)
	}
	rec := &gatewayRecord{*a}
	opts := &client.Options{
		Token: a.token, Space: a.space, History: flags.history,
		Kinds: flags.kinds, PresenceOff: flags.noPresence,
		OnState: t.tellState(),
	}
	if flags.directed {
		opts.Routing = client.RoutingDirected
	}
	if opts.Contexts, err = flags.contexts(ctx, t, rec); err != nil {
		return stopped(ctx, err)
	}
	before, err := flags.beginning(ctx, rec, opts)
	if err != nil {
		return stopped(ctx, err)
	}
	room, err := client.Dial(ctx, a.url, opts)
	if err != nil {
		return stopped(ctx, a.unreachable(err))
	}
	defer room.Close()
	p, shows := newPrinter(t, flags.full), flags.shows(room.ID())
	p.goBy(ctx, rec, -1)
	if before != nil {
		if err := before.tell(ctx, rec, p, flags.history, shows); err != nil {
			return stopped(ctx, err)
		}
	}
	return stopped(ctx, listen(ctx, room, p, t, shows))
}

// beginning decides where to begin. Where contexts alone are shown, that is the end,
// and what came before is looked for: the gateway would send the newest with the
// main context among them, which is not shown.
func (f *tailFlags) beginning(ctx context.Context, rec *gatewayRecord, opts *client.Options) (before *past, err error) {
	seq := f.after
	if seq == 0 && f.history > 0 && f.context != "" && !f.withMain {
		head, err := rec.head(ctx)
		if err != nil {
			return nil, err
		}
		seq = head.Seq
		before, err = newPast(ctx, rec, opts.Contexts, query{before: seq + 1, newest: true, kinds: f.kinds})
		if err != nil {
			return nil, err
		}
	}
	if seq > 0 {
		opts.After, err = rec.position(ctx, seq)
	}
	return before, err
}

// listen prints what arrives, as far as it is to be shown, until ctx ends or the
// room does.
func listen(ctx context.Context, room *client.Room, p *printer, t *terminal, shows func(*parley.Envelope) bool) error {
	for e, err := range room.Envelopes(ctx) {
		if gap, ok := errors.AsType[*client.Gap](err); ok {
			t.say("%s", t.errPalette().bad("… the gateway no longer has what came after "+clean(gap.After.String())+" …"))
			continue
		}
		if err != nil {
			return err
		}
		if !shows(e) {
			continue
		}
		if err := p.envelope(e); err != nil {
			return err
		}
	}
	return room.Err()
}

// stopped is err, unless that is only Ctrl-C, for which whoever listens waits.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// tellState says when the connection is lost, and found again.
func (t *terminal) tellState() func(client.State) {
	lost := false
	return func(s client.State) {
		switch {
		case s.Phase == client.Waiting && !lost:
			lost = true
			t.say("%s", t.errPalette().dim("the connection is lost; trying again …"))
		case s.Phase == client.Connected && lost:
			lost = false
			t.say("%s", t.errPalette().dim("connected again"))
		}
	}
}
