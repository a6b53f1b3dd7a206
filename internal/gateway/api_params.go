package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleyhq/parley"
)

// params reads the parameters of a query. The first that is wrong, or that
// nobody asked about, is what [params.done] refuses.
type params struct {
	values url.Values
	asked  []string
	err    error
}

func readParams(r *http.Request) *params {
	values, err := url.ParseQuery(r.URL.RawQuery)
	p := &params{values: values}
	if err != nil {
		p.fail("the query string cannot be read: %v", err)
	}
	return p
}

func (p *params) fail(format string, args ...any) *parley.Error {
	err := parley.Errorf(parley.InvalidArgument, format, args...)
	if p.err == nil {
		p.err = err
	}
	return err
}

// done is what was wrong, or nil.
func (p *params) done() error {
	if p.err != nil {
		return p.err
	}
	names := make([]string, 0, len(p.values))
	for name := range p.values {
		if !slices.Contains(p.asked, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	slices.Sort(p.asked)
	err := parley.Errorf(parley.InvalidArgument, "this call has no parameter %.80q", names[0])
	if len(p.asked) == 0 {
		return err.WithHint("it has none")
	}
	return err.WithHint("it has %s", strings.Join(p.asked, ", "))
}

// text is a parameter that may be given once.
func (p *params) text(name string) string {
	p.asked = append(p.asked, name)
	values := p.values[name]
	if len(values) == 0 {
		return ""
	}
	if len(values) > 1 {
		p.fail("%s is given %d times", name, len(values))
	}
	if values[0] == "" {
		p.fail("%s is empty", name)
	}
	return values[0]
}

// list is a parameter that may be given several times.
func (p *params) list(name string) []string {
	p.asked = append(p.asked, name)
	values := p.values[name]
	if slices.Contains(values, "") {
		p.fail("%s is empty", name)
	}
	if len(values) > mostRepeated {
		p.fail("%s is given %d times, the limit is %d", name, len(values), mostRepeated)
	}
	return values
}

const mostRepeated = 64

// position is a place in an order; 0 is none.
func (p *params) position(name string) uint64 {
	text := p.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		p.fail("%s is %.40q, not a position", name, text).WithHint("positions are whole numbers, as in seq")
	}
	return n
}

// limit is how many items a page has at most.
func (p *params) limit() int {
	text := p.text("limit")
	if text == "" {
		return pageDefault
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > pageMost {
		p.fail("limit is %.40q, not a number from 1 to %d", text, pageMost)
	}
	return n
}

// newest reports whether order says that the newest come first.
func (p *params) newest() bool { return p.choice("order", "asc", "desc") == "desc" }

// patterns are kinds as in a capability, of which one has to match.
func (p *params) patterns(name string) []string {
	list := p.list(name)
	for _, text := range list {
		if c, err := parley.ParseCapability(text); err != nil || c.Deny() || text[0] == '{' {
			p.fail("%s is %.80q, not a pattern of kinds", name, text).
				WithHint("write one like chat or mcp/request:tools/call:*")
		}
	}
	return list
}

// time is a time as in RFC 3339; zero is none.
func (p *params) time(name string) time.Time {
	text := p.text(name)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		p.fail("%s is %.40q, not a time as in RFC 3339", name, text).WithHint("write it like 2026-01-31T15:04:05Z")
	}
	return at.UTC()
}

// flag is true or false; what it is otherwise where it is not given.
func (p *params) flag(name string, otherwise bool) bool {
	return p.choice(name, strconv.FormatBool(otherwise), strconv.FormatBool(!otherwise)) == "true"
}

// choice is one of several words; the first where it is not given.
func (p *params) choice(name string, words ...string) string {
	text := p.text(name)
	if text == "" {
		return words[0]
	}
	if !slices.Contains(words, text) {
		p.fail("%s is %.40q, not one of %s", name, text, strings.Join(words, ", "))
	}
	return text
}
