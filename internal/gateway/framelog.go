package gateway

import (
	"iter"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// Segments grow from small to large, so that a quiet space is cheap.
const (
	smallestSegment = 16 << 10
	largestSegment  = 256 << 10
)

// frameLog holds the newest frames of one space as they go over the wire: each
// is built once, and every connection sends the same bytes. Frames are only
// appended; the oldest are dropped by whole segments. Readers are cursors, see
// cursor.go.
//
// What was appended never changes, so that a reader may use a span after the
// lock is released, and after its segment was dropped.
type frameLog struct {
	retain int // bytes kept, by whole segments

	mu       sync.Mutex
	segments []*segment // oldest first
	next     uint64     // the seq that the next frame has
	total    uint64     // bytes ever appended
	held     int        // bytes in segments
	waiting  *audience
	woken    []*cursor // scratch of publish

	packedHeld int // bytes of their compressed forms, see packing.go
}

// segment is a run of frames with consecutive seqs.
type segment struct {
	first  uint64 // seq of frames[0]
	base   uint64 // bytes ever appended before it
	buf    []byte // never reallocated
	frames []frame

	packed  int // bytes of the packing that the log counts
	packing packing
}

// frame is what a filter needs to know, and where the bytes end.
type frame struct {
	end    uint32
	header space.Header
}

// entry is an envelope to be appended.
type entry struct {
	header space.Header
	body   []byte // see parley.AppendWire
}

// newFrameLog makes a log whose first frame has the given seq.
func newFrameLog(next uint64, retain int) *frameLog {
	return &frameLog{retain: retain, next: next, waiting: newAudience()}
}

// publish appends frames, whose seqs follow on, and returns the cursors that
// have to be woken, which are the caller's until it calls publish again. Only
// one goroutine at a time may call it.
func (l *frameLog) publish(batch []entry) []*cursor {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.woken)
	l.woken = l.woken[:0]
	for i := range batch {
		l.append(&batch[i])
		l.wakeFor(&batch[i].header)
	}
	l.drop()
	return l.woken
}

func (l *frameLog) append(e *entry) {
	n := frameSize(len(e.body), e.header.Seq)
	s := l.room(n)
	s.buf = appendFrame(s.buf, e.body, e.header.Seq)
	s.frames = append(s.frames, frame{end: uint32(len(s.buf)), header: e.header})
	l.next = e.header.Seq + 1
	l.total += uint64(n)
	l.held += n
}

// room is a segment that has room for n more bytes.
func (l *frameLog) room(n int) *segment {
	size := smallestSegment
	if k := len(l.segments); k > 0 {
		last := l.segments[k-1]
		if cap(last.buf)-len(last.buf) >= n {
			return last
		}
		size = min(2*cap(last.buf), largestSegment)
	}
	s := &segment{first: l.next, base: l.total, buf: make([]byte, 0, max(size, n))}
	l.segments = append(l.segments, s)
	return s
}

func (l *frameLog) drop() {
	n := 0
	for n < len(l.segments)-1 && l.held+l.packedHeld-l.segments[n].size() >= l.retain {
		l.release(l.segments[n])
		n++
	}
	if n > 0 {
		kept := copy(l.segments, l.segments[n:])
		clear(l.segments[kept:])
		l.segments = l.segments[:kept]
	}
}

// forget drops the frame with that seq and all before it, by whole segments:
// whoever wants them reads them from the journal, as they are there now.
func (l *frameLog) forget(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for n < len(l.segments) && l.segments[n].first <= seq {
		l.release(l.segments[n])
		n++
	}
	l.segments = slices.Delete(l.segments, 0, n)
}

// release counts a segment out that is dropped.
func (l *frameLog) release(s *segment) {
	l.held -= len(s.buf)
	l.packedHeld -= s.packed
}

// size is how many bytes the log keeps for a segment.
func (s *segment) size() int { return len(s.buf) + s.packed }

// first is the oldest seq that is held; next where there is none.
func (l *frameLog) first() uint64 {
	if len(l.segments) == 0 {
		return l.next
	}
	return l.segments[0].first
}

// bounds says which seqs are held: from first up to, but not including, next.
func (l *frameLog) bounds() (first, next uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first(), l.next
}

// find is the segment that holds seq, which must be held.
func (l *frameLog) find(seq uint64) *segment {
	if last := l.segments[len(l.segments)-1]; seq >= last.first {
		return last
	}
	i := sort.Search(len(l.segments), func(i int) bool { return l.segments[i].first > seq })
	return l.segments[i-1]
}

// start is where frame i of the segment starts in its buffer.
func (s *segment) start(i int) uint32 {
	if i == 0 {
		return 0
	}
	return s.frames[i-1].end
}

// span is a run of frames within one segment.
type span struct {
	of     *segment
	start  uint32  // where buf starts in its segment
	buf    []byte  // all of the frames
	frames []frame // at least one
}

// span is what the segment holds from seq on, up to and including upTo.
func (s *segment) span(seq, upTo uint64) span {
	i, n := int(seq-s.first), len(s.frames)
	if left := upTo - seq; left < uint64(n-i) {
		n = i + int(left) + 1
	}
	start := s.start(i)
	return span{of: s, start: start, buf: s.buf[start:s.frames[n-1].end], frames: s.frames[i:n]}
}

// cut takes about so many bytes off its beginning, at least one frame.
func (s span) cut(bytes int) (part, rest span) {
	n := sort.Search(len(s.frames)-1, func(i int) bool { return s.frames[i].end-s.start >= uint32(bytes) }) + 1
	return s.part(0, n), s.after(n)
}

// after is a span without its first n frames.
func (s span) after(n int) span {
	if n == len(s.frames) {
		return span{}
	}
	return s.part(n, len(s.frames))
}

// part is frames i up to j of a span.
func (s span) part(i, j int) span {
	start, end := s.start, s.frames[j-1].end
	if i > 0 {
		start = s.frames[i-1].end
	}
	return span{of: s.of, start: start, buf: s.buf[start-s.start : end-s.start], frames: s.frames[i:j]}
}

// until is the part of a span up to and including seq.
func (s span) until(seq uint64) span {
	n := sort.Search(len(s.frames), func(i int) bool { return s.frames[i].header.Seq > seq })
	if n == 0 {
		return span{}
	}
	return s.part(0, n)
}

// frame is the bytes of frame i of a span.
func (s span) frame(i int) []byte { return s.part(i, i+1).buf }

// all reports whether the filter, nil for none, lets every frame through.
func (s span) all(f *space.Filter) bool {
	return f == nil || !slices.ContainsFunc(s.frames, func(one frame) bool { return !f.Match(&one.header) })
}

// gather appends frames that the filter lets through until it has appended about
// so many bytes, or looked at four times as many, and says how many frames those
// were, and which it has not looked at.
func (s span) gather(dst []byte, f *space.Filter, bytes int) (out []byte, matched int, rest span) {
	full := len(dst) + bytes
	for i := range s.frames {
		if f.Match(&s.frames[i].header) {
			dst = append(dst, s.frame(i)...)
			matched++
		}
		if len(dst) >= full || int(s.frames[i].end-s.start) >= 4*bytes {
			return dst, matched, s.after(i + 1)
		}
	}
	return dst, matched, span{}
}

// matching are the runs of frames that the filter, nil for none, lets through.
func (s span) matching(f *space.Filter) iter.Seq[span] {
	return func(yield func(span) bool) {
		for i := 0; i < len(s.frames); i++ {
			j := i
			for j < len(s.frames) && (f == nil || f.Match(&s.frames[j].header)) {
				j++
			}
			if j > i && !yield(s.part(i, j)) {
				return
			}
			i = j
		}
	}
}

// back finds where the newest n frames before seq begin that the filter, nil
// for none, lets through. It looks only at what is held, and at no more than
// most of these; more reports that there are others before start.
func (l *frameLog) back(seq uint64, n, most int, f *space.Filter) (start uint64, found int, more bool) {
	first, next := l.bounds()
	start = min(seq, next)
	if f == nil {
		found = int(min(uint64(min(n, most)), start-min(start, first)))
		start -= uint64(found)
		return start, found, start > first
	}
	for start > first && found < n && most > 0 {
		l.mu.Lock()
		if first = l.first(); start <= first {
			l.mu.Unlock()
			break
		}
		s := l.find(start - 1)
		frames := s.frames[:start-s.first]
		l.mu.Unlock()
		for i := len(frames) - 1; i >= 0 && found < n && most > 0; i-- {
			start--
			most--
			if f.Match(&frames[i].header) {
				found++
			}
		}
	}
	return start, found, start > first
}

// everything is an upTo without a bound.
const everything = math.MaxUint64

// appendFrame appends a text frame as a server sends it: not masked, not
// fragmented.
func appendFrame(dst, body []byte, seq uint64) []byte {
	dst = appendFrameHeader(dst, opText, wireSize(len(body), seq))
	return parley.AppendWire(dst, body, seq)
}

func frameSize(body int, seq uint64) int {
	n := wireSize(body, seq)
	return frameHeaderSize(n) + n
}

// wireSize is how long parley.AppendWire makes a body.
func wireSize(body int, seq uint64) int {
	if seq == 0 {
		return body
	}
	digits := 1
	for n := seq; n >= 10; n /= 10 {
		digits++
	}
	return body + len(`"seq":,`) + digits
}
