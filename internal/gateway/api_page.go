package gateway

import (
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	pageDefault = 100
	pageMost    = 1_000
	pageBytes   = 4 << 20 // of items, after which a page ends early
)

// page is a part of a list that is being put together (section 10 of the
// contract): {"items": […], "next": CURSOR or absent}.
type page struct {
	most    int
	items   int
	body    []byte
	last    uint64         // place of the newest item
	next    uint64         // where the next page goes on; 0 is the end
	members jsontext.Value // further members, without braces
}

func newPage(most int) *page { return &page{most: most, body: []byte(`{"items":[`)} }

// add takes in an item that stands at a position, or reports false where it
// belongs to the next page.
func (p *page) add(item []byte, seq uint64) bool {
	full := p.items >= p.most || len(p.body)+len(item) > pageBytes
	if full && p.items > 0 {
		p.next = p.last
		return false
	}
	if p.items > 0 {
		p.body = append(p.body, ',')
	}
	p.body = append(p.body, item...)
	p.items++
	p.last = seq
	return true
}

func (p *page) write(w http.ResponseWriter) error {
	b := append(p.body, ']')
	if p.next > 0 {
		b = strconv.AppendUint(append(b, `,"next":`...), p.next, 10)
	}
	if len(p.members) > 0 {
		b = append(append(b, ','), p.members...)
	}
	return writeJSON(w, http.StatusOK, append(b, '}', '\n'))
}

// writeJSON answers with a body that is JSON already. Where the client is gone
// there is nobody to tell.
func writeJSON(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
	return nil
}
