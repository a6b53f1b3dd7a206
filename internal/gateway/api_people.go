package gateway

import (
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// listSpaces lists the spaces that the token belongs to.
func listSpaces(w http.ResponseWriter, r *http.Request, who []identity) error {
	b := []byte(`{"items":[`)
	for i, one := range who {
		bounds, err := one.room.record.Bounds(r.Context())
		if err != nil {
			return err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuote(append(b, `{"name":`...), one.room.name)
		b = appendQuote(append(b, `,"me":`...), one.id)
		b = appendQuote(append(b, `,"enforcement":`...), enforcement(one.room.rules))
		b = appendBounds(b, bounds)
		b = append(b, '}')
	}
	return writeJSON(w, http.StatusOK, append(b, "]}\n"...))
}

// appendBounds writes what a log holds, as further members.
func appendBounds(b []byte, bounds journal.Bounds) []byte {
	b = appendQuote(append(b, `,"epoch":`...), bounds.Epoch)
	b = strconv.AppendUint(append(b, `,"first":`...), bounds.First, 10)
	return strconv.AppendUint(append(b, `,"last":`...), bounds.Last, 10)
}

func enforcement(rules space.Rules) string {
	if rules.Lazy {
		return "lazy"
	}
	return "strict"
}

// listParticipants lists everybody whom the space knows, and says who is here.
func listParticipants(w http.ResponseWriter, r *http.Request, c caller) error {
	p := readParams(r)
	here := p.choice("present", "any", "true", "false")
	if err := p.done(); err != nil {
		return err
	}
	var list []space.Participant
	if err := c.view(r.Context(), func(s *space.State) { list = s.Participants() }); err != nil {
		return err
	}
	b := []byte(`{"items":[`)
	for _, one := range list {
		present := strconv.FormatBool(one.Connections > 0)
		if here != "any" && here != present {
			continue
		}
		if b[len(b)-1] == '}' {
			b = append(b, ',')
		}
		b = appendQuote(append(b, `{"id":`...), one.ID)
		b = append(append(b, `,"present":`...), present...)
		b = strconv.AppendInt(append(b, `,"connections":`...), int64(one.Connections), 10)
		b = one.Capabilities.AppendJSON(append(b, `,"capabilities":`...))
		b = append(b, '}')
	}
	return writeJSON(w, http.StatusOK, append(b, "]}\n"...))
}

// changeRequest is the body of a change of somebody's capabilities.
type changeRequest struct {
	Add     []jsontext.Value `json:"add"`
	Remove  []jsontext.Value `json:"remove"`
	Reason  string           `json:"reason"`
	Expires string           `json:"expires"` // of what is added
}

// changeCapabilities takes from and gives to a participant, each with an
// envelope in the caller's name. What is taken goes first, so that nobody holds
// both for a moment; where giving is refused then, the answer says what was
// done.
func changeCapabilities(w http.ResponseWriter, r *http.Request, c caller) error {
	var change changeRequest
	if err := decodeBody(w, r, &change); err != nil {
		return err
	}
	if len(change.Add)+len(change.Remove) == 0 {
		return parley.Errorf(parley.InvalidArgument, "the body has neither add nor remove").
			WithHint(`write {"add": ["chat"]} or {"remove": ["chat"]}`)
	}
	recipient := r.PathValue("id")
	known := false
	if err := c.view(r.Context(), func(s *space.State) { known = s.Known(recipient) }); err != nil {
		return err
	}
	if !known {
		return parley.Errorf(parley.NotFound, "no participant here is called %.80q", recipient)
	}
	var sent []*parley.Envelope
	if len(change.Remove) > 0 {
		sent = append(sent, change.envelope(parley.KindRevoke, recipient, change.Remove))
	}
	if len(change.Add) > 0 {
		sent = append(sent, change.envelope(parley.KindGrant, recipient, change.Add))
	}
	done := []byte(`"items":[`)
	for i, e := range sent {
		got, err := c.send(r.Context(), e)
		if err != nil {
			p := asProblem(err)
			if i > 0 {
				p.members = append(done, ']')
			}
			return p
		}
		if i > 0 {
			done = append(done, ',')
		}
		done = got.append(done)
	}
	return writeJSON(w, http.StatusAccepted, append(append([]byte{'{'}, done...), "]}\n"...))
}

func (ch *changeRequest) envelope(kind, recipient string, caps []jsontext.Value) *parley.Envelope {
	b := appendQuote([]byte(`{"recipient":`), recipient)
	b = append(b, `,"capabilities":[`...)
	for i, one := range caps {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, one...)
	}
	b = append(b, ']')
	if ch.Reason != "" {
		b = appendQuote(append(b, `,"reason":`...), ch.Reason)
	}
	if ch.Expires != "" && kind == parley.KindGrant {
		b = appendQuote(append(b, `,"expires":`...), ch.Expires)
	}
	return &parley.Envelope{Kind: kind, Payload: append(b, '}')}
}
