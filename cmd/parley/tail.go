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
no context. Contexts that nobody has opened yet can be waited for.`,
		Example: `  parley tail --history 20
  parley tail --context 0199a9f3-c1b2 --with-main
  parley tail --kinds chat,mcp/proposal:* --no-presence`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runTail(cmd.Context(), t, &to, flags) },
	}
	to.addFlags(cmd.Flags())
	f := cmd.Flags()
	f.IntVar(&flags.history, "history", 0, "first the newest `N` envelopes")
	f.Uint64Var(&flags.after, "after", 0, "first everything after `SEQ`")
	f.BoolVar(&flags.directed, "directed", false, "only broadcasts, and what names me")
	f.StringSliceVar(&flags.kinds, "kinds", nil, "only kinds that match one of these `PATTERNS`")
	f.StringVar(&flags.context, "context", "", "only what belongs to this `CONTEXT`, and what names me")
	f.BoolVar(&flags.withMain, "with-main", false, "with --context: and what belongs to none")
	f.BoolVar(&flags.noPresence, "no-presence", false, "not who comes and goes")
	f.BoolVar(&flags.full, "full", false, "cut nothing")
	return cmd
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
	opts := &client.Options{
		Token: a.token, Space: a.space, History: flags.history,
		Kinds: flags.kinds, PresenceOff: flags.noPresence,
		OnState: t.tellState(),
	}
	if flags.directed {
		opts.Routing = client.RoutingDirected
	}
	if opts.Contexts, err = flags.contexts(ctx, t, &gatewayRecord{*a}); err != nil {
		return stopped(ctx, err)
	}
	if flags.after > 0 {
		if opts.After, err = a.position(ctx, flags.after); err != nil {
			return stopped(ctx, err)
		}
	}
	room, err := client.Dial(ctx, a.url, opts)
	if err != nil {
		return stopped(ctx, a.unreachable(err))
	}
	defer room.Close()
	return stopped(ctx, listen(ctx, room, newPrinter(t, flags.full), t, flags.shows(room.ID())))
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
