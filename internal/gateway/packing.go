package gateway

import (
	"sync"

	"github.com/parleyhq/parley/internal/space"
)

// packing is the compressed forms of a segment's frames. Each is made once, when
// the first connection that has agreed on compression is about to send it. Where
// frames are asked for in their order, as by those who receive everything, they
// lie side by side, and are sent with one system call as the others are.
//
// As with the frames, what was appended never changes.
type packing struct {
	mu  sync.Mutex
	buf []byte
	at  []extent // by frame; may be shorter than the segment's frames
}

// extent is where a frame lies in a packing; end is 0 where it does not.
type extent struct{ start, end uint32 }

// worthPacking reports whether compression may make any of the frames smaller.
func (s span) worthPacking() bool {
	if len(s.buf) < packAbove {
		return false
	}
	for i := range s.frames {
		if len(s.frame(i)) >= packAbove {
			return true
		}
	}
	return false
}

// packed is the compressed form of a span, or nil where that does not lie in one
// piece: then appendPacked copies it together.
func (l *frameLog) packed(s span) []byte {
	p := &s.of.packing
	p.mu.Lock()
	defer p.mu.Unlock()
	at := l.pack(s)
	for i := 1; i < len(at); i++ {
		if at[i].start != at[i-1].end {
			return nil
		}
	}
	return p.buf[at[0].start:at[len(at)-1].end]
}

// appendPacked appends the compressed form of a span.
func (l *frameLog) appendPacked(dst []byte, s span) []byte {
	p := &s.of.packing
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range l.pack(s) {
		dst = append(dst, p.buf[at.start:at.end]...)
	}
	return dst
}

// gatherPacked appends the compressed form of all frames that the filter, nil for
// none, lets through, and says how many those were.
func (l *frameLog) gatherPacked(dst []byte, s span, f *space.Filter) ([]byte, int) {
	matched := 0
	for run := range s.matching(f) {
		dst = l.appendPacked(dst, run)
		matched += len(run.frames)
	}
	return dst, matched
}

// pack makes the compressed forms that are missing, and says where all are. The
// packing is locked.
func (l *frameLog) pack(s span) []extent {
	p := &s.of.packing
	first := int(s.frames[0].header.Seq - s.of.first)
	if n := first + len(s.frames) - len(p.at); n > 0 {
		p.at = append(p.at, make([]extent, n)...)
	}
	at := p.at[first : first+len(s.frames)]
	held := cap(p.buf)
	for i := range at {
		if at[i].end == 0 {
			start := len(p.buf)
			p.buf = appendPacked(p.buf, s.frame(i))
			at[i] = extent{uint32(start), uint32(len(p.buf))}
		}
	}
	if cap(p.buf) > held {
		l.charge(s.of, cap(p.buf)-held)
	}
	return at
}

// charge counts bytes of a segment's packing among those that the log keeps,
// while it keeps the segment.
func (l *frameLog) charge(s *segment, bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.segments) == 0 || s.first < l.segments[0].first {
		return
	}
	s.packed += bytes
	l.packedHeld += bytes
	l.drop()
}
