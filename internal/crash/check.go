package crash

import (
	"fmt"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// Checker holds promises against what is on record.
//
// Each time, take the promises first and read the record after that: then
// everything that was promised has to be among the records.
//
//	promises := ledger.Take()
//	for r := range records { // that were not read before
//		c.Record(r)
//	}
//	c.Check(promises)
//
// It keeps a few words for each envelope, and nothing that was received and
// found right.
type Checker struct {
	views map[string]*shown
	chain *journal.Verifier

	epoch   string
	last    uint64              // of the newest envelope
	records map[string]envelope // by id
	refused map[string]bool     // ids that must not be on record
	ends    map[string]string   // of proposals that ended: by which envelope
	answers map[string]string   // to requests: by which envelope
	acted   map[string]string   // proposals that were acted on: for which request
	ordered map[string]bool     // ids that are to be redacted, or are

	checkpoints, markers int
	dropped              uint64 // records

	faults []string
	more   int // faults that are not kept
}

type envelope struct {
	seq  uint64
	from string
	open bool // a proposal
}

// mostFaults is how many are kept in words.
const mostFaults = 50

// NewChecker checks what participants with these views are told. Others may
// send, but are not followed as receivers.
func NewChecker(views ...View) *Checker {
	c := &Checker{
		views:   make(map[string]*shown),
		chain:   journal.NewVerifier(journal.Origin(spaceName)),
		records: make(map[string]envelope),
		refused: make(map[string]bool),
		ends:    make(map[string]string),
		answers: make(map[string]string),
		acted:   make(map[string]string),
		ordered: make(map[string]bool),
	}
	for _, v := range views {
		c.views[v.Me] = &shown{View: v}
	}
	return c
}

// Head is the end of the chain as far as it was read.
func (c *Checker) Head() journal.Head { return c.chain.Head() }

// Faults are the promises that were broken, in words.
func (c *Checker) Faults() []string {
	if c.more == 0 {
		return c.faults
	}
	return append(c.faults[:len(c.faults):len(c.faults)], fmt.Sprintf("and %d more", c.more))
}

func (c *Checker) fault(format string, args ...any) {
	if len(c.faults) == mostFaults {
		c.more++
		return
	}
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// Record takes the next record of the chain.
func (c *Checker) Record(r *journal.Record) {
	if err := c.chain.Check(r); err != nil {
		c.fault("%v", err)
	}
	if c.epoch == "" {
		c.epoch = r.Epoch
	}
	if r.Epoch != c.epoch {
		c.fault("record %d is of the epoch %s, those before of %s", r.Index, r.Epoch, c.epoch)
	}
	switch r.Type {
	case journal.Admitted:
		c.envelope(r)
	case journal.Checkpoint:
		c.checkpoints++
	case journal.Marker:
		c.marker(r)
	}
}

func (c *Checker) marker(r *journal.Record) {
	d, err := r.DecodeMarker()
	if err != nil {
		c.fault("%v", err)
	}
	c.markers++
	c.dropped += d.Records
}

func (c *Checker) envelope(r *journal.Record) {
	if r.Seq != c.last+1 {
		c.fault("seq %d follows %d", r.Seq, c.last)
	}
	c.last = r.Seq
	if before, ok := c.records[r.ID]; ok {
		c.fault("%s is on record twice, at %d and %d", r.ID, before.seq, r.Seq)
	}
	if c.refused[r.ID] {
		c.fault("%s was refused, and is on record at %d", r.ID, r.Seq)
	}
	if r.Kind == parley.KindRedact {
		id, _ := parley.MemberString(parley.Member(r.Body, "payload"), "id")
		c.ordered[id] = true
	}
	typ, _, _ := strings.Cut(r.Effective, ":")
	c.records[r.ID] = envelope{r.Seq, r.From, typ == parley.TypeProposal}
	c.decide(typ, r)
	for _, v := range c.views {
		if r.Seq > v.floor && v.Shows(r) {
			v.ahead = append(v.ahead, place{r.ID, r.Seq, digest(r.Body)})
		}
	}
}

// decide follows the ends of proposals and the answers to requests.
func (c *Checker) decide(typ string, r *journal.Record) {
	once := func(what string, ends map[string]string, id string) {
		if by, ok := ends[id]; ok {
			c.fault("%s %s has two ends: %s, and %s at %d", what, id, by, r.ID, r.Seq)
			return
		}
		ends[id] = r.ID
	}
	for _, id := range r.Correlations {
		switch typ {
		case parley.TypeResponse:
			once("the request", c.answers, id)
		case parley.TypeRequest, parley.TypeReject, parley.TypeWithdraw:
			if c.records[id].open {
				once("the proposal", c.ends, id)
			}
		}
	}
}

// Check holds promises against the records so far.
func (c *Checker) Check(promises []Promise) {
	for _, p := range promises {
		c.check(p)
	}
}

func (c *Checker) check(p Promise) {
	switch p.Type {
	case Joined, Welcomed:
		c.welcomed(p)
	case Acknowledged:
		c.acknowledged(p)
	case Refused, Unwritten:
		c.refused[p.ID] = true
		if r, ok := c.records[p.ID]; ok {
			c.fault("%s: %s was refused, and is on record at %d", p.Who, p.ID, r.seq)
		}
	case Delivered:
		c.delivered(p)
	case Torn:
		c.fault("%s: could not resume after %d", p.Who, p.Seq)
	case Ended:
		if by := c.ends[p.ID]; by != p.Ref {
			c.fault("%s: was told that %s ended the proposal %s; on record it is %q", p.Who, p.Ref, p.ID, by)
		}
	case Undecided:
		c.fault("%s: the proposal %s was not decided in time", p.Who, p.ID)
	case Acted:
		c.act(p)
	case Bereft:
		c.fault("%s: a right that was given is gone", p.Who)
	case Stolen:
		c.fault("%s: used a right at %d that was taken", p.Who, p.Seq)
	}
}

func (c *Checker) welcomed(p Promise) {
	if c.epoch != "" && p.Epoch != c.epoch {
		c.fault("%s: was welcomed in the epoch %s, the record is of %s", p.Who, p.Epoch, c.epoch)
	}
	if p.Seq > c.last {
		c.fault("%s: was welcomed at seq %d, the record ends at %d", p.Who, p.Seq, c.last)
	}
	v := c.views[p.Who]
	if p.Type == Welcomed || v == nil {
		return
	}
	v.joined = true
	v.drop(p.Seq)
}

// drop forgets what came before somebody joined.
func (v *shown) drop(upTo uint64) {
	v.floor = max(v.floor, upTo)
	for len(v.ahead) > 0 && v.ahead[0].seq <= upTo {
		v.ahead = v.ahead[1:]
	}
}

func (c *Checker) acknowledged(p Promise) {
	r, ok := c.records[p.ID]
	switch {
	case !ok:
		c.fault("%s: %s was acknowledged at %d, and is not on record", p.Who, p.ID, p.Seq)
	case r.seq != p.Seq || r.from != p.Who || p.Epoch != "" && p.Epoch != c.epoch:
		c.fault("%s: %s was acknowledged at %s/%d; on record it is at %s/%d, from %s", p.Who, p.ID, p.Epoch, p.Seq, c.epoch, r.seq, r.from)
	}
}

func (c *Checker) delivered(p Promise) {
	v := c.views[p.Who]
	switch r, ok := c.records[p.ID]; {
	case !ok || r.seq != p.Seq:
		c.fault("%s: %s was delivered at %d, and is not on record there", p.Who, p.ID, p.Seq)
		return
	case v == nil || !v.joined:
		return
	case p.Seq <= v.floor:
		c.fault("%s: %d came again, or late, after %d", p.Who, p.Seq, v.floor)
		return
	}
	v.floor = p.Seq
	for i, next := range v.ahead {
		if next.seq >= p.Seq {
			c.arrived(v, p, next)
			v.ahead = v.ahead[i:]
			if next.seq == p.Seq {
				v.ahead = v.ahead[1:]
			}
			return
		}
		c.fault("%s: %d (%s) never came; %d came next", p.Who, next.seq, next.id, p.Seq)
	}
	v.ahead = nil
	c.fault("%s: %d (%s) came through a filter that does not let it", p.Who, p.Seq, p.ID)
}

func (c *Checker) arrived(v *shown, p Promise, next place) {
	switch {
	case next.seq != p.Seq:
		c.fault("%s: %d (%s) came through a filter that does not let it", v.Me, p.Seq, p.ID)
	case next.digest != p.Digest && !c.ordered[p.ID]:
		c.fault("%s: %d (%s) is on record with other content", v.Me, p.Seq, p.ID)
	}
}

func (c *Checker) act(p Promise) {
	if r, ok := c.records[p.ID]; !ok {
		c.fault("%s: acted on %s, which is not on record", p.Who, p.ID)
	} else if by := c.ends[p.Ref]; by != p.ID {
		c.fault("%s: acted on %s at %d for the proposal %s, which %q ended", p.Who, p.ID, r.seq, p.Ref, by)
	}
	if before, ok := c.acted[p.Ref]; ok {
		c.fault("%s: the proposal %s was acted on twice: for %s and %s", p.Who, p.Ref, before, p.ID)
	}
	c.acted[p.Ref] = p.ID
}

// Close says what somebody who waited until everything up to seq had come did
// not receive. It is called once, at the end.
func (c *Checker) Close(seq uint64) {
	for _, v := range c.views {
		if !v.joined {
			c.fault("%s: never joined", v.Me)
			continue
		}
		for _, next := range v.ahead {
			if next.seq <= seq {
				c.fault("%s: %d (%s) never came", v.Me, next.seq, next.id)
			}
		}
	}
}
