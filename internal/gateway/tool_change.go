package gateway

import (
	"encoding/hex"
	"maps"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// append writes a tool as a notice holds it.
func (d *definition) append(b []byte) []byte {
	b = appendQuote(append(b, `{"name":`...), d.name)
	b = appendQuote(append(b, `,"digest":`...), hex.EncodeToString(d.digest[:]))
	return append(d.appendDefinition(b), '}')
}

func (d *definition) appendDefinition(b []byte) []byte {
	if d.json == nil {
		return strconv.AppendInt(append(b, `,"size":`...), int64(d.size), 10)
	}
	return append(append(b, `,"definition":`...), d.json...)
}

// appendChange writes a tool that had another definition; was is nil where that
// cannot be read any more. The difference takes at most so many bytes.
func (d *definition) appendChange(b []byte, before parley.Digest, was jsontext.Value, most int) []byte {
	list, more := []difference(nil), false
	summary := "the definition before is not on record in full"
	switch {
	case d.json == nil:
		summary = "the new definition, of " + strconv.Itoa(d.size) + " bytes, cannot be shown"
	case was != nil:
		list, more = differences(was, d.json, most)
		summary = summarize(list, more)
	}
	b = appendQuote(append(b, `{"name":`...), d.name)
	b = appendQuote(append(b, `,"digest":`...), hex.EncodeToString(d.digest[:]))
	b = appendQuote(append(b, `,"previous":`...), hex.EncodeToString(before[:]))
	b = appendQuote(append(b, `,"summary":`...), summary)
	if list != nil {
		b = append(b, `,"difference":[`...)
		for i, one := range list {
			if i > 0 {
				b = append(b, ',')
			}
			b = one.append(b)
		}
		b = append(b, ']')
	}
	if more {
		b = append(b, `,"more":true`...)
	}
	return append(d.appendDefinition(b), '}')
}

// difference is one place at which two values are not the same.
type difference struct {
	path          string         // a JSON pointer
	before, after jsontext.Value // nil where there is nothing
	clipped       bool           // a value is the beginning of its text, as a string
}

// Bounds of what is shown of a difference.
const (
	mostDifferences = 64
	mostPath        = 512     // bytes
	mostValue       = 2 << 10 // bytes of a value
)

func (d *difference) append(b []byte) []byte {
	b = appendQuote(append(b, `{"path":`...), d.path)
	if d.before != nil {
		b = append(append(b, `,"before":`...), d.before...)
	}
	if d.after != nil {
		b = append(append(b, `,"after":`...), d.after...)
	}
	if d.clipped {
		b = append(b, `,"clipped":true`...)
	}
	return append(b, '}')
}

// differences compares two valid JSON values, in the order of the first, and says
// whether there is more than the bounds let it show.
func differences(before, after jsontext.Value, most int) ([]difference, bool) {
	c := comparison{bytes: most}
	c.values("", before, after)
	return c.list, c.more
}

type comparison struct {
	list  []difference
	bytes int // left
	more  bool
}

func (c *comparison) values(path string, before, after jsontext.Value) {
	switch kind := before.Kind(); {
	case c.more:
	case kind == '{' && after.Kind() == '{':
		c.objects(path, before, after)
	case kind == '[' && after.Kind() == '[':
		c.arrays(path, before, after)
	case kind != after.Kind() || parley.DigestParams(before) != parley.DigestParams(after):
		c.add(path, before, after)
	}
}

func (c *comparison) objects(path string, before, after jsontext.Value) {
	now := maps.Collect(parley.Members(after))
	for name, value := range parley.Members(before) {
		if other, still := now[name]; still {
			c.values(below(path, name), value, other)
		} else {
			c.add(below(path, name), value, nil)
		}
		delete(now, name)
	}
	for name, value := range parley.Members(after) {
		if _, added := now[name]; added {
			c.add(below(path, name), nil, value)
		}
	}
}

func (c *comparison) arrays(path string, before, after jsontext.Value) {
	var now []jsontext.Value
	for el := range parley.Elements(after) {
		now = append(now, el)
	}
	i := 0
	for el := range parley.Elements(before) {
		if i < len(now) {
			c.values(below(path, strconv.Itoa(i)), el, now[i])
		} else {
			c.add(below(path, strconv.Itoa(i)), el, nil)
		}
		i++
	}
	for ; i < len(now); i++ {
		c.add(below(path, strconv.Itoa(i)), nil, now[i])
	}
}

// below is the pointer to a member or element.
func below(path, name string) string {
	return path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func (c *comparison) add(path string, before, after jsontext.Value) {
	d := difference{path: clip(path, mostPath)}
	d.before, d.after = d.clip(before), d.clip(after)
	size := len(d.append(nil))
	if c.more = c.more || len(c.list) == mostDifferences || size > c.bytes; c.more {
		return
	}
	c.bytes -= size
	c.list = append(c.list, d)
}

func (d *difference) clip(v jsontext.Value) jsontext.Value {
	if len(v) <= mostValue {
		return v
	}
	d.clipped = true
	return appendQuote(nil, clip(string(v), mostValue)+"…")
}

// summarize says in a line, of at most [space.MaxToolChange] bytes, what is
// different.
func summarize(list []difference, more bool) string {
	const room = space.MaxToolChange - len("; and more")
	var b strings.Builder
	for i, d := range list {
		text := d.text()
		if i > 0 && b.Len()+len("; ")+len(text) > room {
			more = true
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(clip(text, room))
	}
	if more {
		b.WriteString("; and more")
	}
	return b.String()
}

// text is a difference in a few words.
func (d *difference) text() string {
	path := clip(d.path, 120)
	if path == "" {
		path = "all of it"
	}
	text := path + ": " + inShort(d.before) + " → " + inShort(d.after)
	switch {
	case d.before == nil:
		text = path + " is new: " + inShort(d.after)
	case d.after == nil:
		text = path + " is gone"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
}

func inShort(v jsontext.Value) string {
	const most = 100
	if len(v) <= most {
		return string(v)
	}
	return clip(string(v), most) + "…"
}
