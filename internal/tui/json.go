package tui

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/tui/safe"
)

// mostInset is how far in JSON goes: what is nested deeper stays there, since a
// thousand levels would be a megabyte of blanks.
const mostInset = 12

// layout puts valid JSON on lines, without changing a byte of its names and values:
// numbers keep all digits, and members their order.
func layout(v jsontext.Value) string {
	var b strings.Builder
	depth := 0
	line := func() {
		b.WriteByte('\n')
		b.WriteString(strings.Repeat("  ", min(depth, mostInset)))
	}
	for i := 0; i < len(v); i++ {
		switch c := v[i]; c {
		case ' ', '\t', '\r', '\n':
		case '"':
			end := stringEnd(v, i)
			b.Write(v[i:end])
			i = end - 1
		case '{', '[':
			b.WriteByte(c)
			if next := firstShown(v, i+1); next < len(v) && v[next] == c+2 {
				b.WriteByte(c + 2)
				i = next
				continue
			}
			depth++
			line()
		case '}', ']':
			depth--
			line()
			b.WriteByte(c)
		case ',':
			b.WriteByte(c)
			line()
		case ':':
			b.WriteString(": ")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func stringEnd(v []byte, at int) int {
	for i := at + 1; i < len(v); i++ {
		switch v[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(v)
}

func firstShown(v []byte, at int) int {
	for at < len(v) && bytes.IndexByte([]byte(" \t\r\n"), v[at]) >= 0 {
		at++
	}
	return at
}

// editable is JSON to be edited: what would not show as itself stands as an escape,
// which means the same.
func editable(v jsontext.Value) string {
	text := layout(v)
	var b strings.Builder
	for _, r := range text {
		s := string(r)
		if r < utf8.RuneSelf || safe.Text(s) == s {
			b.WriteString(s)
			continue
		}
		if r > 0xffff {
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
