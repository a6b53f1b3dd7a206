package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Progress is for who looks, and leaves nothing on the line.
func TestProgress(t *testing.T) {
	for _, tty := range []bool{true, false} {
		var err strings.Builder
		p := &progress{t: &terminal{err: &err, errTTY: tty}}
		p.show(0, 0)
		p.show(1<<20, 4<<20)
		p.show(4<<20, 4<<20)
		p.done()
		want := ""
		if tty {
			line := func(text string) string { return "\r" + text + strings.Repeat(" ", 32-utf8.RuneCountInString(text)) }
			want = line("copying: 25% of 4.0 MiB") + line("copied; checking …") + line("") + "\r"
		}
		if err.String() != want {
			t.Errorf("it wrote %q, want %q", err.String(), want)
		}
	}
}
