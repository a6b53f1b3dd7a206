// Package asked keeps the forms and links that wait for a person: who asks, for which
// call, and what ends the asking. It shows nothing and sends nothing.
package asked

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/form"
)

// Methods of MCP.
const (
	Elicitation  = "elicitation/create"
	Cancellation = "notifications/cancelled"
)

// Ask is a form that somebody waits for, a link, or something that is neither.
type Ask struct {
	Request *parley.Envelope
	Params  jsontext.Value
	Message string
	Form    *form.Form // nil where it is none
	Link    *Link      // nil where it is none
	Unfit   error      // why it is no form
	Cause   string     // for which call, in words; "" where there is none
	Sending bool       // our answer is on its way
}

// Take reads what a request asks.
func Take(request *parley.Envelope, params jsontext.Value) *Ask {
	a := &Ask{Request: request, Params: params}
	a.Message, _ = parley.MemberString(params, "message")
	a.Form, a.Unfit = form.Parse(params)
	if mode, _ := parley.MemberString(params, "mode"); mode == "url" {
		a.Link = readLink(params)
	}
	return a
}

// Agreeable reports whether there is something to agree to: a form, or a link that can
// be opened.
func (f *Ask) Agreeable() bool { return f.Form != nil || f.Link != nil && f.Link.Problem == "" }

// Noun is what people call it.
func (f *Ask) Noun() string {
	if f.Form == nil {
		return "question"
	}
	return "form"
}

// What waits is bounded, since anybody may ask.
const (
	Most     = 64
	MostEach = 16 // of one asker
)

// Queue are the forms that wait, the one that is open first.
type Queue []*Ask

// Find is the form that a request asks for, or nil.
func (q Queue) Find(id string) *Ask {
	i := slices.IndexFunc(q, func(f *Ask) bool { return f.Request.ID == id })
	if i < 0 {
		return nil
	}
	return q[i]
}

// IsFull reports whether there is no room for another form of an asker.
func (q Queue) IsFull(asker string) bool {
	n := 0
	for _, f := range q {
		if f.Request.From == asker {
			n++
		}
	}
	return n >= MostEach || len(q) >= Most
}

// Remove takes a form out.
func (q *Queue) Remove(f *Ask) {
	*q = slices.DeleteFunc(*q, func(other *Ask) bool { return other == f })
}

// Read reads the params of a form that me is asked to fill in; not ok where e is none.
func Read(e *parley.Envelope, me string) (params jsontext.Value, ok bool) {
	k := parley.SplitKind(e.Kind)
	if k.Type != parley.TypeRequest || !e.Addressed(me) {
		return nil, false
	}
	call, err := parley.ReadCall(k, e.Payload)
	if err != nil || call.Kind.Method != Elicitation {
		return nil, false
	}
	return call.Params, true
}

// End is how a form ended.
type End struct {
	AnsweredBy string // "" where it is no longer asked
	Reason     string // as the asker wrote it
}

// EndOf says how an envelope ends a form, if it does.
func (f *Ask) EndOf(e *parley.Envelope) (End, bool) {
	k := parley.SplitKind(e.Kind)
	switch {
	case k.Type == parley.TypeResponse && f.Request.Addressed(e.From) && slices.Contains(e.Correlation.IDs, f.Request.ID):
		return End{AnsweredBy: e.From}, true
	case k.Type == parley.TypeRequest && k.Method == Cancellation && e.From == f.Request.From:
		params := parley.Member(e.Payload, "params")
		id, _ := parley.MemberString(params, "requestId")
		if id != f.Request.ID && !slices.Contains(e.Correlation.IDs, f.Request.ID) {
			return End{}, false
		}
		reason, _ := parley.MemberString(params, "reason")
		return End{Reason: reason}, true
	}
	return End{}, false
}
