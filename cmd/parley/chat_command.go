package main

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// commands are what lines may begin with, and whether more has to follow.
var commands = map[string]bool{
	"/help": false, "/quit": false, "/who": false, "/proposals": false,
	"/say": true, "/to": true, "/approve": true, "/reject": true,
	"/decline": false, "/cancel": false, "/back": false, "/skip": false,
}

// formCommand are those that mean something else in a form.
var formCommand = map[string]bool{"/help": true, "/decline": true, "/cancel": true, "/back": true, "/skip": true}

var chatHelp = []string{
	"TEXT                 say it to everybody; //TEXT says what begins with a /",
	"/to ID[,ID] TEXT     say it to somebody; everybody can read it",
	"/who                 who is here",
	"/proposals           what waits for a decision",
	"/approve ID [TARGET] do what is proposed, in your name",
	"/reject ID [WHY]     say no to it",
	"/quit                leave, as Ctrl-D and Ctrl-C do",
}

var formHelp = []string{
	"A line answers the question. A choice is answered by its number, or its name; several",
	"of them as 1,3. An empty line takes what stands in brackets, \"\" is the empty text.",
	"/skip                leave this question out",
	"/back                the question before",
	"/decline             say no to the whole form",
	"/cancel              put the form away, as Ctrl-C does",
	"/say TEXT            say something to everybody; /to, /who, /quit and others work as well",
	"//skip               the answer \"/skip\"",
}

// commandIn finds the command in a line. What begins like one and is none, as
// /usr/bin, is text.
func commandIn(text string) (name, rest string, ok bool) {
	name, rest, _ = strings.Cut(strings.TrimSpace(text), " ")
	takesMore, ok := commands[name]
	rest = strings.TrimSpace(rest)
	return name, rest, ok && (takesMore || rest == "")
}

func isCommand(text string) bool {
	_, _, ok := commandIn(text)
	return ok
}

// command carries out a line that answers no form.
func (c *chat) command(ctx context.Context, text string) {
	name, rest, ok := commandIn(text)
	switch {
	case strings.TrimSpace(text) == "":
		c.ask()
	case strings.HasPrefix(text, "//"):
		c.chat(ctx, text[1:])
	case !ok && strings.HasPrefix(text, "/"):
		c.say(cutAt(clean(name), narrow) + " is not known, or stands alone: /help lists what can be typed; //… says it")
	case !ok:
		c.chat(ctx, text)
	case commands[name] && rest == "":
		c.say(name + " needs more: /help says what")
	default:
		c.obey(ctx, name, rest)
	}
}

func (c *chat) obey(ctx context.Context, name, rest string) {
	first, more, _ := strings.Cut(rest, " ")
	more = strings.TrimSpace(more)
	switch name {
	case "/help":
		c.say(chatHelp...)
	case "/quit":
		c.leave(nil)
	case "/who":
		c.who()
	case "/proposals":
		c.proposals(ctx)
	case "/say":
		c.chat(ctx, rest)
	case "/to":
		c.chat(ctx, more, strings.Split(first, ",")...)
	case "/approve":
		c.approve(ctx, first, more)
	case "/reject":
		c.reject(ctx, first, more)
	default:
		c.say("No form is open.")
	}
}

// chat says something, to everybody or to some.
func (c *chat) chat(ctx context.Context, text string, to ...string) {
	if text == "" || slices.Contains(to, "") {
		c.say("Say what, and to whom? /help lists what can be typed.")
		return
	}
	if c.answersOnly {
		c.say("Nothing is said with --forms.")
		return
	}
	c.errand(ctx, func(ctx context.Context) func() {
		_, err := c.room.Chat(ctx, text, client.To(to...))
		return c.told(err)
	})
}

// told shows what went wrong, if anything did.
func (c *chat) told(err error) func() {
	return func() {
		if err != nil {
			c.t.printError(asError(err))
		}
		if c.open != nil {
			c.ask()
		}
	}
}

func (c *chat) who() {
	for _, p := range c.room.Participants() {
		line := c.t.errPalette().name(clean(p.ID))
		if p.ID == c.room.ID() {
			line += " (you)"
		}
		c.say("  " + line)
	}
}

func (c *chat) proposals(ctx context.Context) {
	c.errand(ctx, func(ctx context.Context) func() {
		list, err := openProposals(ctx, c.api)
		return func() {
			if err == nil && len(list) == 0 {
				c.say("Nothing waits for a decision.")
			}
			for _, e := range list {
				c.tell(e, false)
			}
			c.told(err)()
		}
	})
}

// approve shows uncut what somebody proposed, and makes the request; where something
// speaks against that, only when it is told to again. The answer comes as everything does.
func (c *chat) approve(ctx context.Context, name, target string) {
	c.errand(ctx, func(ctx context.Context) func() {
		proposal, err := c.proposal(ctx, name)
		if err != nil {
			return c.told(err)
		}
		if parley.SplitKind(proposal.Kind).Type != parley.TypeProposal {
			return c.told(parley.Errorf(parley.ProposalNotFound, "%.130q is no proposal, but %.200s", name, proposal.Kind).
				WithHint("/proposals lists those that wait"))
		}
		doubts := c.doubts(ctx, proposal, target)
		return func() {
			c.tell(proposal, true)
			if about := proposal.ID + strings.Join(doubts, "\n"); len(doubts) > 0 && c.doubted != about {
				c.doubted = about
				for _, doubt := range doubts {
					c.say("! " + doubt)
				}
				c.say("Nothing was approved yet: the same again approves it.")
				c.told(nil)()
				return
			}
			body := members{}.say("to", target)
			c.errand(ctx, func(ctx context.Context) func() {
				return c.told(c.decide(ctx, proposal.ID, "fulfil", body))
			})
		}
	})
}

// tell shows something that is on record, for people.
func (c *chat) tell(e *parley.Envelope, full bool) {
	r := &renderer{w: c.t.err, paint: c.t.errPalette(), full: full}
	if c.printer.r != nil {
		r.day = c.printer.r.day
	}
	_ = r.write(e) // it only informs
}

func (c *chat) proposal(ctx context.Context, name string) (*parley.Envelope, error) {
	id, err := findProposal(ctx, c.api, name)
	if err != nil {
		return nil, err
	}
	return readProposal(ctx, c.api, id)
}

func (c *chat) reject(ctx context.Context, name, why string) {
	c.errand(ctx, func(ctx context.Context) func() {
		id, err := findProposal(ctx, c.api, name)
		if err == nil {
			err = c.decide(ctx, id, "reject", members{{"reason", quote("disagree")}}.say("message", why))
		}
		return c.told(err)
	})
}

func (c *chat) decide(ctx context.Context, id, verb string, body members) error {
	resp, err := c.api.do(ctx, http.MethodPost, pathOf("/proposals/%s/"+verb, id), nil, body.object())
	if err != nil {
		return err
	}
	defer resp.Body.Close() // what it says of its place comes by itself
	return nil
}
