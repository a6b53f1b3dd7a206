package crash

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// Report is what a run saw.
type Report struct {
	Seed   uint64
	Rounds []Round

	Acknowledged int
	Delivered    int
	Refused      int
	Ended        int // proposals whose end was told to their proposer
	Acted        int // fulfilments that the server was asked for
	Resent       int64
	Reconnects   int64
	Records      uint64 // in the chain
	Envelopes    uint64
	Checkpoints  int
	Markers      int    // how often something was dropped
	Dropped      uint64 // records
	Redacted     int
	Head         string
	Faults       []string
}

// Round is one life of the gateway.
type Round struct {
	Number       int
	Lived        time.Duration
	Recovery     time.Duration // from its start to the first welcome; 0: killed before that
	Acknowledged int           // since the round before
	Delivered    int
	Records      uint64 // on record so far
}

func (r *Report) add(round Round, t *trial) {
	round.Acknowledged = t.ledger.Total(Acknowledged) - r.Acknowledged
	round.Delivered = t.ledger.Total(Delivered) - r.Delivered
	round.Records = t.checker.Head().Index
	r.Rounds = append(r.Rounds, round)
	r.count(t)
}

func (r *Report) count(t *trial) {
	r.Acknowledged, r.Delivered = t.ledger.Total(Acknowledged), t.ledger.Total(Delivered)
	r.Refused, r.Ended, r.Acted = t.ledger.Total(Refused), t.ledger.Total(Ended), t.ledger.Total(Acted)
	head := t.checker.Head()
	r.Records, r.Envelopes, r.Head = head.Index, head.Seq, head.String()
	r.Checkpoints, r.Markers, r.Dropped, r.Redacted = t.checker.checkpoints, t.checker.markers, t.checker.dropped, len(t.checker.ordered)
	r.Faults = t.checker.Faults()
}

func (r *Report) finish(t *trial) {
	r.count(t)
	for _, room := range t.load.rooms {
		s := room.Stats()
		r.Resent += s.Resent
		r.Reconnects += s.Reconnects
	}
}

// Recoveries are the times from a start to the first welcome, sorted.
func (r *Report) Recoveries() []time.Duration {
	var all []time.Duration
	for _, round := range r.Rounds {
		if round.Recovery > 0 {
			all = append(all, round.Recovery)
		}
	}
	slices.Sort(all)
	return all
}

func (r *Report) header(w io.Writer) {
	fmt.Fprintf(w, "%5s %9s %12s %10s %9s %10s\n", "round", "lived", "acknowledged", "delivered", "welcome", "on record")
}

func (r Round) print(w io.Writer) {
	recovery := "-"
	if r.Recovery > 0 {
		recovery = r.Recovery.Round(100 * time.Microsecond).String()
	}
	fmt.Fprintf(w, "%5d %9s %12d %10d %9s %10d\n", r.Number, r.Lived.Round(time.Millisecond), r.Acknowledged, r.Delivered, recovery, r.Records)
}

// Print writes what the whole run came to.
func (r *Report) Print(w io.Writer) {
	if len(r.Rounds) > 0 {
		fmt.Fprintf(w, "%d kills: ", len(r.Rounds))
	}
	fmt.Fprintf(w, "%d acknowledged, %d delivered, %d refused, %d proposals ended, %d acted on\n",
		r.Acknowledged, r.Delivered, r.Refused, r.Ended, r.Acted)
	fmt.Fprintf(w, "%d envelopes and %d refusals on record; %d reconnects, %d envelopes sent again\n",
		r.Envelopes, r.Records-r.Envelopes-uint64(r.Checkpoints+r.Markers), r.Reconnects, r.Resent)
	fmt.Fprintf(w, "%d checkpoints; %d redactions; %d records dropped, at %d times\n", r.Checkpoints, r.Redacted, r.Dropped, r.Markers)
	if all := r.Recoveries(); len(all) > 0 {
		fmt.Fprintf(w, "start to first welcome: min %v, median %v, max %v (%d starts)\n",
			all[0].Round(100*time.Microsecond), all[len(all)/2].Round(100*time.Microsecond), all[len(all)-1].Round(100*time.Microsecond), len(all))
	}
	for _, fault := range r.Faults {
		fmt.Fprintln(w, "BROKEN:", fault)
	}
	fmt.Fprintf(w, "%d promises broken; seed %d\n", len(r.Faults), r.Seed)
}
