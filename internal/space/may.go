package space

import (
	"errors"
	"strings"
	"time"

	"github.com/parleyhq/parley"
)

// Answer says whether somebody may send an envelope, and what decides it.
type Answer struct {
	Kind    string // the effective kind; "" where it could not be read
	Allowed bool
	Depends bool              // on the params, which the question left open
	By      parley.Capability // the pattern that decides, if one does, or comes nearest
	Needs   parley.Capability // the narrowest pattern of kinds that would allow it, where none does
	Why     string            // in a sentence
	Refusal *parley.Error     // what its sender would be told; nil where it is allowed or depends
}

// May answers whether somebody may send an envelope now, by the judgement that
// it would meet, but for its id and the sender's rate. Without a payload it is held
// against the capabilities alone, whatever the params would be. The question counts
// as one envelope of who asks; the error says that these come too fast.
func (s *State) May(asker, from string, e *parley.Envelope, now time.Time) (Answer, error) {
	if err := s.Charge(asker, now); err != nil {
		return Answer{}, err
	}
	j := judgement{State: s, from: from, e: e, now: now, free: true} // nothing is taken from the sender's rate
	return j.answer(), nil
}

func (j *judgement) answer() (a Answer) {
	for _, check := range [...]func() error{j.identity, j.remember, j.reserved, j.readAsked} {
		if err := check(); err != nil {
			return a.refuse(err, "")
		}
	}
	a = j.byCapability()
	if j.e.Payload == nil || !a.Allowed {
		return a
	}
	for _, check := range [...]func() error{j.correlation, j.context, j.meaning} {
		if err := check(); err != nil {
			return a.refuse(err, "the capabilities allow it, but it would be refused: ")
		}
	}
	return a
}

// readAsked is readKind, also of a question without a payload.
func (j *judgement) readAsked() error {
	if j.e.Payload != nil {
		return j.readKind()
	}
	if err := j.parseKind(); err != nil {
		return err
	}
	return parley.CheckSubject(j.kind)
}

// byCapability is [judgement.capability] with its grounds.
func (j *judgement) byCapability() (a Answer) {
	action := j.action()
	asks := j.kind.Type == parley.TypeRequest || j.kind.Type == parley.TypeProposal
	g := weigh(j.Capabilities(j.from), &action, j.e.Payload == nil && asks && j.strict())
	a = Answer{Kind: j.kind.String(), By: g.by}
	if g.extent == parley.Sometimes {
		a.Depends, a.Why = true, "it depends on the params, which this pattern looks at"
		return a
	}
	switch err := j.capability(); {
	case err != nil:
		return a.refuse(err, "").explain(nearest(j.Capabilities(j.from), &action))
	case g.extent == parley.Always:
		a.Allowed, a.Why = true, "this pattern matches, and no denial does"
	default:
		a.Allowed, a.Why = true, "no capability is needed for it: a proposer takes back a proposal, or goes on with an approved call"
	}
	return a
}

// explain says of a refusal for want of a capability what stands in the way, or
// is missing, and which grant came nearest.
func (a Answer) explain(near parley.Capability) Answer {
	switch {
	case a.Refusal.Code != parley.CapabilityViolation:
	case !a.By.IsZero():
		a.Why = "this denial matches, and a denial wins over any number of grants"
	default:
		a.Why = "no pattern matches"
		if !near.IsZero() {
			a.By, a.Why = near, "no pattern matches; this one asks for other params"
		}
		a.Needs, _ = parley.ParseCapability(strings.ReplaceAll(a.Kind, "*", `\*`)) // of a kind that was read
	}
	return a
}

// nearest is a grant that would allow the action with other params.
func nearest(caps parley.Capabilities, a *parley.Action) (near parley.Capability) {
	for _, c := range caps {
		if !c.Deny() && (parley.Capabilities{c}).Extent(a) > parley.Never {
			return c
		}
	}
	return near
}

// refuse makes it a no, for a reason.
func (a Answer) refuse(err error, but string) Answer {
	a.Allowed = false
	refusal, ok := errors.AsType[*parley.Error](err)
	if !ok {
		refusal = parley.Errorf(parley.Internal, "the gateway failed to judge this envelope")
	}
	a.Refusal, a.Why = refusal, but+refusal.Message
	return a
}

// grounds are how far a set allows something, and the capability that decides.
type grounds struct {
	extent parley.Extent
	by     parley.Capability
}

var everything = parley.MustCapability("*")

// weigh holds each capability against an action by itself. What comes out is
// what the whole set says.
func weigh(caps parley.Capabilities, a *parley.Action, unknown bool) grounds {
	extent := func(set ...parley.Capability) parley.Extent {
		switch s := parley.Capabilities(set); {
		case unknown:
			return s.Extent(a)
		case s.Allow(a):
			return parley.Always
		}
		return parley.Never
	}
	var given, doubt grounds
	for _, c := range caps {
		if !c.Deny() {
			if x := extent(c); x > given.extent {
				given = grounds{x, c}
			}
			continue
		}
		switch extent(everything, c) {
		case parley.Never:
			return grounds{parley.Never, c}
		case parley.Sometimes:
			doubt = grounds{parley.Sometimes, c}
		}
	}
	if given.extent == parley.Always && doubt.extent == parley.Sometimes {
		return doubt
	}
	return given
}
