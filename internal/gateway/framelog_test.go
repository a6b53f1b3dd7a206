package gateway

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

func TestFrameSize(t *testing.T) {
	for _, seq := range []uint64{0, 1, 9, 10, 99, 100, 18446744073709551615} {
		for _, n := range []int{2, 100, 118, 65530} {
			body := []byte("{" + strings.Repeat(" ", n-2) + "}")
			if got := len(appendFrame(nil, body, seq)); got != frameSize(n, seq) {
				t.Errorf("body %d, seq %d: %d bytes, said %d", n, seq, got, frameSize(n, seq))
			}
		}
	}
}

// The model of a frame log: everything that was ever appended.
type logModel struct {
	log     *frameLog
	all     []entry
	readers []*modelReader
}

// modelReader is a connection: what it got is compared with what it should have.
type modelReader struct {
	c      *cursor
	start  uint64
	roused bool // is not waiting
	got    []uint64
}

func (m *logModel) entry(t *rapid.T) entry {
	people := []string{"ann", "bob", "cy"}
	kinds := []string{"chat", parley.KindPresence, "mcp/request:tools/call:x"}
	h := space.Header{
		Seq:  uint64(len(m.all)) + 1,
		From: rapid.SampledFrom(people).Draw(t, "from"),
		To:   rapid.SliceOfN(rapid.SampledFrom(people), 0, 2).Draw(t, "to"),
		Kind: parley.SplitKind(rapid.SampledFrom(kinds).Draw(t, "kind")),
	}
	h.Effective = h.Kind
	h.Context = rapid.SampledFrom([]*space.Lineage{nil, {Type: "x", Path: []string{"r"}}, {Path: []string{"s", "r"}}}).Draw(t, "context")
	size := rapid.SampledFrom([]int{2, 300, 5_000, 20_000}).Draw(t, "size")
	e := entry{h, []byte("{" + strings.Repeat(" ", size-2) + "}")}
	m.all = append(m.all, e)
	return e
}

func (m *logModel) publish(t *rapid.T) {
	n := rapid.IntRange(1, 20).Draw(t, "n")
	var batch []entry
	for range n {
		batch = append(batch, m.entry(t))
	}
	for _, c := range m.log.publish(batch) {
		c.rouse()
	}
}

func (m *logModel) open(t *rapid.T) {
	set := space.Settings{
		Directed:    rapid.Bool().Draw(t, "directed"),
		PresenceOff: rapid.Bool().Draw(t, "presence off"),
		EchoOff:     rapid.Bool().Draw(t, "echo off"),
	}
	if rapid.Bool().Draw(t, "kinds") {
		// More filters than have groups of their own.
		other := fmt.Sprint("end-", rapid.IntRange(0, 4*groupsEach).Draw(t, "filter"))
		set.Kinds = parley.Capabilities{parley.MustCapability("chat"), parley.MustCapability(other)}
	}
	set.Contexts = rapid.SampledFrom(contextFilters(t)).Draw(t, "contexts")
	r := &modelReader{
		c:      newCursor(rapid.SampledFrom([]string{"ann", "bob", "cy"}).Draw(t, "me"), set),
		start:  rapid.Uint64Range(1, uint64(len(m.all))+1).Draw(t, "start"),
		roused: true,
	}
	m.log.seek(r.c, r.start)
	m.readers = append(m.readers, r)
}

func contextFilters(t *rapid.T) (list []space.ContextFilter) {
	for _, text := range []string{"all", "none", "type:x", "id:s", "tree:r"} {
		f, err := space.ParseContexts(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return list
}

// step lets a reader do what a connection's writer would do next.
func (m *logModel) step(t *rapid.T, r *modelReader, stop uint64) (more bool) {
	select {
	case <-r.c.wake:
		r.roused = true
	default:
	}
	if !r.roused {
		return false
	}
	s, found := m.log.take(r.c, stop)
	switch found {
	case ready:
		m.deliver(t, r, s)
	case behind:
		m.fromJournal(r)
	case stopped:
		return false
	case parked:
		r.roused = false
		return false
	}
	return true
}

func (m *logModel) deliver(t *rapid.T, r *modelReader, s span) {
	from := s.start
	var want []byte
	for i := range s.frames {
		f := &s.frames[i]
		one := s.buf[from-s.start : f.end-s.start]
		if string(one) != string(appendFrame(nil, m.all[f.header.Seq-1].body, f.header.Seq)) {
			t.Fatalf("the frame of %d is not what was appended", f.header.Seq)
		}
		if r.c.matches(&f.header) {
			r.got = append(r.got, f.header.Seq)
			want = append(want, one...)
		}
		from = f.end
	}
	if r.c.filter == nil {
		return
	}
	var got []byte
	for rest := s; len(rest.frames) > 0; {
		got, _, rest = rest.gather(got, r.c.filter, 100)
	}
	if string(got) != string(want) {
		t.Fatalf("gathered something else than what matches")
	}
}

// holds reports whether what a reader needs next comes from the log.
func (m *logModel) holds(r *modelReader) bool {
	m.log.mu.Lock()
	defer m.log.mu.Unlock()
	return r.c.parked != nil || r.c.next >= m.log.first()
}

// fromJournal reads what is not held any more elsewhere.
func (m *logModel) fromJournal(r *modelReader) {
	next := m.log.position(r.c)
	first, _ := m.log.bounds()
	bytes := 0
	for _, e := range m.all[next-1 : first-1] {
		if r.c.matches(&e.header) {
			r.got = append(r.got, e.header.Seq)
		}
		bytes += frameSize(len(e.body), e.header.Seq)
	}
	m.log.passed(r.c, first, bytes)
}

// check holds a reader that has nothing left to read against what it should
// have got.
func (m *logModel) check(t *rapid.T, r *modelReader) {
	var want []uint64
	for _, e := range m.all[r.start-1:] {
		if r.c.matches(&e.header) {
			want = append(want, e.header.Seq)
		}
	}
	if !slices.Equal(r.got, want) {
		t.Fatalf("%s from %d with %+v got %v, want %v", r.c.me, r.start, r.c.settings, r.got, want)
	}
	if n, bytes := m.log.lag(r.c); n != 0 || bytes != 0 {
		t.Fatalf("has read everything and lags by %d, %d bytes", n, bytes)
	}
}

// However frames are appended and dropped, cursors come and go, wait and are
// woken, each gets what it should exactly once and in order.
func TestCursorsMissNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &logModel{log: newFrameLog(1, 64<<10)}
		pick := func(t *rapid.T) *modelReader {
			if len(m.readers) == 0 {
				t.Skip("nobody reads")
			}
			return rapid.SampledFrom(m.readers).Draw(t, "reader")
		}
		t.Repeat(map[string]func(*rapid.T){
			"publish": m.publish,
			"open":    m.open,
			"step":    func(t *rapid.T) { m.step(t, pick(t), everything) },
			"drain": func(t *rapid.T) {
				r := pick(t)
				for m.step(t, r, everything) {
				}
				if !r.roused {
					m.check(t, r)
				}
			},
			"stop early": func(t *rapid.T) {
				r := pick(t)
				stop := rapid.Uint64Range(1, uint64(len(m.all))+2).Draw(t, "stop")
				n := len(r.got)
				held := m.holds(r)
				m.step(t, r, stop)
				if late := r.got[n:]; held && len(late) > 0 && late[len(late)-1] > stop {
					t.Fatalf("got %v, and should stop at %d", late, stop)
				}
			},
			"private": func(t *rapid.T) { pick(t).c.rouse() },
			"leave": func(t *rapid.T) {
				r := pick(t)
				m.log.leave(r.c)
				m.readers = slices.DeleteFunc(m.readers, func(o *modelReader) bool { return o == r })
			},
		})
		for _, r := range m.readers {
			for m.step(t, r, everything) {
			}
			m.check(t, r)
			m.log.leave(r.c)
		}
		if n := len(m.log.waiting.everyone.members) + len(m.log.waiting.groups) + len(m.log.waiting.named); n != 0 {
			t.Fatalf("everybody left, and %d groups or members are still there", n)
		}
	})
}

// A frame costs nothing to cursors that do not receive it.
func TestOnlyReceiversAreWoken(t *testing.T) {
	l := newFrameLog(1, 1<<20)
	park := func(me string, set space.Settings) *cursor {
		c := newCursor(me, set)
		l.seek(c, 1)
		if _, found := l.take(c, everything); found != parked {
			t.Fatalf("%s is not parked", me)
		}
		return c
	}
	all := park("ann", space.Settings{})
	directed := park("bob", space.Settings{Directed: true})
	other := park("cy", space.Settings{Directed: true})
	chats := park("dan", space.Settings{Kinds: parley.Capabilities{parley.MustCapability("chat")}})
	h := space.Header{Seq: 1, From: "ann", To: []string{"bob"}, Kind: parley.SplitKind("mcp/request:tools/call:x")}
	h.Effective = h.Kind
	woken := l.publish([]entry{{h, []byte("{}")}})
	for _, tc := range []struct {
		c    *cursor
		want bool
	}{{all, true}, {directed, true}, {other, false}, {chats, false}} {
		if got := slices.Contains(woken, tc.c); got != tc.want {
			t.Errorf("%s woken: %v, want %v", tc.c.me, got, tc.want)
		}
	}
}

func TestBack(t *testing.T) {
	l := newFrameLog(1, 1<<20)
	for i := range 10 {
		kind := parley.SplitKind([]string{"chat", "note"}[i%2])
		l.publish([]entry{{space.Header{Seq: uint64(i) + 1, From: "ann", Kind: kind, Effective: kind}, []byte("{}")}})
	}
	chats := space.NewFilter("bob", space.Settings{Kinds: parley.Capabilities{parley.MustCapability("chat")}})
	for _, tc := range []struct {
		end          uint64
		n            int
		f            *space.Filter
		start, found int
	}{
		{11, 3, nil, 8, 3}, {11, 10, nil, 1, 10}, {11, 20, nil, 1, 10}, {6, 2, nil, 4, 2},
		{11, 2, chats, 7, 2}, {11, 6, chats, 1, 5}, {11, 0, nil, 11, 0},
	} {
		start, found, _ := l.back(tc.end, tc.n, 100, tc.f)
		if start != uint64(tc.start) || found != tc.found {
			t.Errorf("back(%d, %d): %d, %d, want %d, %d", tc.end, tc.n, start, found, tc.start, tc.found)
		}
	}
}

// A search that is taken up where it stopped finds what one in one go does.
func TestBackInPieces(t *testing.T) {
	l := newFrameLog(1, 1<<20)
	body := []byte("{" + strings.Repeat(" ", 998) + "}")
	for i := range 100 { // over several segments
		kind := parley.SplitKind([]string{"chat", "note", "note"}[i%3])
		l.publish([]entry{{space.Header{Seq: uint64(i) + 1, From: "ann", Kind: kind, Effective: kind}, body}})
	}
	chats := space.NewFilter("bob", space.Settings{Kinds: parley.Capabilities{parley.MustCapability("chat")}})
	for n := range 40 {
		want, found, _ := l.back(101, n, 1_000, chats)
		start, left, more := uint64(101), n, true
		for more && left > 0 {
			at := start
			var some int
			if start, some, more = l.back(start, left, 7, chats); at-start > 7 {
				t.Fatalf("looked at %d", at-start)
			}
			left -= some
		}
		if start != want || n-left != found {
			t.Errorf("%d: from %d, %d, in one go from %d, %d", n, start, n-left, want, found)
		}
	}
}

// Only whole segments are dropped, the newest never.
func TestRetention(t *testing.T) {
	l := newFrameLog(1, 100<<10)
	body := []byte("{" + strings.Repeat(" ", 998) + "}")
	for i := range 1_000 {
		l.publish([]entry{{space.Header{Seq: uint64(i) + 1}, body}})
	}
	if l.held < 100<<10 || l.held > 100<<10+largestSegment {
		t.Errorf("holds %d bytes", l.held)
	}
	if first, next := l.bounds(); next != 1_001 || first < 500 {
		t.Errorf("holds %d to %d", first, next)
	}
	huge := []byte("{" + strings.Repeat(" ", 1<<20) + "}")
	l.publish([]entry{{space.Header{Seq: 1_001}, huge}})
	if first, _ := l.bounds(); first != 1_001 {
		t.Errorf("beside the huge frame %d is held", first)
	}
}

// parkWithPatterns has a cursor wait that has patterns of its own.
func parkWithPatterns(l *frameLog, me string, i, patterns, size int) *cursor {
	var set space.Settings
	for n := range patterns {
		set.Kinds = append(set.Kinds, parley.MustCapability(fmt.Sprintf("x%d-%d-%s*y", i, n, strings.Repeat("*z", size/2))))
	}
	c := newCursor(me, set)
	l.seek(c, 1)
	l.take(c, everything)
	return c
}

// All filters together have so many patterns and no more; those who go make room.
func TestPatternsOfEverybody(t *testing.T) {
	l := newFrameLog(1, 1<<20)
	const each = 64
	var parked []*cursor
	for i := range mostPatterns/each + 10 {
		parked = append(parked, parkWithPatterns(l, fmt.Sprint("p", i), i, each, 2))
	}
	a := l.waiting
	if len(a.groups) != mostPatterns/each || len(a.everyone.members) != 10 {
		t.Errorf("%d groups, and %d who are woken by everything", len(a.groups), len(a.everyone.members))
	}
	for _, c := range parked {
		l.leave(c)
	}
	if a.patterns != 0 || len(a.groups) != 0 {
		t.Errorf("of nobody are left %d patterns, %d groups", a.patterns, len(a.groups))
	}
}

// One who brings a thousand filters of the most costly sort delays nobody: what
// they cost those who publish has a bound.
func TestFiltersOfOneParticipant(t *testing.T) {
	l := newFrameLog(1, 1<<20)
	for i := range 100 {
		c := parkWithPatterns(l, "eve", i, 2, 10)
		defer l.leave(c)
	}
	a := l.waiting
	if len(a.groups) != groupsEach || len(a.everyone.members) != 100-groupsEach {
		t.Errorf("%d groups, and %d who are woken by everything", len(a.groups), len(a.everyone.members))
	}
	if c := parkWithPatterns(l, "bob", 1_000, 2, 10); c.group == a.everyone {
		t.Error("another one's filter has no group")
	}
	for i := range 10 * mostMatters {
		kind := parley.SplitKind(fmt.Sprint("end-", i))
		l.publish([]entry{{space.Header{Seq: l.next, Kind: kind, Effective: kind}, []byte("{}")}})
	}
	if len(a.known) > mostMatters {
		t.Errorf("%d kinds are remembered", len(a.known))
	}
}

// Groups that are gone are forgotten, also where they were known to receive.
func TestGroupsComeAndGo(t *testing.T) {
	l := newFrameLog(1, 1<<20)
	chat := parley.SplitKind("chat")
	for i := range 1_000 {
		set := space.Settings{Kinds: parley.Capabilities{parley.MustCapability("chat"), parley.MustCapability(fmt.Sprint("end-", i))}}
		c := newCursor("eve", set)
		l.seek(c, l.next)
		l.take(c, everything)
		woken := l.publish([]entry{{space.Header{Seq: l.next, Kind: chat, Effective: chat}, []byte("{}")}})
		if !slices.Contains(woken, c) {
			t.Fatalf("number %d is not woken", i)
		}
		l.leave(c)
	}
	a := l.waiting
	held := 0
	for _, r := range a.known {
		held += len(r.groups)
	}
	if len(a.groups)+len(a.brought)+len(a.named) != 0 || len(a.list) > 2 || held > 2 {
		t.Errorf("left: %d groups, %d in the list, %d known", len(a.groups), len(a.list), held)
	}
}

// A space with a thousand connections of one participant, each with its own 64
// patterns, of which none receives the frame.
func BenchmarkPublishBesidePatterns(b *testing.B) {
	for _, size := range []int{10, 2_000} {
		for _, fresh := range []bool{false, true} {
			b.Run(fmt.Sprintf("size-%d/fresh-kinds-%v", size, fresh), func(b *testing.B) {
				l := newFrameLog(1, retainDefault)
				for i := range connectionsEach {
					parkWithPatterns(l, "eve", i, 64, size)
				}
				body := []byte("{" + strings.Repeat(" ", 298) + "}")
				kind := parley.SplitKind("x1-1-" + strings.Repeat("z", 1_000))
				h := space.Header{From: "ann", To: []string{"zoe"}, Kind: kind, Effective: kind}
				for b.Loop() {
					h.Seq = l.next
					if fresh {
						h.Kind = parley.SplitKind(fmt.Sprint("x1-", l.next))
						h.Effective = h.Kind
					}
					l.publish([]entry{{h, body}})
				}
			})
		}
	}
}

func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{0, 200, 3200} {
		b.Run(fmt.Sprintf("idle-directed-%d", n), func(b *testing.B) {
			l := newFrameLog(1, retainDefault)
			for i := range n {
				c := newCursor(fmt.Sprint("p", i), space.Settings{Directed: true})
				l.seek(c, 1)
				l.take(c, everything)
			}
			body := []byte("{" + strings.Repeat(" ", 298) + "}")
			kind := parley.SplitKind("chat")
			h := space.Header{From: "ann", To: []string{"zoe"}, Kind: kind, Effective: kind}
			b.ReportAllocs()
			for b.Loop() {
				h.Seq = l.next
				l.publish([]entry{{h, body}})
			}
		})
	}
}

func TestSpanUntil(t *testing.T) {
	s := span{start: 10, buf: []byte("aabbbc"), frames: []frame{
		{end: 12, header: space.Header{Seq: 4}}, {end: 15, header: space.Header{Seq: 5}}, {end: 16, header: space.Header{Seq: 6}},
	}}
	for seq, want := range map[uint64]string{3: "", 4: "aa", 5: "aabbb", 6: "aabbbc", 9: "aabbbc"} {
		if got := s.until(seq); string(got.buf) != want {
			t.Errorf("until %d: %q with %d frames, want %q", seq, got.buf, len(got.frames), want)
		}
	}
}
