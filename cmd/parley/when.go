package main

import (
	"time"
)

// moment is a flag that holds a point in time: as in RFC 3339, a day, a time of
// today, or how long ago.
type moment struct{ at *time.Time }

func (m moment) String() string {
	if m.at == nil || m.at.IsZero() {
		return ""
	}
	return m.at.Format(time.RFC3339)
}

func (m moment) Type() string { return "TIME" }

func (m moment) Set(s string) (err error) {
	*m.at, err = parseMoment(s, time.Now())
	return err
}

func parseMoment(s string, now time.Time) (time.Time, error) {
	if ago, err := time.ParseDuration(s); err == nil {
		return now.Add(-ago.Abs()), nil
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, nil
	}
	for _, layout := range []string{time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return at, nil
		}
	}
	for _, layout := range []string{time.TimeOnly, "15:04"} {
		if at, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			y, month, d := now.Date()
			return time.Date(y, month, d, at.Hour(), at.Minute(), at.Second(), 0, now.Location()), nil
		}
	}
	return time.Time{}, usagef("%q is no point in time", s).hint("write 2026-11-20T15:04:05Z, 2026-11-20, 15:04, or 10m for ten minutes ago")
}
