package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
)

// What was before comes in front, with what became of it.
func TestBefore(t *testing.T) {
	var past []*parley.Envelope
	seq := uint64(0)
	for _, text := range []string{
		`{"id":"c0","from":"agent","kind":"chat","context":{"id":"c","type":"reasoning"},"payload":{"text":"zero"}}`,
		proposal,
		strings.ReplaceAll(strings.ReplaceAll(proposal, `"id":"p"`, `"id":"q"`), "write_file", "read_file"),
		`{"id":"call","from":"you","to":["files"],"kind":"mcp/request:tools/list","payload":{"id":"call","method":"tools/list"}}`,
	} {
		e, err := parley.Decode([]byte(text), 100)
		if err != nil {
			t.Fatal(err)
		}
		seq++
		e.Seq = seq
		past = append(past, e)
	}
	s := New(0)
	s.last = seq
	tell(t, s, fulfils, answers,
		`{"id":"no","from":"boss","kind":"mcp/reject:tools/call:read_file","correlation_id":"q","payload":{"reason":"unsafe"}}`,
		`{"id":"list","from":"files","kind":"mcp/response:tools/list","correlation_id":"call","payload":{"id":"call","result":{}}}`,
		`{"id":"c1","from":"agent","kind":"chat","context":"c","payload":{"text":"one"}}`)
	newest := s.Rows()[len(s.Rows())-1]
	s.Before(past)
	var got []string
	for i, r := range s.Rows() {
		if s.Row(r.N) != r || i > 0 && r.N != s.Rows()[i-1].N+1 {
			t.Errorf("row %d has the number %d", i, r.N)
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.ID, r.State, r.By)))
	}
	want := "[c0 p done you q rejected boss call done f done no rejected list done c1]"
	if fmt.Sprint(got) != want {
		t.Errorf("the rows are %v, want %s", got, want)
	}
	if c := s.Context("c"); c.Count != 2 || c.Type != "reasoning" || s.Find("c1") != newest || s.First() != 1 || s.Find("p").State != Done {
		t.Errorf("the context is %+v, the first position %d", c, s.First())
	}
}
