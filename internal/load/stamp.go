package load

import (
	"bytes"
	"strings"
)

// A stamp is a time of [Now], in a form that is found in any message without
// knowing what surrounds it: "~t:" and sixteen hexadecimal digits.
const (
	stampMark = "~t:"
	stampSize = len(stampMark) + 16
)

// AppendStamp appends a time as it stands in messages.
func AppendStamp(dst []byte, t int64) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, stampMark...)
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[uint64(t)>>shift&15])
	}
	return dst
}

// AppendFiller appends a stamp and as much filler as makes size bytes of them,
// none of which has a meaning in any protocol.
func AppendFiller(dst []byte, t int64, size int) []byte {
	dst = AppendStamp(dst, t)
	for size -= stampSize; size > 0; size -= len(filler) {
		dst = append(dst, filler[:min(size, len(filler))]...)
	}
	return dst
}

var filler = strings.Repeat("x", 1<<10)

// findStamp finds the first stamp of a message.
func findStamp(message []byte) (t int64, ok bool) {
	i := bytes.Index(message, []byte(stampMark))
	if i < 0 || len(message) < i+stampSize {
		return 0, false
	}
	var v uint64
	for _, c := range message[i+len(stampMark) : i+stampSize] {
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | uint64(c-'0')
		case 'a' <= c && c <= 'f':
			v = v<<4 | uint64(c-'a'+10)
		default:
			return 0, false
		}
	}
	return int64(v), true
}
