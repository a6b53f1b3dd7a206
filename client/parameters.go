package client

import (
	"cmp"
	"net/url"
	"strconv"
	"time"
)

// parameters are what is asked of the gateway in an address. What is zero is left
// out: the gateway decides it then.
type parameters url.Values

func (p parameters) set(name, value string) {
	if value != "" {
		url.Values(p).Set(name, value)
	}
}

func (p parameters) position(name string, seq uint64) {
	if seq > 0 {
		p.set(name, strconv.FormatUint(seq, 10))
	}
}

func (p parameters) time(name string, t time.Time) {
	if !t.IsZero() {
		p.set(name, t.UTC().Format(time.RFC3339Nano))
	}
}

func (p parameters) on(name, value string, on bool) {
	if on {
		p.set(name, value)
	}
}

// page asks for a page of what may be limited as a whole.
func (p parameters) page(limit int, descending bool) {
	p.set("limit", strconv.Itoa(min(cmp.Or(limit, pageSize), pageSize)))
	p.on("order", "desc", descending)
}
