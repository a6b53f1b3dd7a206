package openai

import "bytes"

// stops are the sequences at which a reply ends.
type stops [][]byte

func newStops(sequences []string) (s stops) {
	for _, sequence := range sequences {
		if sequence != "" {
			s = append(s, []byte(sequence))
		}
	}
	return s
}

// cut is where text ends, and whether that is at a sequence. The last n bytes are
// new: what stood before was looked at.
func (s stops) cut(text []byte, n int) (int, bool) {
	at := len(text)
	for _, sequence := range s {
		from := max(0, len(text)-n-len(sequence)+1)
		if i := bytes.Index(text[from:], sequence); i >= 0 {
			at = min(at, from+i)
		}
	}
	return at, at < len(text)
}
