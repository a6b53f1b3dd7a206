package soak

import (
	"fmt"
	"os"

	"github.com/parleyhq/parley"
)

// The bounds. Of each space a gateway keeps the ids and digests of the newest
// envelopes, with what became of proposals, and the frames of the newest traffic.
// So much is allowed, and no more.
const (
	remembered  = 1 << 16 // envelopes of a space whose ids are known
	perEnvelope = 512     // bytes of heap for each, with its place in a checkpoint that is being made
	perContext  = 3 << 9  // the same for each of the contexts that are known, a third of it lasting
	retained    = 8 << 20 // bytes of frames of a space
)

// bounds say by how much a figure may be above the measure once everybody has
// left, beside what is remembered. Idle readers of the journal and the program's
// own rhythms are in them.
var bounds = [watched]float64{
	goroutines: 6,
	files:      14, // four readers of the journal with three or four each, of which one was there
	resident:   48 << 20,
	heap:       16 << 20,
	live:       8 << 20,
}

// share says how many bytes of a figure go with a byte that is remembered. The
// collector lets the heap become twice as large as what is alive; the race
// detector has four bytes of shadow for each of the heap.
func (r *Report) share(f figure) float64 {
	switch {
	case f == heap || f == live:
		return 2
	case f == resident && r.Race:
		return 10
	case f == resident:
		return 3
	}
	return 0
}

// recall is what may be remembered of one moment to the next, in bytes.
func recall(from, to sample) (bytes float64) {
	for _, space := range []string{keeps, drops} {
		bytes += memory(to.figures, space) - memory(from.figures, space)
	}
	return bytes
}

// memory is what may be remembered of a space by now.
func memory(f figures, name string) (bytes float64) {
	label := fmt.Sprintf("space=%q", name)
	admitted := f.sum("parley_envelopes_admitted_total", label)
	bytes = min(remembered, admitted)*perEnvelope + f.sum("parley_contexts_remembered", label)*perContext
	if frames := f.sum("parley_frames_delivered_total", label); frames > 0 {
		bytes += min(retained, admitted*f.sum("parley_delivered_bytes_total", label)/frames)
	}
	return bytes
}

// returned says which figures have not come back to the measure.
func (r *Report) returned(q Quiet) (faults []string) {
	more := recall(r.Measure.sample, q.sample)
	for i, a := range about {
		most := r.Measure.values[i] + bounds[i] + r.share(figure(i))*more
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
	more := recall(last[0], last[len(last)-1])
	for _, f := range []figure{resident, live} {
		m := mean(last, 0, 1).values[f]
		most := max(riseShare*m, riseBase[f]) + r.share(f)*more
		if rise := r.rise(f); rise > most {
			faults = append(faults, fmt.Sprintf("%s grew by %.1f in the last half, at %.1f; up to %.1f would be in order",
				about[f].name, rise/about[f].unit, m/about[f].unit, most/about[f].unit))
		}
	}
	return faults
}

// How much memory may grow in the last half, whatever is remembered: a share of
// what there is, at least some bytes.
const riseShare = 0.05

var riseBase = [watched]float64{resident: 48 << 20, live: 8 << 20}

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
	"wove contexts", "asked about contexts", "replay broken off", "received what is in no context", "joined with odd contexts",
}

// wantedCodes are what the gateway has to have refused with.
var wantedCodes = []parley.Code{
	parley.MalformedEnvelope, parley.EnvelopeTooLarge, parley.UnsupportedProtocol, parley.IdentityMismatch,
	parley.ReservedKind, parley.RateLimited, parley.InvalidKind, parley.KindMismatch, parley.CapabilityViolation,
	parley.InvalidContext, parley.ContextLimit, parley.MissingCorrelation, parley.LimitReached, parley.DuplicateID,
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

// mostOvertaken is how many readings retention may overtake: a few each time
// that it drops something.
const mostOvertaken = 100

// finish judges.
func (r *Report) finish(t *tally) {
	r.Deeds = t.counts()
	r.Faults = t.all()
	r.Faults = append(r.Faults, missing(r.Deeds, r.End.figures)...)
	if n := r.Deeds[overtakenDeed]; n > mostOvertaken {
		r.Faults = append(r.Faults, fmt.Sprintf("%s: readings were overtaken by retention %d times; %d would be in order", drops, n, mostOvertaken))
	}
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
