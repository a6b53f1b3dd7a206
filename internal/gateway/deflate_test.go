package gateway

import (
	"bytes"
	"compress/flate"
	"math/rand/v2"
	"strings"
	"testing"
)

// deflated is a message as a client compresses it.
func deflated(text string) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression)
	_, _ = w.Write([]byte(text))
	_ = w.Flush()
	return bytes.TrimSuffix(b.Bytes(), []byte(blockEnd))
}

// ended is a message whose blocks have a last one, as RFC 7692 allows in 7.2.3.4.
func ended(text string) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

func TestInflate(t *testing.T) {
	long := strings.Repeat("what is long is long ", 5_000)
	for _, tc := range []struct {
		name    string
		message []byte
		want    string
		fails   bool
	}{
		{"of the RFC", []byte{0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00}, "Hello", false},
		{"of the RFC, stored", []byte{0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00}, "Hello", false},
		{"of the RFC, last block", []byte{0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00}, "Hello", false},
		{"of the RFC, two blocks", []byte{0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00}, "Hello", false},
		{"empty", []byte{0}, "", false},
		{"long", deflated(long), long, false},
		{"goes on behind a last block", append(ended("a"), deflated("b")...), "ab", false},
		{"nothing at all", nil, "", true},
		{"cut", deflated(long)[:20], "", true},
		{"no deflate", []byte("hello, this is text"), "", true},
		{"block of no kind", []byte{0x06}, "", true},
		{"refers to what was before", []byte{0x02, 0x13, 0x00, 0x00}, "", true},
		{"last blocks without end", bytes.Repeat([]byte{0x03, 0x00}, 1_000), "", true},
	} {
		got, err := inflate(nil, tc.message, 1<<20)
		if tc.fails {
			if err == nil {
				t.Errorf("%s: becomes %.50q", tc.name, got)
			}
			continue
		}
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: becomes %.50q, %v", tc.name, got, err)
		}
	}
}

// A message that would become a gigabyte becomes what it may, and no byte more.
func TestInflateBomb(t *testing.T) {
	bomb := deflated(strings.Repeat("\x00", 64<<20))
	for _, n := range []int{1, 1000, 1 << 20} {
		got, err := inflate(nil, bomb, n)
		if err != nil || len(got) != n || cap(got) > max(1024, n) {
			t.Errorf("up to %d: %d bytes in %d, %v", n, len(got), cap(got), err)
		}
	}
}

func TestAppendPacked(t *testing.T) {
	noise := make([]byte, 3_000)
	for i := range noise {
		noise[i] = byte(rand.IntN(256))
	}
	for name, tc := range map[string]struct {
		text   string
		packed bool
	}{
		"short":      {strings.Repeat("a", packAbove-5), false},
		"long":       {strings.Repeat("a", packAbove), true},
		"very long":  {strings.Repeat("abcdefg ", 100_000), true},
		"no smaller": {string(noise), false},
	} {
		frame := append(appendFrameHeader(nil, opText, len(tc.text)), tc.text...)
		got := appendPacked([]byte("before"), frame)[len("before"):]
		if packed := got[0]&compressed != 0; packed != tc.packed {
			t.Errorf("%s: compressed %v", name, packed)
			continue
		}
		if !tc.packed {
			if !bytes.Equal(got, frame) {
				t.Errorf("%s: changed", name)
			}
			continue
		}
		text, err := inflate(nil, got[framePrefix(got):], 1<<20)
		if err != nil || string(text) != tc.text || len(got) >= len(frame) {
			t.Errorf("%s: %d bytes become %d, %v", name, len(got), len(text), err)
		}
	}
}

// Nothing that is said to be compressed makes more than it may, and what is
// compressed here or there is what it was.
func FuzzInflate(f *testing.F) {
	f.Add([]byte{0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00}, uint16(10))
	f.Add(deflated(strings.Repeat("long ", 1000)), uint16(70))
	f.Add(append(ended("a"), 0), uint16(1))
	f.Fuzz(func(t *testing.T, message []byte, n uint16) {
		kept := bytes.Clone(message)
		if got, _ := inflate(nil, message, int(n)); len(got) > int(n) {
			t.Errorf("%d bytes, allowed were %d", len(got), n)
		}
		if !bytes.Equal(message, kept) {
			t.Error("the message was changed")
		}
		frame := append(appendFrameHeader(nil, opText, len(message)), message...)
		wire := appendPacked(nil, frame)
		if wire[0]&compressed == 0 {
			if !bytes.Equal(wire, frame) {
				t.Error("a frame that is not compressed was changed")
			}
			return
		}
		text, err := inflate(nil, wire[framePrefix(wire):], len(message)+1)
		if err != nil || !bytes.Equal(text, message) {
			t.Errorf("%q comes back as %q, %v", message, text, err)
		}
	})
}
