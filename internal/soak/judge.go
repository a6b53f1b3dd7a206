package soak

import (
	"fmt"
	"os"

	"github.com/parleyhq/parley"
)

// The bounds. Per envelope a gateway keeps an id and a digest of the newest
// remembered envelopes of each space, and what became of its proposals; so much
// is allowed, and no more.
const (
	remembered  = 1 << 16 // envelopes of a space whose ids are known
	perEnvelope = 512     // bytes of heap for each
)

// bounds say by how much a figure may be above the measure once everybody has
// left, beside what is remembered. Idle readers of the journal and the program's
// own rhythms are in them.
var bounds = [watched]float64{
	goroutines: 6,
	files:      10,
	resident:   64 << 20,
	heap:       16 << 20,
	live:       16 << 20,
}

// memoryOf says how much of what is remembered a figure has to hold: resident
// memory has it with the garbage beside it, and in a program with the race
// detector with its shadow.
var memoryOf = [watched]float64{resident: 6, heap: 2, live: 2}

// recall is what may be remembered since the measure was taken, in bytes.
func (r *Report) recall(from, to figures) (bytes float64) {
	const admitted = "parley_envelopes_admitted_total"
	for _, space := range []string{keeps, drops} {
		label := fmt.Sprintf("space=%q", space)
		before := min(remembered, from.sum(admitted, label))
		bytes += (min(remembered, to.sum(admitted, label)) - before) * perEnvelope
	}
	return bytes
}

// returned says which figures have not come back to the measure.
func (r *Report) returned(q Quiet) (faults []string) {
	recall := r.recall(r.Measure.figures, q.figures)
	for i, a := range about {
		most := r.Measure.values[i] + bounds[i] + memoryOf[i]*recall
		if q.values[i] > most {
			faults = append(faults, fmt.Sprintf("%s: %.1f when everybody had left, %.1f at the measure; up to %.1f would be in order",
				a.name, q.values[i]/a.unit, r.Measure.values[i]/a.unit, most/a.unit))
		}
	}
	return faults
}

// rising says whether memory went on growing over the last half of the time,
// by a fitted line.
func (r *Report) rising() (faults []string) {
	last := r.lastHalf()
	for _, f := range []figure{resident, live} {
		m := mean(last, 0, 1).values[f]
		most := max(riseShare*m, riseBase) + memoryOf[f]*r.recall(r.Measure.figures, r.End.figures)
		if rise := r.rise(f); rise > most {
			faults = append(faults, fmt.Sprintf("%s grew by %.1f in the last half, at %.1f; up to %.1f would be in order",
				about[f].name, rise/about[f].unit, m/about[f].unit, most/about[f].unit))
		}
	}
	return faults
}

const (
	riseShare = 0.05
	riseBase  = 16 << 20 // bytes
)

// rise is by how much a figure grew in the last half, by a fitted line.
func (r *Report) rise(f figure) float64 {
	last := r.lastHalf()
	return slope(last, f) * (last[len(last)-1].at - last[0].at).Seconds()
}

func (r *Report) lastHalf() []sample { return r.Samples[len(r.Samples)/2:] }

// wanted is what has to have been seen: of a gateway that nobody troubles
// nothing is learnt.
var wanted = []string{
	"sent", "posted", "posted twice", "received", "resumed", "resumed after being too slow",
	"was removed", "was replaced",
	"proposed", "proposal fulfilled", "proposal rejected", "proposal withdrawn", "proposal expired",
	"called", "answered with an error", "call given up", "killed a bridged server",
	"granted", "used a grant", "revoked", "redacted", "kicked",
	"read", "searched", "chain read", "looked", "exported", "export broken off", "verified beside the gateway", "scraped",
	"heard a refusal", "closed for breaking the protocol", "closed for flooding", "closed for being too slow",
	"sent bytes one by one", "refused over HTTP",
}

// wantedCodes are what the gateway has to have refused with.
var wantedCodes = []parley.Code{
	parley.MalformedEnvelope, parley.EnvelopeTooLarge, parley.UnsupportedProtocol, parley.IdentityMismatch,
	parley.ReservedKind, parley.RateLimited, parley.InvalidKind, parley.KindMismatch, parley.CapabilityViolation,
	parley.InvalidContext, parley.MissingCorrelation, parley.LimitReached, parley.DuplicateID,
}

// missing says what of that was not seen.
func missing(deeds map[string]int, f figures) (faults []string) {
	for _, deed := range wanted {
		if deeds[deed] == 0 {
			faults = append(faults, "never seen: "+deed)
		}
	}
	for _, code := range wantedCodes {
		if f.sum("parley_envelopes_refused_total", fmt.Sprintf("code=%q", code)) == 0 {
			faults = append(faults, fmt.Sprintf("never refused: %s", code))
		}
	}
	return faults
}

// finish judges.
func (r *Report) finish(t *tally) {
	r.Deeds = t.counts()
	r.Faults = t.all()
	r.Faults = append(r.Faults, missing(r.Deeds, r.End.figures)...)
	r.Faults = append(r.Faults, r.returned(r.End)...)
	r.Faults = append(r.Faults, r.rising()...)
}

// listen looks for faults in what the gateway said on its standard error.
func (s *soak) listen() error {
	said, err := os.Open(s.gateway.said)
	if err != nil {
		return err
	}
	defer said.Close()
	faults, err := heard(said)
	for _, f := range faults {
		s.tally.fault("%s", f)
	}
	return err
}
