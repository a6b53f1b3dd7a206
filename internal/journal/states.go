package journal

// states are the newest checkpoints that a [Verifier] has seen, which keep their
// bodies: only older ones give theirs up.
type states [KeptCheckpoints]*Break // the newest last; nil where it has its body

// pass sees each record of the chain; seq is that of the last envelope.
func (s *states) pass(r *Record, seq uint64) {
	if r.Type != Checkpoint {
		return
	}
	var b *Break
	if r.Superseded {
		b = &Break{Index: r.Index, Seq: seq, Reason: "edited: it is marked as superseded, and no newer checkpoints replace it"}
	}
	copy(s[:], s[1:])
	s[len(s)-1] = b
}

// missing is the first checkpoint that too few newer ones replace, or nil.
func (s *states) missing() *Break {
	for _, b := range s {
		if b != nil {
			return b
		}
	}
	return nil
}
