package main

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// members are those of a JSON object, in their order, values raw.
type members []argument

type argument struct {
	name  string
	value jsontext.Value
}

// parseArguments reads what stands on a command line:
//
//	key=text       a string
//	key:=json      any JSON value
//	key=@file      a string with the file's content; key=@- is standard input
//	key==@text     a string that begins with "@" or "="
func (t *terminal) parseArguments(args []string) (members, error) {
	var list members
	for _, arg := range args {
		name, value, err := t.parseArgument(arg)
		if err != nil {
			return nil, err
		}
		if list.has(name) {
			return nil, usagef("the argument %s is given twice", name)
		}
		list = append(list, argument{name, value})
	}
	return list, nil
}

func (t *terminal) parseArgument(arg string) (name string, value jsontext.Value, err error) {
	name, text, ok := strings.Cut(arg, "=")
	if !ok || name == "" || name == ":" {
		return "", nil, usagef("%q is not an argument", arg).
			hint("write key=text, key:=json or key=@file; quote the whole for the shell")
	}
	if raw, isJSON := strings.CutSuffix(name, ":"); isJSON {
		value := jsontext.Value(text)
		if !value.IsValid() {
			return "", nil, usagef("%s is not valid JSON: %s", raw, text).hint("for a text write %s=…", raw)
		}
		return raw, value, nil
	}
	switch {
	case strings.HasPrefix(text, "="):
		text = text[1:]
	case strings.HasPrefix(text, "@"):
		if text, err = t.readText(text[1:]); err != nil {
			return "", nil, err
		}
	}
	return name, quote(text), nil
}

// readText reads a text from a file, or from standard input for "-".
func (t *terminal) readText(path string) (string, error) {
	b, err := t.readFile(path)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(b) {
		return "", parley.Errorf(parley.InvalidArgument, "%s is not UTF-8 text", inputName(path)).
			WithHint("JSON has no bytes; a tool that takes them says how, mostly as base64")
	}
	return string(b), nil
}

func (m members) has(name string) bool {
	return slices.ContainsFunc(m, func(one argument) bool { return one.name == name })
}

// with is m with what others say in place of what it says itself.
func (m members) with(others members) members {
	merged := slices.Clone(m)
	for _, other := range others {
		i := slices.IndexFunc(merged, func(one argument) bool { return one.name == other.name })
		if i < 0 {
			merged = append(merged, other)
		} else {
			merged[i] = other
		}
	}
	return merged
}

// object is the members as a JSON object.
func (m members) object() jsontext.Value {
	b := []byte{'{'}
	for i, one := range m {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, quote(one.name)...), ':'), one.value...)
	}
	return append(b, '}')
}

func membersOf(object jsontext.Value) members {
	var m members
	for name, value := range parley.Members(object) {
		m = append(m, argument{name, value})
	}
	return m
}

// parseObject reads a JSON object from a flag.
func parseObject(flag, text string) (jsontext.Value, error) {
	v := jsontext.Value(text)
	if !v.IsValid() || v.Kind() != '{' {
		return nil, usagef("%s is not a JSON object: %s", flag, text).hint(`write one like %s '{"path": "a.txt"}'`, flag)
	}
	return v, nil
}

func quote(s string) jsontext.Value {
	b, _ := jsontext.AppendQuote(nil, s) // what is no UTF-8 is replaced
	return b
}
