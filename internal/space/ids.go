package space

import (
	"crypto/sha256"

	"github.com/parleyhq/parley"
)

// idEntry is what is remembered of an envelope, to answer a second one with
// its id.
type idEntry struct {
	seq    uint64
	digest [16]byte

	fixed    bool // it cannot be redacted
	proposal bool
}

// contentDigest covers the sender and everything that a sender writes, so that
// a retry can be told from another envelope with the same id.
func (s *State) contentDigest(from string, e *parley.Envelope) (d [16]byte) {
	content := parley.Envelope{
		From: from, To: e.To, Kind: e.Kind, Correlation: e.Correlation,
		Context: e.Context, Amends: e.Amends, Extra: e.Extra, Payload: e.Payload,
	}
	s.scratch = content.AppendBody(s.scratch[:0])
	sum := sha256.Sum256(s.scratch)
	if cap(s.scratch) > mostScratch {
		s.scratch = nil
	}
	copy(d[:], sum[:])
	return d
}

// mostScratch is how much of a buffer is kept for the next envelope.
const mostScratch = 64 << 10

// stillMeant reports whether an id means something here, however long ago its
// envelope was: nobody may put another request, proposal or grant in its place.
func (s *State) stillMeant(id string) bool {
	return s.requests.open[id] != nil || s.proposals.get(id) != nil || s.grantIDs[id]
}

// checkDuplicate refuses an id that was used before. The same content from the
// same sender is told where the first one stands: the retry was not needed.
func (s *State) checkDuplicate(from string, e *parley.Envelope) error {
	if e.ID == "" {
		return nil
	}
	first, used := s.ids.get(e.ID)
	if !used && !s.stillMeant(e.ID) {
		return nil
	}
	err := parley.Errorf(parley.DuplicateID, "the id %q was used before", e.ID)
	if used && first.digest == s.contentDigest(from, e) {
		err.Seq = first.seq
	}
	return err
}
