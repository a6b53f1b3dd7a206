package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/asked"
)

// chatFlags say how to take part.
type chatFlags struct {
	history    int
	noPresence bool
	full       bool
	forms      bool
	plain      bool
	mouse      bool
	bell       bool

	historySet bool
}

func newChat(t *terminal) *cobra.Command {
	var to target
	var flags chatFlags
	cmd := &cobra.Command{
		Use:   "chat [SPACE]",
		Short: "Take part in a space: talk, watch, approve, fill in forms",
		Long: `Sit down in a space, on a whole screen: what happens, what waits for a decision, and a
line to write. The screen says what keys do, ? shows all of them, /help all commands,
and Ctrl-C leaves. docs/chat.md shows it.

With --plain, and on a terminal that can do no more (TERM=dumb), it goes line by line:
/to says something to somebody, /approve and /reject decide on proposals, and /quit,
Ctrl-D and Ctrl-C leave.

Tools may ask something of whoever calls them, and of participants with
serves: [elicitation]; to answer takes the capability mcp/response:elicitation/create,
which mcp/* holds. What they ask of me is a form; what will be sent is shown before it
is. Forms that came before, within the last 24 hours, and were not answered are there as
well. A link (mode url) is shown, and opened by nobody here; without a terminal it is
refused, as is what is no form.

Without a terminal each line of the input is said, or answers the question that is
asked at that moment. With --forms nothing is said: lines wait for the next form, so that
a file can answer. It ends with its input.`,
		Example: `  parley chat --token-file .parley/you.token
  parley chat demo --history 20 --plain
  printf 'Ann\n4\nyes\n' | parley chat --forms --json=false`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && to.space != "" && to.space != args[0] {
				return usagef("%q and --space %q are two spaces", args[0], to.space).hint("name one of them")
			} else if len(args) == 1 {
				to.space = args[0]
			}
			flags.historySet = cmd.Flags().Changed("history")
			return runChat(cmd.Context(), t, &to, flags)
		},
	}
	to.addFlags(cmd.Flags())
	f := cmd.Flags()
	f.IntVar(&flags.history, "history", 0, "first the newest `N` envelopes (on a whole screen 1,000 unless given)")
	f.BoolVar(&flags.noPresence, "no-presence", false, "line by line: not who comes and goes")
	f.BoolVar(&flags.full, "full", false, "line by line: cut nothing")
	f.BoolVar(&flags.plain, "plain", false, "line by line, also at a terminal: for screen readers")
	f.BoolVar(&flags.mouse, "mouse", false, "on a whole screen, let the mouse scroll and pick")
	f.BoolVar(&flags.bell, "bell", false, "on a whole screen, ring once for what newly waits for you")
	f.BoolVar(&flags.forms, "forms", false, "say nothing: lines answer forms alone")
	return cmd
}

func runChat(ctx context.Context, t *terminal, to *target, flags chatFlags) error {
	if flags.history < 0 {
		return usagef("--history is below 0")
	}
	if to.tokenFile == "-" {
		return usagef("the token cannot come from standard input, where lines are read").hint("give --token-file FILE or set PARLEY_TOKEN")
	}
	a, err := to.open(ctx, t)
	if err != nil {
		return stopped(ctx, err)
	}
	if flags.hasScreen(t) {
		return runScreen(ctx, t, a, flags)
	}
	sits := newConsole(t)
	seat := *t
	if sits.tty != nil { // questions have to be seen, wherever errors were to go
		seat.out, seat.err, seat.errTTY = sits, sits, true
	}
	room, err := client.Dial(ctx, a.url, &client.Options{
		Token: a.token, Space: a.space, History: flags.history, PresenceOff: flags.noPresence,
		// Who approves shall see no proposal that lies about what it is.
		Strict: true, OnState: seat.tellState(),
	})
	if err != nil {
		return stopped(ctx, a.unreachable(err))
	}
	defer room.Close()
	if err := sits.start(); err != nil {
		return err
	}
	defer sits.close()
	c := &chat{
		t: &seat, api: a, room: room, console: sits, answersOnly: flags.forms,
		printer: newPrinter(&seat, flags.full), results: make(chan func()),
	}
	return stopped(ctx, c.run(ctx))
}

// chat is somebody's place in a room. All of it belongs to the goroutine of run; what
// takes time is done aside.
type chat struct {
	t           *terminal // writes above the line that is being typed
	api         *api
	room        *client.Room
	console     *console
	printer     *printer
	answersOnly bool // --forms

	aside   sync.WaitGroup
	results chan func() // what is to be done here about what was done aside

	forms    asked.Queue
	open     *filling // of the first form, once it is asked
	opening  bool
	refusing int // refusals on their way

	doubted string  // the proposal that was not approved at once, and why
	busy    bool    // a line is being carried out
	backlog []typed // what was typed meanwhile
	leaving bool
	failure error
}

// arrival is what the room brings.
type arrival struct {
	envelope *parley.Envelope
	err      error
}

// run takes part until somebody leaves, ctx ends or the room does.
func (c *chat) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer c.aside.Wait()
	defer cancel()
	arrivals := c.listen(ctx)
	began := c.room.Welcome().History.Last // what is older was looked up, not asked again
	c.say(c.t.errPalette().dim("you are " + clean(c.room.ID()) + " in " + clean(c.api.space) + "; /help lists what can be typed"))
	if err := c.lookBack(ctx); err != nil {
		return err
	}
	for !c.leaving {
		c.openNext(ctx)
		select {
		case a := <-arrivals:
			if err := c.arrived(ctx, a, began); err != nil {
				return err
			}
		case l := <-c.hearing():
			c.heard(ctx, l)
		case then := <-c.results:
			then()
		case <-ctx.Done():
			return nil
		}
		c.catchUp(ctx)
	}
	return c.failure
}

// listen brings what happens in the room.
func (c *chat) listen(ctx context.Context) <-chan arrival {
	arrivals := make(chan arrival)
	c.aside.Go(func() {
		for e, err := range c.room.Envelopes(ctx) {
			select {
			case arrivals <- arrival{e, err}:
			case <-ctx.Done():
				return
			}
		}
	})
	return arrivals
}

func (c *chat) arrived(ctx context.Context, a arrival, began uint64) error {
	if gap, ok := errors.AsType[*client.Gap](a.err); ok {
		c.say(c.t.errPalette().bad("… the gateway no longer has what came after " + clean(gap.After.String()) + " …"))
		c.lookAgain(ctx, gap.After.Seq)
		return nil
	}
	if a.err != nil {
		return a.err
	}
	if a.envelope.Seq <= began {
		return c.printer.envelope(a.envelope)
	}
	if err := c.show(a.envelope); err != nil {
		return err
	}
	c.consider(ctx, a.envelope)
	return nil
}

// show prints what happened. A form says itself what it asks.
func (c *chat) show(e *parley.Envelope) error {
	if _, ok := asked.Read(e, c.room.ID()); !ok || c.printer.r == nil {
		return c.printer.envelope(e)
	}
	c.printer.r.seen.add(e)
	return nil
}

// do carries something out while the room goes on being shown. What it returns is
// done here.
func (c *chat) do(ctx context.Context, work func(ctx context.Context) (then func())) {
	c.aside.Go(func() {
		then := work(ctx)
		select {
		case c.results <- then:
		case <-ctx.Done():
		}
	})
}

// errand carries out what a line says: the next one waits for it.
func (c *chat) errand(ctx context.Context, work func(ctx context.Context) (then func())) {
	c.busy = true
	c.do(ctx, func(ctx context.Context) func() {
		then := work(ctx)
		return func() {
			c.busy = false
			then()
		}
	})
}

// hearing is where the next line comes from. Of a file or pipe none is taken before
// its turn.
func (c *chat) hearing() <-chan typed {
	if c.console.tty == nil && (c.busy || len(c.backlog) > 0) {
		return nil
	}
	return c.console.lines
}

func (c *chat) heard(ctx context.Context, l typed) {
	if errors.Is(l.err, errInterrupt) && c.busy {
		c.leaving = true
		return
	}
	c.backlog = append(c.backlog, l)
}

// catchUp carries out the lines whose turn it is.
func (c *chat) catchUp(ctx context.Context) {
	for len(c.backlog) > 0 && !c.busy && !c.leaving && !c.awaitsForm(c.backlog[0]) {
		l := c.console.take(c.backlog[0])
		c.backlog = c.backlog[1:]
		c.line(ctx, l)
	}
}

// awaitsForm reports whether a line has to wait for a form that it answers. Of
// a file or pipe a line may be there before the form is shown.
func (c *chat) awaitsForm(l typed) bool {
	return c.console.tty == nil && l.err == nil && c.open == nil && (c.answersOnly || len(c.forms) > 0)
}

// line carries out a line.
func (c *chat) line(ctx context.Context, l typed) {
	switch {
	case errors.Is(l.err, errInterrupt):
		c.interrupted(ctx, l)
	case errors.Is(l.err, io.EOF):
		c.leave(nil)
	case errors.Is(l.err, errTooLong):
		c.t.printError(errTooLong)
	case l.err != nil:
		c.leave(l.err)
	case l.form != nil && (c.open == nil || l.form != c.open.Ask):
		c.say("That was meant for a form that is gone, and was not sent.")
	case l.form != nil || c.open != nil && c.console.tty == nil:
		c.fill(ctx, l.text)
	default:
		c.command(ctx, l.text)
	}
}

// interrupted obeys Ctrl-C: it puts the form away that is open, and else leaves.
// Where a line was begun before the form came, it only takes back that line.
func (c *chat) interrupted(ctx context.Context, l typed) {
	switch {
	case c.open == nil && l.form == nil:
		c.leave(nil)
	case c.open != nil && l.form == c.open.Ask:
		c.submit(ctx, dismiss)
	}
}

// leave ends it, with the reason if that is a failure.
func (c *chat) leave(err error) {
	c.leaving, c.failure = true, err
	if n := len(c.forms); n > 0 {
		c.say(plural(n, "form stays", "forms stay") + " unanswered; parley chat asks again.")
	}
}

// say shows lines for people.
func (c *chat) say(lines ...string) {
	c.t.say("%s", strings.Join(lines, "\n"))
}

// ask says what the next line is for, and what is asked.
func (c *chat) ask() {
	if c.open == nil {
		c.console.ask(forTheRoom)
		return
	}
	c.say(c.open.question(c.t.errPalette())...)
	c.console.ask(prompt{c.open.prompt(), c.open.Ask})
	if c.console.isElsewhere() {
		c.say(c.t.errPalette().dim("(the line that you have begun is not taken for an answer)"))
	}
}

// lookBack finds the forms that came before we did.
func (c *chat) lookBack(ctx context.Context) error {
	list, err := unanswered(ctx, c.api, c.room.ID(), time.Now())
	for _, e := range list {
		c.consider(ctx, e)
	}
	return err
}

// lookAgain finds out what became of forms while we could not see it.
func (c *chat) lookAgain(ctx context.Context, after uint64) {
	c.do(ctx, func(ctx context.Context) func() {
		now := time.Now()
		list, err := unanswered(ctx, c.api, c.room.ID(), now)
		return func() {
			if err != nil {
				c.t.printError(asError(err))
				return
			}
			c.reconcile(ctx, list, after, now)
		}
	})
}
