package main

import (
	"cmp"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/parleyhq/parley/internal/load"
)

// What the flags of a bench may be at most. Beyond it nothing could be measured:
// no gateway takes more, nor a configuration that is written for one.
const (
	mostBenched    = 1_000_000 // connections, messages on their way, history; live messages a second
	mostWorkers    = 256       // processes
	mostConfigured = 5_000     // participants of their own
	mostMeasured   = 24 * time.Hour
	mostRecords    = 1_000_000_000
	mostStarts     = 1_000
	mostBytes      = 1 << 20 // of an envelope, unless a space says otherwise
)

// between refuses a number that is out of bounds.
func between(flag string, n, least, most int) error {
	if n >= least && n <= most {
		return nil
	}
	return usagef("--%s cannot be %d", flag, n).
		hint("write a number from %s to %s", thousands(float64(least)), thousands(float64(most)))
}

// checkRate refuses what is no rate; only where there may be none is it 0.
func checkRate(rate float64, none bool) error {
	if none && rate == 0 || rate >= 0.001 && rate <= mostBenched { // not so of NaN
		return nil
	}
	return usagef("--rate cannot be %v", rate).hint("write messages per second, from 0.001 to %s", thousands(mostBenched))
}

func checkTime(flag string, d, least time.Duration) error {
	if d >= least && d <= mostMeasured {
		return nil
	}
	return usagef("--%s cannot be %s", flag, d).hint("write a time from %s to %s, as 5s", least, mostMeasured)
}

// checkQuery refuses what cannot stand in the address of a connection. What it
// says, the gateway judges.
func checkQuery(query string) error {
	wrong := usagef("--query is no list of parameters").hint("write NAME=VALUE&NAME=VALUE, as kinds=chat&routing=directed")
	if strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r == '#' || r > '~' }) {
		return wrong
	}
	for one := range strings.SplitSeq(query, "&") {
		name, _, ok := strings.Cut(one, "=")
		if query != "" && (!ok || name == "") {
			return wrong
		}
	}
	if _, err := url.ParseQuery(query); err != nil {
		return wrong
	}
	return nil
}

// checkSize refuses an envelope that is too small for what is said in it, or too
// large for a space.
func (b *benchFlags) checkSize(need benchNeed) error {
	target := load.Target{Size: b.size}
	if need.echo {
		target.Work, target.To = load.WorkCall, cmp.Or(need.to, benchEcho)
	}
	return between("size", b.size, load.SmallestSize(target), mostBytes)
}

// checkProfile finds early that a profile cannot be written, without leaving a
// file behind.
func checkProfile(path string) error {
	if path == "" {
		return nil
	}
	_, absent := os.Stat(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return cannotWrite(path, err)
	}
	if absent != nil {
		err = os.Remove(path)
	}
	return cmp.Or(f.Close(), err)
}
