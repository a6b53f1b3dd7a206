package form

import (
	"fmt"
	"strconv"
	"strings"
)

// A Refusal says why something cannot be put before a person as a form. On the wire
// it is the JSON-RPC error −32602, invalid params, and what Error says is fit to be
// shown and logged.
type Refusal struct {
	Where   string // such as properties["seat"]; "" is the request itself
	Problem string
}

// Error is "WHERE: PROBLEM".
func (r *Refusal) Error() string {
	if r.Where == "" {
		return r.Problem
	}
	return r.Where + ": " + r.Problem
}

func refuse(where, format string, args ...any) *Refusal {
	return &Refusal{where, fmt.Sprintf(format, args...)}
}

// An AnswerError says why an answer does not fit its field.
type AnswerError struct {
	Field   string // its name
	Problem string // for the person who answers, on one line
}

// Error is "FIELD: PROBLEM", the name in quotes.
func (e *AnswerError) Error() string { return shown(e.Field) + ": " + e.Problem }

func (f *Field) wrong(format string, args ...any) error {
	return &AnswerError{f.Name, fmt.Sprintf(format, args...)}
}

// shown is what somebody wrote, quoted so that it is harmless, and cut.
func shown(s string) string {
	const most = 80 // bytes
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}
