package webhook

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// delays are the pauses between attempts, as the document that is followed
// recommends them; the first attempt is made at once.
var delays = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// MostRetries is how often an event is sent again at most: the last time is more
// than three days after the first.
const MostRetries = len(delays)

// jitter is the most that is added to a pause, as a part of it.
const jitter = 0.2

// longest is the longest pause that there is.
var longest = pause(MostRetries, 1)

// pause is how long to wait after so many attempts, from 1; random is in [0, 1).
func pause(attempts int, random float64) time.Duration {
	d := delays[min(attempts, len(delays))-1]
	return d + time.Duration(random*jitter*float64(d))
}

// mostAsked is how long a receiver may ask to be left alone.
const mostAsked = 24 * time.Hour

// retryAfter is for how long an answer asks to be left alone, as RFC 9110 has it; 0
// where it does not, or cannot be understood.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	var d time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		d = time.Duration(min(seconds, uint64(mostAsked/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		d = at.Sub(now)
	}
	return min(max(d, 0), mostAsked)
}

// busy reports whether a status says that the receiver wants less to do.
func busy(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}
