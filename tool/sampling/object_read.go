package sampling

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/schema"
)

// A DecodeError says what could not be read, and where.
type DecodeError struct {
	Where   string // such as "messages[2].content[0]"; "" is the whole document
	Block   string // the type of the block that it is in, if any
	Member  string // whose value is wrong or missing, if it is one member
	Problem string // such as "expected a string, got a number"
}

// Error is "sampling: messages[2].content[0] (tool_use): input: PROBLEM".
func (e *DecodeError) Error() string {
	var b strings.Builder
	b.WriteString("sampling: ")
	b.WriteString(e.Where)
	if e.Block != "" {
		b.WriteString(" (" + clip(e.Block, 64) + ")")
	}
	if e.Where != "" || e.Block != "" {
		b.WriteString(": ")
	}
	if e.Member != "" {
		b.WriteString(e.Member + ": ")
	}
	b.WriteString(e.Problem)
	return b.String()
}

// An object is one that is being taken apart. The first error stays.
type object struct {
	at, block string
	fields    []field
	err       error
}

type field struct {
	jsonrpc.Field
	written []byte // its name, quotes and escapes included
	used    bool
}

// open reads the members of an object that is all there is in raw.
func open(raw jsontext.Value, at string) *object {
	o := &object{at: at}
	if kind := raw.Kind(); kind != '{' {
		o.err = &DecodeError{Where: at, Problem: "expected an object, got " + schema.KindInWords(kind)}
		return o
	}
	from := 0
	for f, err := range jsonrpc.Members(raw) {
		if err != nil {
			o.err = syntax(at, err)
			return o
		}
		if len(o.fields) == maxMembers {
			o.err = &DecodeError{Where: at, Problem: "more than " + itoa(maxMembers) + " members"}
			return o
		}
		o.fields = append(o.fields, field{Field: f, written: nameAsWritten(raw[from:f.Start])})
		from = f.End
	}
	return o
}

// nameAsWritten cuts a name out of all that stands before its value.
func nameAsWritten(before []byte) []byte {
	return bytes.TrimRight(bytes.TrimLeft(before, "{, \t\r\n"), ": \t\r\n")
}

func (o *object) fail(err error) {
	if o.err == nil && err != nil {
		o.err = err
	}
}

func (o *object) wrong(member, problem string) {
	o.fail(&DecodeError{o.at, o.block, member, problem})
}

func (o *object) find(name string) *field {
	if i := slices.IndexFunc(o.fields, func(f field) bool { return f.Name == name }); i >= 0 {
		return &o.fields[i]
	}
	return nil
}

func (o *object) has(name string) bool { return o.find(name) != nil }

// take finds a member whose value is of one of some kinds; of any, where none
// is named.
func (o *object) take(name string, kinds ...jsontext.Kind) *field {
	f := o.find(name)
	if o.err != nil || f == nil {
		return nil
	}
	if len(kinds) > 0 && !slices.Contains(kinds, f.Value.Kind()) {
		o.wrong(name, "expected "+wanted(kinds)+", got "+schema.KindInWords(f.Value.Kind()))
		return nil
	}
	f.used = true
	return f
}

// must is take where the member has to be there.
func (o *object) must(name string, kinds ...jsontext.Kind) *field {
	f := o.take(name, kinds...)
	if f == nil {
		o.wrong(name, "is missing: expected "+wanted(kinds))
	}
	return f
}

func (o *object) value(name string, kinds ...jsontext.Kind) jsontext.Value {
	if f := o.must(name, kinds...); f != nil {
		return f.Value
	}
	return nil
}

func (o *object) optionalValue(name string, kinds ...jsontext.Kind) jsontext.Value {
	if f := o.take(name, kinds...); f != nil {
		return f.Value
	}
	return nil
}

func (o *object) text(name string) string { return unquote(o.value(name, '"')) }

// optional leaves a member that is there and empty to rest, since the field
// cannot tell it from none. So do size, flag and priority.
func (o *object) optional(name string) string {
	f := o.take(name, '"')
	if f == nil {
		return ""
	}
	s := unquote(f.Value)
	f.used = s != ""
	return s
}

// label is a text that others are found by.
func (o *object) label(name string) string {
	s := o.text(name)
	if o.err == nil && (s == "" || len(s) > MaxName) {
		o.wrong(name, "expected 1 to "+itoa(MaxName)+" bytes, got "+itoa(len(s)))
	}
	return s
}

// base64 is strict, so that the same bytes make the same text again.
func (o *object) base64(name string) []byte {
	s := o.text(name)
	data, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || strings.ContainsAny(s, "\r\n") {
		o.wrong(name, "expected padded base64 of the standard alphabet, on one line")
		return nil
	}
	return data
}

func (o *object) flag(name string) bool {
	f := o.take(name, 't', 'f')
	if f == nil {
		return false
	}
	f.used = f.Value.Kind() == 't'
	return f.used
}

func (o *object) size(name string) *int64 {
	f := o.take(name, '0')
	if f == nil {
		return nil
	}
	n, err := strconv.ParseInt(string(f.Value), 10, 64)
	if err != nil || string(f.Value) == "-0" {
		f.used = false
		return nil
	}
	return &n
}

// count is a whole number, of at least zero, that has to be there.
func (o *object) count(name string) int64 {
	f := o.must(name, '0')
	if f == nil {
		return 0
	}
	n, err := strconv.ParseFloat(string(f.Value), 64)
	if err != nil || n < 0 || n != math.Trunc(n) || n > 1<<53 {
		o.wrong(name, "expected a whole number of at least 0")
		return 0
	}
	return int64(n)
}

func (o *object) number(name string) *float64 {
	f := o.take(name, '0')
	if f == nil {
		return nil
	}
	n, err := strconv.ParseFloat(string(f.Value), 64)
	if err != nil {
		o.wrong(name, "expected a number that fits into 64 bits")
		return nil
	}
	return &n
}

func (o *object) priority(name string) float64 {
	n := o.number(name)
	if n == nil {
		return 0
	}
	if *n == 0 {
		o.find(name).used = false
	}
	return *n
}

// rest is an object of all members that nobody has taken, as they were
// written; nil where there are none.
func (o *object) rest() jsontext.Value {
	var b []byte
	for _, f := range o.fields {
		if f.used {
			continue
		}
		b = append(b, ',')
		b = append(append(append(b, f.written...), ':'), f.Value...)
	}
	if b == nil {
		return nil
	}
	b[0] = '{'
	return append(b, '}')
}

// unquote is what a string says, which has been read and so is valid; "" where
// there is none.
func unquote(raw jsontext.Value) string {
	s, _ := jsontext.AppendUnquote(nil, raw)
	return string(s)
}

// document is one JSON text of bounded size, copied, without space around it.
func document(data []byte) (jsontext.Value, error) {
	data = bytes.Trim(data, " \t\r\n")
	if len(data) > MaxDocument {
		return nil, &DecodeError{Problem: "more than " + itoa(MaxDocument) + " bytes"}
	}
	return bytes.Clone(data), nil
}

// syntax is about JSON that is not strict.
func syntax(at string, err error) error {
	if errors.Is(err, jsonrpc.ErrNotMessage) {
		return &DecodeError{Where: at, Problem: "expected one JSON value, and nothing behind it"}
	}
	problem := "is no JSON that can be understood in one way only"
	if errors.Is(err, jsontext.ErrDuplicateName) {
		problem = "has a name that is given twice"
	}
	e := &DecodeError{Where: at, Problem: problem}
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		e.Problem += ", at " + clip(strconv.Quote(string(s.JSONPointer)), 200)
	}
	return e
}

// syntaxOf finds out what is wrong with b.
func syntaxOf(b []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(b))
	err := d.SkipValue()
	if err == nil || errors.Is(err, io.EOF) {
		err = jsonrpc.ErrNotMessage
	}
	return syntax("", err)
}

func wanted(kinds []jsontext.Kind) string {
	words := make([]string, 0, len(kinds))
	for _, k := range kinds {
		if w := schema.KindInWords(k); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return "a value"
	}
	return strings.Join(words, " or ")
}

func itoa(n int) string { return strconv.Itoa(n) }

// clip shortens a text to so many bytes, at the end of a character.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
