package gateway

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// Bridges are servers that take part in spaces through somebody who runs them.
// What they speak is their own affair. Both methods must return at once.
type Bridges interface {
	// Of are those of a space, in any order.
	Of(space string) []Bridge

	// Restart is told each space/restart-bridge that is on record, also of
	// participants that are none. A server that is in its room hears of it there as
	// well, and is to be started again once.
	Restart(space, participant string)
}

// Bridge is a server, as it is at the moment.
type Bridge struct {
	Participant string
	Transport   string    // stdio, http
	State       string    // starting, restarting, running, failed, stopped
	Since       time.Time // when it came into that state
	PID         int       // of its program; 0 for none
	Restarts    int

	Failures int       // in a row, while it failed
	RetryAt  time.Time // when it is started again; zero where it is not
	ExitAt   time.Time // when it ended without being asked to; zero for never
	Exit     string    // and how

	Era      string // of its protocol; "" while it is not known
	Protocol string // the version
	Tools    int    // how many it offers; negative while it is not known

	Stderr []string // what it has said last, oldest first
}

// restart passes an order on, once it is on record.
func (r *room) restart(participant string) {
	if all := r.g.opts.Bridges; all != nil {
		all.Restart(r.name, participant)
	}
}

// listBridges lists the servers of a space. How a server failed and what it has
// said is shown to those alone who may have it started again: it is made for
// operators, not for the room.
func listBridges(w http.ResponseWriter, r *http.Request, c caller) error {
	if err := readParams(r).done(); err != nil {
		return err
	}
	may := false
	if err := c.view(r.Context(), func(s *space.State) { may = mayRestart(s, c.id) }); err != nil {
		return err
	}
	list := c.room.bridges()
	slices.SortFunc(list, func(a, b Bridge) int { return strings.Compare(a.Participant, b.Participant) })
	b := strconv.AppendBool([]byte(`{"may_restart":`), may)
	b = append(b, `,"items":[`...)
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = list[i].append(b, may)
	}
	return writeJSON(w, http.StatusOK, append(b, "]}\n"...))
}

// mayRestart says whether somebody may order a restart, by the rules of every
// envelope.
func mayRestart(s *space.State, id string) bool {
	return s.Capabilities(id).Allow(&parley.Action{Kind: parley.SplitKind(parley.KindRestartBridge)})
}

func (r *room) bridges() []Bridge {
	if r.g.opts.Bridges == nil {
		return nil
	}
	return r.g.opts.Bridges.Of(r.name)
}

func (one *Bridge) append(b []byte, all bool) []byte {
	b = appendQuote(append(b, `{"participant":`...), one.Participant)
	b = appendQuote(append(b, `,"transport":`...), one.Transport)
	b = appendQuote(append(b, `,"state":`...), one.State)
	b = appendTime(append(b, `,"since":`...), one.Since)
	b = strconv.AppendInt(append(b, `,"restarts":`...), int64(one.Restarts), 10)
	if one.Failures > 0 {
		b = strconv.AppendInt(append(b, `,"failures":`...), int64(one.Failures), 10)
	}
	if !one.RetryAt.IsZero() {
		b = appendTime(append(b, `,"retry_at":`...), one.RetryAt)
	}
	if one.Protocol != "" {
		b = appendQuote(append(b, `,"era":`...), one.Era)
		b = appendQuote(append(b, `,"protocol":`...), one.Protocol)
	}
	if one.Tools >= 0 {
		b = strconv.AppendInt(append(b, `,"tools":`...), int64(one.Tools), 10)
	}
	if all {
		b = one.appendDetails(b)
	}
	return append(b, '}')
}

// appendDetails writes what is for operators.
func (one *Bridge) appendDetails(b []byte) []byte {
	if one.PID > 0 {
		b = strconv.AppendInt(append(b, `,"pid":`...), int64(one.PID), 10)
	}
	if !one.ExitAt.IsZero() {
		b = appendTime(append(b, `,"last_exit":{"at":`...), one.ExitAt)
		b = appendQuote(append(b, `,"reason":`...), one.Exit)
		b = append(b, '}')
	}
	b = append(b, `,"stderr":[`...)
	for i, line := range one.Stderr {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuote(b, line)
	}
	return append(b, ']')
}

// restartRequest is the body of an order.
type restartRequest struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// restartBridge orders a restart in the caller's name, so that it is on record who
// did.
func restartBridge(w http.ResponseWriter, r *http.Request, c caller) error {
	var body restartRequest
	if err := decodeBody(w, r, &body); err != nil {
		return err
	}
	id := r.PathValue("id")
	if !slices.ContainsFunc(c.room.bridges(), func(one Bridge) bool { return one.Participant == id }) {
		return parley.Errorf(parley.NotFound, "no server of this space is called %.80q", id).
			WithHint("GET /v1/spaces/%s/bridges lists them", c.room.name)
	}
	if body.ID != "" && !parley.ValidID(body.ID) {
		return parley.Errorf(parley.InvalidArgument, "id is not 1 to %d visible ASCII characters", parley.MaxID)
	}
	payload := appendQuote([]byte(`{"participant":`), id)
	if body.Reason != "" {
		payload = appendQuote(append(payload, `,"reason":`...), body.Reason)
	}
	got, err := c.send(r.Context(), &parley.Envelope{ID: body.ID, Kind: parley.KindRestartBridge, Payload: append(payload, '}')})
	if err != nil {
		return err
	}
	return writeReceipt(w, got)
}
