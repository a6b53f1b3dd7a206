package main

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// toolsSeen names tools whose definitions came on record.
func (r *renderer) toolsSeen(l *line, payload jsontext.Value) {
	var names []string
	for tool := range parley.Elements(parley.Member(payload, "tools")) {
		names = append(names, member(tool, "name"))
	}
	l.text = r.paint.note("· "+member(payload, "participant")+" offers "+plural(len(names), "tool", "tools")) +
		r.paint.dim(": "+r.cut(strings.Join(names, ", "), wide))
}

// toolsChanged says what is different of each.
func (r *renderer) toolsChanged(l *line, payload jsontext.Value) {
	n := 0
	for tool := range parley.Elements(parley.Member(payload, "tools")) {
		n++
		name := member(tool, "name")
		difference := parley.Member(tool, "difference")
		if difference == nil {
			l.more = append(l.more, r.paint.name(name)+": "+r.cut(member(tool, "summary"), wide))
		}
		for d := range parley.Elements(difference) {
			l.more = append(l.more, r.paint.name(name)+" "+r.difference(d))
		}
		if parley.Member(tool, "more") != nil {
			l.more = append(l.more, r.paint.name(name)+": and more")
		}
	}
	l.text = r.paint.bad("· " + member(payload, "participant") + " has changed " + plural(n, "tool", "tools"))
	if !r.full {
		l.more = firstLines(l.more)
	}
}

func (r *renderer) difference(d jsontext.Value) string {
	value := func(name string) string { return r.cut(clean(compact(parley.Member(d, name))), wide) }
	path := member(d, "path")
	switch before, after := parley.Member(d, "before"), parley.Member(d, "after"); {
	case before == nil:
		return path + " is new: " + value("after")
	case after == nil:
		return path + " is gone: " + value("before")
	}
	return path + ": " + value("before") + " → " + value("after")
}
