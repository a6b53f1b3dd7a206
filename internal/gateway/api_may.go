package gateway

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// askMay answers whether a participant may send an envelope, by the judgement
// that it would meet. Nothing is sent, and nothing goes on record. Everybody may
// ask of everybody: what somebody may send is told to all.
func askMay(w http.ResponseWriter, r *http.Request, c caller) error {
	if err := readParams(r).done(); err != nil {
		return err
	}
	limit := c.room.limits.EnvelopeBytes
	body, err := readBody(w, r.Body, limit+1)
	if err != nil {
		return err
	}
	if len(body) > limit {
		return tooLarge(limit)
	}
	e, err := parley.Decode(body, c.room.limits.Nesting)
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	var answer space.Answer
	var refused error
	err = c.view(r.Context(), func(s *space.State) {
		if !s.Known(id) {
			refused = noParticipant(id)
			return
		}
		answer, refused = c.room.may(s, c.id, id, e)
	})
	if err == nil {
		err = refused
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, append(appendAnswer(nil, id, &answer), '\n'))
}

// may asks the rules. A fault in them concerns this question alone.
func (r *room) may(s *space.State, asker, id string, e *parley.Envelope) (a space.Answer, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("judging a question failed: %v\n%s", fault, debug.Stack())
		}
	}()
	return s.May(asker, id, e, r.now())
}

func appendAnswer(b []byte, id string, a *space.Answer) []byte {
	b = appendQuote(append(b, `{"participant":`...), id)
	if a.Kind != "" {
		b = appendQuote(append(b, `,"kind":`...), a.Kind)
	}
	b = strconv.AppendBool(append(b, `,"allowed":`...), a.Allowed)
	if a.Depends {
		b = append(b, `,"depends":true`...)
	}
	if !a.By.IsZero() {
		b = appendCapability(append(b, `,"by":`...), a.By)
	}
	if !a.Needs.IsZero() {
		b = appendCapability(append(b, `,"needs":`...), a.Needs)
	}
	b = appendQuote(append(b, `,"why":`...), a.Why)
	if e := a.Refusal; e != nil {
		b = appendQuote(append(b, `,"refusal":{"error":`...), string(e.Code))
		b = appendQuote(append(b, `,"message":`...), e.Message)
		if e.Hint != "" {
			b = appendQuote(append(b, `,"hint":`...), e.Hint)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

func appendCapability(b []byte, c parley.Capability) []byte {
	raw, _ := c.MarshalJSON() // what was parsed marshals
	return append(b, raw...)
}

func noParticipant(id string) error {
	return parley.Errorf(parley.NotFound, "no participant here is called %.80q", id)
}
