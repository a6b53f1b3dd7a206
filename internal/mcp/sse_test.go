package mcp

import (
	"strings"
	"testing"
)

func FuzzEvents(f *testing.F) {
	f.Add("data: {}\n\n")
	f.Add(": c\nid: 1\r\nretry: 5\r\ndata: a\ndata:b\r\n\r\n")
	f.Add("data")
	f.Fuzz(func(t *testing.T, in string) {
		const max = 64
		read := 0
		for e, err := range Events(strings.NewReader(in), max) {
			if err != nil {
				break
			}
			read += len(e.Data)
			if len(e.Data) > max || e.Retry < 0 || e.Retry > MaxRetryDelay {
				t.Fatalf("%+v", e)
			}
		}
		if read > len(in) {
			t.Fatalf("%d bytes of data in %d bytes", read, len(in))
		}
	})
}
