// Package demo is the small agent that lives in the demo room of "parley up": it
// greets, proposes to write a file, says how to approve that, and comments on
// what came of it. It holds no model; it is an ordinary participant, made with
// the client SDK, and an example of how to write one.
//
//	room, err := client.Dial(ctx, url, &client.Options{Token: token, Space: "demo", Exclusive: true})
//	…
//	err = demo.Run(ctx, room, demo.Options{Files: "files"})
//
// # What is guaranteed
//
// It has one open proposal at most, over restarts as well: what it proposed in an
// earlier run it takes up again, and it greets only a room that does not know
// it yet. Whoever says "propose" in the chat gets a new proposal, unless one
// is open.
//
// # Concurrency
//
// Run returns when nothing of the agent runs any more.
package demo

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// Options say what the agent plays with. Their zero value works.
type Options struct {
	Files   string // the participant with the file tool; "files" where empty
	Path    string // what it wants to write; "hello.txt" where empty
	Content string // and with which content; a greeting where empty

	// OnProposal hears of the open proposal: a new one, or one that was taken
	// up again.
	OnProposal func(id string)

	// OnIdle hears that the agent begins with nothing open: it was here before,
	// and waits to be asked.
	OnIdle func()
}

func (o Options) withDefaults() Options {
	o.Files = cmp.Or(o.Files, "files")
	o.Path = cmp.Or(o.Path, "hello.txt")
	o.Content = cmp.Or(o.Content, "Hello! A person approved this line before it was written.\n")
	if o.OnProposal == nil {
		o.OnProposal = func(string) {}
	}
	if o.OnIdle == nil {
		o.OnIdle = func() {}
	}
	return o
}

// Run plays the agent until ctx or the room ends. At the end of ctx it returns
// nil, else why it could not go on.
func Run(ctx context.Context, room *client.Room, o Options) error {
	a := &agent{Options: o.withDefaults(), room: room}
	err := a.run(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// agent belongs to the goroutine of Run.
type agent struct {
	Options
	room *client.Room
	open *client.Proposal // nil where none is
}

func (a *agent) run(ctx context.Context) error {
	if err := a.begin(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer cancel()
	asked := make(chan *parley.Envelope)
	helpers.Go(func() { a.listen(ctx, asked) })
	for {
		decided := a.follow(ctx, &helpers)
		if err := a.next(ctx, asked, decided); err != nil {
			return err
		}
	}
}

// begin takes up what an earlier run left open, or introduces itself.
func (a *agent) begin(ctx context.Context) error {
	open, err := a.room.API().Proposals(ctx, client.ProposalOpen)
	if err != nil {
		return err
	}
	for _, p := range open {
		if p.From == a.room.ID() {
			a.open, err = a.room.Proposal(ctx, p.ID)
			a.OnProposal(p.ID)
			return err
		}
	}
	for _, err := range a.room.API().Envelopes(ctx, &client.Query{From: a.room.ID(), Limit: 1}) {
		if err == nil {
			a.OnIdle()
		}
		return err
	}
	_, err = a.room.Chat(ctx, fmt.Sprintf(
		"Hello! I am a small agent. I may read the files of %q, but not write them: what I want written I propose, and a person decides.", a.Files))
	if err != nil {
		return err
	}
	return a.propose(ctx)
}

// toolCall is the params of tools/call.
type toolCall struct {
	Name      string        `json:"name"`
	Arguments fileArguments `json:"arguments"`
}

type fileArguments struct {
	Path    string `json:"path"`
	Content string `json:"content,omitempty"`
}

func (a *agent) propose(ctx context.Context) error {
	p, err := a.room.Propose(ctx, a.Files, "tools/call", toolCall{"write_file", fileArguments{a.Path, a.Content}},
		client.Reason("to show what an approval looks like"))
	if err != nil {
		return err
	}
	a.open = p
	a.OnProposal(p.ID)
	return a.say(ctx, "I would like to write %s. Please approve my proposal, or reject it.", a.Path)
}

// ended is what became of a proposal.
type ended struct {
	client.Outcome
	err error
}

// follow waits for the open proposal's end.
func (a *agent) follow(ctx context.Context, helpers *sync.WaitGroup) <-chan ended {
	if a.open == nil {
		return nil
	}
	p, decided := a.open, make(chan ended, 1)
	helpers.Go(func() {
		outcome, err := p.Wait(ctx)
		decided <- ended{outcome, err}
	})
	return decided
}

// next waits until there is something to answer, and answers it. It returns
// when the open proposal is another one than before.
func (a *agent) next(ctx context.Context, asked <-chan *parley.Envelope, decided <-chan ended) error {
	for {
		select {
		case e := <-decided:
			if e.Decision == "" {
				return e.err
			}
			return a.comment(ctx, e)
		case <-asked:
			if a.open == nil {
				return a.propose(ctx)
			}
			if err := a.say(ctx, "My proposal is still open: please approve it, or reject it."); err != nil {
				return err
			}
		case <-a.room.Done():
			return a.room.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// listen hears who asks for a proposal.
func (a *agent) listen(ctx context.Context, asked chan<- *parley.Envelope) {
	for e, err := range a.room.Envelopes(ctx) {
		if err != nil {
			continue // a gap, or the last that comes
		}
		if !a.isAsked(e) {
			continue
		}
		select {
		case asked <- e:
		case <-ctx.Done():
			return
		}
	}
}

// isAsked reports whether somebody says "propose" to everybody or to the agent.
func (a *agent) isAsked(e *parley.Envelope) bool {
	if e.Kind != parley.KindChat || e.From == a.room.ID() || len(e.To) > 0 && !e.Addressed(a.room.ID()) {
		return false
	}
	text, _ := parley.MemberString(e.Payload, "text")
	return strings.Contains(strings.ToLower(text), "propose")
}

// comment says what the agent makes of a decision.
func (a *agent) comment(ctx context.Context, e ended) error {
	defer func() { a.open = nil }()
	const again = "Say “propose” if you want me to try again."
	switch e.Decision {
	case client.Fulfilled, client.Amended:
		if e.err != nil {
			return a.say(ctx, "%s agreed, but it did not work: %v. %s", e.By, e.err, again)
		}
		return a.say(ctx, "Approved by %s, thank you. %s says: %s\nNow %s reads: %s", e.By, a.Files, words(e.Reply), a.Path, a.readBack(ctx))
	case client.Rejected:
		why := e.Reason
		if e.Message != "" {
			why += ", “" + e.Message + "”"
		}
		return a.say(ctx, "%s said no (%s), so nothing was written. %s", e.By, why, again)
	case client.Expired:
		return a.say(ctx, "Nobody decided in time, so nothing was written. %s", again)
	}
	return a.say(ctx, "The proposal was %s, so nothing was written. %s", e.Decision, again)
}

// readBack reads the file by the agent's own right.
func (a *agent) readBack(ctx context.Context) string {
	reply, err := a.room.Request(ctx, a.Files, "tools/call", toolCall{"read_file", fileArguments{Path: a.Path}})
	if err != nil {
		return err.Error()
	}
	return words(reply)
}

// words are the first text of a tool's result.
func words(r *client.Reply) string {
	for block := range parley.Elements(parley.Member(r.Result, "content")) {
		if text, ok := parley.MemberString(block, "text"); ok {
			return strings.TrimSpace(text)
		}
	}
	return "(nothing)"
}

// say chats about the open proposal.
func (a *agent) say(ctx context.Context, format string, args ...any) error {
	var about []client.SendOption
	if a.open != nil {
		about = append(about, client.Correlate(a.open.ID))
	}
	_, err := a.room.Chat(ctx, fmt.Sprintf(format, args...), about...)
	return err
}
