package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/parleyhq/parley/internal/space"
)

// The keys of limits, as section 14 calls them.
var limitKeys = []string{
	"envelope_bytes", "nesting", "participants", "connections", "history", "lag_envelopes", "lag_bytes",
	"rate", "burst", "context_rate", "context_depth", "open_contexts", "context_metadata_bytes",
	"open_proposals", "proposal_ttl", "context_idle", "approval_wait", "call_timeout",
}

// typeLimitKeys are those that a type of contexts may have of its own.
var typeLimitKeys = []string{"context_rate", "context_depth", "open_contexts", "context_metadata_bytes", "context_idle"}

const (
	kib  = 1 << 10
	mib  = 1 << 20
	gib  = 1 << 30
	tib  = 1 << 40
	pib  = 1 << 50
	many = 1_000_000 // more of anything than one gateway can hold

	minDuration = 10 * time.Millisecond
	day         = 24 * time.Hour
)

// limits reads the limits of a space. The bounds are where a limit stops
// making sense, not where it stops being wise.
func (r *reader) limits(v value) space.Limits {
	l := space.DefaultLimits()
	m := r.keys(v, limitKeys)
	r.size(m["envelope_bytes"], &l.EnvelopeBytes, kib, 64*mib)
	r.count(m["nesting"], &l.Nesting, 8, 1_000)
	r.count(m["participants"], &l.Participants, 1, many)
	r.count(m["connections"], &l.Connections, 1, many)
	r.count(m["history"], &l.History, 1, many)
	r.count(m["lag_envelopes"], &l.LagEnvelopes, 1, many)
	r.size(m["lag_bytes"], &l.LagBytes, kib, gib)
	r.rate(m["rate"], &l.Rate)
	r.count(m["burst"], &l.Burst, 1, many)
	r.contextLimits(m, &l.ContextRate, &l.ContextDepth, &l.OpenContexts, &l.ContextMetadataBytes, &l.ContextIdle)
	r.count(m["open_proposals"], &l.OpenProposals, 1, many)
	r.duration(m["proposal_ttl"], &l.ProposalTTL, minDuration, 365*day)
	r.duration(m["approval_wait"], &l.ApprovalWait, minDuration, time.Hour)
	r.duration(m["call_timeout"], &l.CallTimeout, minDuration, day)
	if l.LagBytes < l.EnvelopeBytes {
		at := m["lag_bytes"]
		if !at.written() {
			at = m["envelope_bytes"]
		}
		r.fail(at, fmt.Sprintf("write lag_bytes: %s or more", sizeText(l.EnvelopeBytes)),
			"lag_bytes is less than envelope_bytes, so that one envelope could close every connection")
	}
	return l
}

// contextLimits reads those of a space that its types of contexts may have too.
func (r *reader) contextLimits(m map[string]value, rate *float64, depth, open, metadata *int, idle *time.Duration) {
	r.rate(m["context_rate"], rate)
	r.count(m["context_depth"], depth, 1, 1_000)
	r.count(m["open_contexts"], open, 1, many)
	r.size(m["context_metadata_bytes"], metadata, 1, mib)
	r.duration(m["context_idle"], idle, minDuration, 365*day)
}

func (r *reader) count(v value, into *int, least, most int) {
	text, ok := r.text(v)
	if !ok {
		return
	}
	n, err := strconv.Atoi(text)
	if err != nil && !isRange(err) {
		r.fail(v, "", "%s is not a whole number", v.title())
		return
	}
	if err != nil || n < least || n > most {
		r.fail(v, "", "%s is out of bounds: it can be %s to %s", v.title(), countText(least), countText(most))
		return
	}
	*into = n
}

func (r *reader) rate(v value, into *float64) {
	text, ok := r.text(v)
	if !ok {
		return
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !isRange(err) || math.IsNaN(f) || strings.ContainsAny(text, "xXpP_") {
		r.fail(v, "write how many per second, as 200 or 0.5", "%s is not a number", v.title())
		return
	}
	if f < 0.001 || f > many {
		r.fail(v, "", "%s is out of bounds: it can be 0.001 to %s per second", v.title(), countText(many))
		return
	}
	*into = f
}

func (r *reader) size(v value, into *int, least, most int) {
	text, ok := r.text(v)
	if !ok {
		return
	}
	n, ok := parseSize(text)
	if !ok {
		r.fail(v, "write a whole number of bytes, or one with KiB, MiB or GiB, as 64KiB", "%s is not a size", v.title())
		return
	}
	if n < least || n > most {
		r.fail(v, "", "%s is out of bounds: it can be %s to %s", v.title(), sizeText(least), sizeText(most))
		return
	}
	*into = n
}

// parseSize reads 65536, 65536B, 64KiB and 64 KiB. What is too large for an
// int is the largest, and out of any bounds.
func parseSize(s string) (int, bool) {
	digits := strings.TrimRight(s, "KMGTPiB")
	factor := 1
	switch s[len(digits):] {
	case "", "B":
	case "KiB":
		factor = kib
	case "MiB":
		factor = mib
	case "GiB":
		factor = gib
	case "TiB":
		factor = tib
	case "PiB":
		factor = pib
	default:
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimRight(digits, " "))
	if err != nil && !isRange(err) {
		return 0, false
	}
	if n > math.MaxInt/factor {
		return math.MaxInt, true
	}
	return max(n, -1) * factor, true
}

func (r *reader) duration(v value, into *time.Duration, least, most time.Duration) {
	text, ok := r.text(v)
	if !ok {
		return
	}
	d, err := time.ParseDuration(text)
	if err != nil && isDuration.MatchString(text) {
		d, err = math.MaxInt64, nil // so long that it cannot be held
	}
	if err != nil || text == "0" {
		hint := "write a number with ms, s, m or h, as 90s or 1h30m"
		if strings.HasSuffix(text, "d") {
			hint = "write days in hours: 1d is 24h"
		}
		r.fail(v, hint, "%s is not a duration", v.title())
		return
	}
	if d < least || d > most {
		r.fail(v, "", "%s is out of bounds: it can be %s to %s", v.title(), durationText(least), durationText(most))
		return
	}
	*into = d
}

// isDuration is what [time.ParseDuration] reads, however long that is.
var isDuration = regexp.MustCompile(`^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`)

func isRange(err error) bool {
	n, ok := err.(*strconv.NumError)
	return ok && n.Err == strconv.ErrRange
}

// countText is a number with commas between its thousands.
func countText(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func sizeText(n int) string {
	switch {
	case n%pib == 0:
		return strconv.Itoa(n/pib) + "PiB"
	case n%tib == 0:
		return strconv.Itoa(n/tib) + "TiB"
	case n%gib == 0:
		return strconv.Itoa(n/gib) + "GiB"
	case n%mib == 0:
		return strconv.Itoa(n/mib) + "MiB"
	case n%kib == 0:
		return strconv.Itoa(n/kib) + "KiB"
	}
	return strconv.Itoa(n) + "B"
}

func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
