package gateway

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// talk is an envelope that compresses well.
func talk(seq uint64, kind string, size int) entry {
	k := parley.SplitKind(kind)
	body := fmt.Sprintf(`{"kind":%q,"payload":{"n":%d,"text":"`, kind, seq)
	body += strings.Repeat("the same again ", size/15+1)[:max(0, size-len(body))] + `"}}`
	return entry{space.Header{Seq: seq, From: "ann", Kind: k, Effective: k}, []byte(body)}
}

// texts are the messages of what goes over the wire.
func texts(t testing.TB, wire []byte) (list []string) {
	for len(wire) > 0 {
		from := framePrefix(wire)
		n := int(wire[1])
		switch from {
		case 4:
			n = int(wire[2])<<8 | int(wire[3])
		case 10:
			n = int(wire[6])<<24 | int(wire[7])<<16 | int(wire[8])<<8 | int(wire[9])
		}
		text := wire[from : from+n]
		if wire[0]&compressed != 0 {
			var err error
			if text, err = inflate(nil, text, 10<<20); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, string(text))
		wire = wire[from+n:]
	}
	return list
}

// However spans are asked for, compressed they say what they say otherwise, and
// what was handed out does not change.
func TestPackedSaysTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newFrameLog(1, 1<<20)
		seq := uint64(0)
		type handed struct{ wire, copied []byte }
		var all []handed
		filter := space.NewFilter("bob", space.Settings{Kinds: parley.Capabilities{parley.MustCapability("chat")}})
		rt.Repeat(map[string]func(*rapid.T){
			"publish": func(rt *rapid.T) {
				var batch []entry
				for range rapid.IntRange(1, 10).Draw(rt, "n") {
					seq++
					kind := rapid.SampledFrom([]string{"chat", "note"}).Draw(rt, "kind")
					batch = append(batch, talk(seq, kind, rapid.SampledFrom([]int{100, 600, 3_000, 20_000}).Draw(rt, "size")))
				}
				l.publish(batch)
			},
			"read": func(rt *rapid.T) {
				first, next := l.bounds()
				if first == next {
					rt.Skip("empty")
				}
				c := newCursor("bob", space.Settings{})
				l.seek(c, rapid.Uint64Range(first, next-1).Draw(rt, "from"))
				s, found := l.take(c, rapid.Uint64Range(first, next).Draw(rt, "up to"))
				if found != ready {
					rt.Skip("nothing")
				}
				if wire := l.packed(s); wire != nil {
					all = append(all, handed{wire, bytes.Clone(wire)})
					same(t, texts(t, wire), texts(t, s.buf))
				}
				same(t, texts(t, l.appendPacked(nil, s)), texts(t, s.buf))
			},
			"filter": func(rt *rapid.T) {
				first, next := l.bounds()
				if first == next {
					rt.Skip("empty")
				}
				c := newCursor("bob", space.Settings{})
				l.seek(c, rapid.Uint64Range(first, next-1).Draw(rt, "from"))
				s, _ := l.take(c, everything)
				plain, n, _ := s.gather(nil, filter, len(s.buf)+1)
				packed, m := l.gatherPacked(nil, s, filter)
				if n != m {
					t.Fatalf("%d and %d match", n, m)
				}
				same(t, texts(t, packed), texts(t, plain))
			},
			"": func(rt *rapid.T) {
				for _, h := range all {
					if !bytes.Equal(h.wire, h.copied) {
						t.Fatal("what was handed out has changed")
					}
				}
				held, packed := 0, 0
				for _, s := range l.segments {
					held += len(s.buf)
					packed += s.packed
					if s.packed != cap(s.packing.buf) {
						t.Fatalf("%d bytes count, %d are there", s.packed, cap(s.packing.buf))
					}
				}
				if held != l.held || packed != l.packedHeld {
					t.Fatalf("the log counts %d and %d, it has %d and %d", l.held, l.packedHeld, held, packed)
				}
			},
		})
	})
}

func same(t testing.TB, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("%.300q, want %.300q", got, want)
	}
}

// What is compressed counts in what the log may keep.
func TestPackedIsBounded(t *testing.T) {
	const retain = 1 << 20
	l := newFrameLog(1, retain)
	c := newCursor("bob", space.Settings{})
	l.seek(c, 1)
	for seq := uint64(1); seq <= 3_000; seq++ {
		l.publish([]entry{talk(seq, "chat", 2_000)})
		if s, found := l.take(c, everything); found == ready {
			l.packed(s)
		}
	}
	if l.packedHeld == 0 || l.held+l.packedHeld < retain || l.held+l.packedHeld > retain+2*largestSegment {
		t.Errorf("keeps %d and %d bytes", l.held, l.packedHeld)
	}
	_, next := l.bounds()
	l.forget(next - 1)
	if l.held != 0 || l.packedHeld != 0 {
		t.Errorf("of nothing it counts %d and %d bytes", l.held, l.packedHeld)
	}
}

// A frame is compressed once, whoever asks, and what is small never.
func TestPackedOnce(t *testing.T) {
	l := newFrameLog(1, 1<<20)
	for seq := uint64(1); seq <= 20; seq++ {
		l.publish([]entry{talk(seq, "chat", 600)})
	}
	c := newCursor("bob", space.Settings{})
	l.seek(c, 1)
	s, _ := l.take(c, everything)
	if !s.worthPacking() {
		t.Error("600 bytes are not worth it")
	}
	var readers sync.WaitGroup
	wires := make([][]byte, 16)
	for i := range wires {
		readers.Go(func() { wires[i] = l.packed(s) })
	}
	readers.Wait()
	for _, wire := range wires {
		if &wire[0] != &wires[0][0] {
			t.Error("two connections send different copies")
		}
	}
	l.publish([]entry{talk(21, "chat", 100), talk(22, "chat", 200), talk(23, "chat", 300)})
	l.seek(c, 21)
	if s, _ = l.take(c, everything); s.worthPacking() {
		t.Error("frames that are small are worth it together")
	}
}
