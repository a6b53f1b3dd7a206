package form

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/schema"
)

// ambiguous is what is wrong with JSON that two parsers could read differently.
const ambiguous = "it is no JSON that can be understood in one way only"

// An object is a part of a request that is being read.
type object struct {
	at     string
	fields []jsonrpc.Field
}

func open(raw jsontext.Value, at string) (*object, error) {
	if raw.Kind() != '{' {
		return nil, refuse(at, "expected an object, got %s", kindInWords(raw))
	}
	o := &object{at: at}
	for f, err := range jsonrpc.Members(raw) {
		if err != nil {
			return nil, refuse(at, "%s", ambiguous)
		}
		o.fields = append(o.fields, f)
	}
	return o, nil
}

func (o *object) get(name string) (jsontext.Value, bool) {
	i := slices.IndexFunc(o.fields, func(f jsonrpc.Field) bool { return f.Name == name })
	if i < 0 {
		return nil, false
	}
	return o.fields[i].Value, true
}

func (o *object) has(name string) bool {
	_, ok := o.get(name)
	return ok
}

func (o *object) wrong(member, format string, args ...any) error {
	where := member
	if o.at != "" {
		where = o.at + "." + member
	}
	return refuse(where, format, args...)
}

// given is a member as a person may read it.
func (o *object) given(name string) string {
	v, ok := o.get(name)
	switch {
	case !ok:
		return "nothing"
	case v.Kind() == '"':
		return shown(unquote(v))
	}
	return kindInWords(v)
}

// text is a string of bounded length; "" where there is none.
func (o *object) text(name string, most int) (string, error) {
	v, ok := o.get(name)
	if !ok {
		return "", nil
	}
	return o.asText(name, v, most)
}

func (o *object) asText(name string, v jsontext.Value, most int) (string, error) {
	if v.Kind() != '"' {
		return "", o.wrong(name, "expected a string, got %s", kindInWords(v))
	}
	s := unquote(v)
	if len(s) > most {
		return "", o.wrong(name, "longer than %d bytes", most)
	}
	return s, nil
}

// texts is a list of strings; nil where there is none.
func (o *object) texts(name string, most, bytes int) ([]string, error) {
	var all []string
	err := o.each(name, most, func(v jsontext.Value) error {
		s, err := o.asText(name, v, bytes)
		all = append(all, s)
		return err
	})
	return all, err
}

// each goes over a list.
func (o *object) each(name string, most int, read func(jsontext.Value) error) error {
	list, ok := o.get(name)
	if !ok {
		return nil
	}
	if list.Kind() != '[' {
		return o.wrong(name, "expected a list, got %s", kindInWords(list))
	}
	n := 0
	for v, err := range jsonrpc.Values(list) {
		if err != nil {
			return o.wrong(name, "%s", ambiguous)
		}
		if n++; n > most {
			return o.wrong(name, "there are more than %d", most)
		}
		if err := read(v); err != nil {
			return err
		}
	}
	return nil
}

// count is a whole number of at least zero; nil where there is none.
func (o *object) count(name string) (*int64, error) {
	v, ok := o.get(name)
	if !ok {
		return nil, nil
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(string(v), ".0"), 10, 64)
	if v.Kind() != '0' || err != nil || n < 0 {
		return nil, o.wrong(name, "expected a whole number of at least 0, got %s", o.short(v))
	}
	return &n, nil
}

// number is a number with all its digits; nil where there is none.
func (o *object) number(name string) (jsontext.Value, error) {
	v, ok := o.get(name)
	if !ok {
		return nil, nil
	}
	if v.Kind() != '0' {
		return nil, o.wrong(name, "expected a number, got %s", kindInWords(v))
	}
	if len(v) > MaxNumber {
		return nil, o.wrong(name, "the number has more than %d characters", MaxNumber)
	}
	return v, nil
}

func (o *object) short(v jsontext.Value) string {
	if v.Kind() == '0' && len(v) <= MaxNumber {
		return string(v)
	}
	return kindInWords(v)
}

// without refuses the first of some keywords that is there.
func (o *object) without(keywords ...string) error {
	for _, k := range keywords {
		if o.has(k) {
			return o.wrong(k, "MCP's forms have no such thing: their fields are strings, numbers, booleans and choices (%s#requested-schema)", specification)
		}
	}
	return nil
}

func kindInWords(v jsontext.Value) string {
	if len(v) == 0 {
		return "nothing"
	}
	return schema.KindInWords(v.Kind())
}

// unquote is what a string says that was read before, and so is valid.
func unquote(v jsontext.Value) string {
	s, _ := jsontext.AppendUnquote(nil, v)
	return string(s)
}

// quote writes a string; what is no UTF-8 was refused before.
func quote(s string) jsontext.Value {
	v, _ := jsontext.AppendQuote(nil, s)
	return v
}
