package gateway

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// listSpaces lists the spaces that the token belongs to.
func listSpaces(w http.ResponseWriter, r *http.Request, who []identity) error {
	if err := readParams(r).done(); err != nil {
		return err
	}
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

// listParticipants lists those whom the space knows, by id, and says who is here.
func listParticipants(w http.ResponseWriter, r *http.Request, c caller) error {
	p := readParams(r)
	here := p.choice("present", "any", "true", "false")
	after, part := p.text("after"), strings.ToLower(p.text("q"))
	most := p.limit()
	if !p.values.Has("limit") {
		most = math.MaxInt
	}
	if err := p.done(); err != nil {
		return err
	}
	var list []space.Participant
	if err := c.view(r.Context(), func(s *space.State) { list = s.Participants() }); err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(one space.Participant) bool {
		return here != "any" && here != strconv.FormatBool(one.Connections > 0) || !strings.Contains(one.ID, part)
	})
	total := len(list)
	first, _ := slices.BinarySearchFunc(list, after+"\x00", func(one space.Participant, id string) int { return strings.Compare(one.ID, id) })
	list = list[first:]
	b := []byte(`{"items":[`)
	for i := range list[:min(most, len(list))] {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendParticipant(b, &list[i])
	}
	b = strconv.AppendInt(append(b, `],"total":`...), int64(total), 10)
	if most < len(list) {
		b = appendQuote(append(b, `,"next":`...), list[most-1].ID)
	}
	return writeJSON(w, http.StatusOK, append(b, "}\n"...))
}

func getParticipant(w http.ResponseWriter, r *http.Request, c caller) error {
	if err := readParams(r).done(); err != nil {
		return err
	}
	id := r.PathValue("id")
	known := false
	var one space.Participant
	err := c.view(r.Context(), func(s *space.State) {
		if known = s.Known(id); known {
			one = s.Participant(id)
		}
	})
	if err != nil {
		return err
	}
	if !known {
		return noParticipant(id)
	}
	return writeJSON(w, http.StatusOK, append(appendParticipant(nil, &one), '\n'))
}

func appendParticipant(b []byte, one *space.Participant) []byte {
	b = appendQuote(append(b, `{"id":`...), one.ID)
	b = strconv.AppendBool(append(b, `,"present":`...), one.Connections > 0)
	b = strconv.AppendInt(append(b, `,"connections":`...), int64(one.Connections), 10)
	b = one.Capabilities.AppendJSON(append(b, `,"capabilities":`...))
	if !one.Since.IsZero() {
		b = appendTime(append(b, `,"since":`...), one.Since)
	}
	if one.Tools > 0 {
		b = strconv.AppendInt(append(b, `,"tools":`...), int64(one.Tools), 10)
	}
	if one.Pinned {
		b = append(b, `,"pinned":true`...)
	}
	for i, g := range one.Grants {
		b = append(b, ',')
		if i == 0 {
			b = append(b, `"grants":[`...)
		}
		b = appendGrant(b, &g)
	}
	if len(one.Grants) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func appendGrant(b []byte, g *space.Grant) []byte {
	b = appendQuote(append(b, `{"id":`...), g.ID)
	b = strconv.AppendUint(append(b, `,"seq":`...), g.Seq, 10)
	b = appendQuote(append(b, `,"from":`...), g.From)
	b = g.Capabilities.AppendJSON(append(b, `,"capabilities":`...))
	if !g.Expires.IsZero() {
		b = appendTime(append(b, `,"expires":`...), g.Expires)
	}
	return append(b, '}')
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
		return noParticipant(recipient)
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
