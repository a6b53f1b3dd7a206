package webhook

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/parleyhq/parley/internal/journal"
)

// EventType is what an event tells.
type EventType string

// The events that there are.
const (
	ProposalOpened    EventType = "proposal.opened"
	ProposalFulfilled EventType = "proposal.fulfilled"
	ProposalAmended   EventType = "proposal.amended"
	ProposalRejected  EventType = "proposal.rejected"
	ProposalWithdrawn EventType = "proposal.withdrawn"
	ProposalExpired   EventType = "proposal.expired"
	EnvelopeRefused   EventType = "envelope.refused"
	BridgeFailed      EventType = "bridge.failed"
	BridgeRestarted   EventType = "bridge.restarted"

	testEvent EventType = "webhook.test" // asked for, never subscribed to
)

// EventTypes are those that can be subscribed to, in the order in which they are
// shown.
func EventTypes() []EventType {
	return []EventType{
		ProposalOpened, ProposalFulfilled, ProposalAmended, ProposalRejected, ProposalWithdrawn, ProposalExpired,
		EnvelopeRefused, BridgeFailed, BridgeRestarted,
	}
}

// DefaultEvents are those that a webhook gets which names none: all but refusals, of
// which a client with a mistake makes many.
func DefaultEvents() []EventType {
	return slices.DeleteFunc(EventTypes(), func(t EventType) bool { return t == EnvelopeRefused })
}

// MatchEvents is what a name stands for: one event, all of a group as proposal.*,
// or with * all. It is empty for what is no name.
func MatchEvents(name string) (list []EventType) {
	for _, t := range EventTypes() {
		group, _, _ := strings.Cut(string(t), ".")
		if name == string(t) || name == group+".*" || name == "*" {
			list = append(list, t)
		}
	}
	return list
}

// idOf is the id of an event that is on record: the same however often it is found
// there, and in whichever process.
func idOf(t EventType, r *journal.Record) string {
	h := sha256.New()
	h.Write([]byte("parley: an event of a webhook\x00" + string(t) + "\x00"))
	h.Write(r.Hash[:])
	return idText(h.Sum(nil))
}

// newID is one of an event that is not on record.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return idText(b[:])
}

// idText has no full stop, as the signature scheme needs it.
func idText(b []byte) string { return "msg_" + hex.EncodeToString(b[:16]) }
