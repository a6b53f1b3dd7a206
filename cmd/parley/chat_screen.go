package main

import (
	"context"
	"os"

	"golang.org/x/term"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui"
)

// hasScreen reports whether somebody sits at a terminal that shows whole screens, and
// wants them.
func (flags *chatFlags) hasScreen(t *terminal) bool {
	in, ok := t.in.(*os.File)
	_, isFile := t.out.(*os.File)
	return ok && isFile && t.outTTY && term.IsTerminal(int(in.Fd())) && os.Getenv("TERM") != "dumb" &&
		!flags.plain && !flags.forms && !t.json.set
}

// screenHistory is how much of what happened before is on the screen, unless told
// otherwise.
const screenHistory = 1_000

// runScreen takes part on a whole screen.
func runScreen(ctx context.Context, t *terminal, a *api, flags chatFlags) error {
	links := make(chan tui.Link, 16)
	history := screenHistory
	if flags.historySet {
		history = flags.history
	}
	room, err := client.Dial(ctx, a.url, &client.Options{
		Token: a.token, Space: a.space, History: history,
		// Who approves shall see no proposal that lies about what it is.
		Strict: true, OnState: func(s client.State) { tell(links, s) },
	})
	if err != nil {
		return stopped(ctx, a.unreachable(err))
	}
	defer room.Close()
	sdk, err := a.sdk()
	if err != nil {
		return err
	}
	m := tui.New(ctx, &screenRoom{room, a, sdk}, tui.Options{Mouse: flags.mouse, Bell: flags.bell, Began: room.Welcome().History.Last})
	return stopped(ctx, tui.Run(ctx, m, t.in, t.out, room.Envelopes, links))
}

// tell hands over news of the connection. The room cannot wait for a screen: what is
// too much is left out.
func tell(links chan<- tui.Link, s client.State) {
	select {
	case links <- tui.Link(s):
	default:
	}
}
