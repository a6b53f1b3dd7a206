package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parleyhq/parley/internal/nearest"
)

// reader turns nodes into a Config and collects what is wrong on the way.
type reader struct {
	name   string
	env    Env
	shared bool            // the file can be read by others than its owner
	others bool            // the file is another program's, and says nothing in our way
	told   map[string]bool // the variables whose absence was warned of; nil where absence is a problem

	problems []Problem
	warnings []Problem
	literal  value // the first token that stands in the file itself
}

// value is a node together with the way to it. Without a node it was not
// written; a written key with nothing after it counts as not written.
type value struct {
	*node
	path string
	name string // the last part of the path, as problems call it
	line int    // of the key, where there is one
	col  int
}

func (v value) written() bool { return v.node != nil && v.kind != nullNode }

// place is where a problem with the value is shown.
func (v value) place() (line, column int) {
	if v.node != nil && v.kind != nullNode && v.node.line > 0 {
		return v.node.line, v.node.column
	}
	return v.line, v.col
}

func (r *reader) fail(v value, hint, format string, args ...any) {
	r.problems = append(r.problems, v.problem(hint, format, args...))
}

func (r *reader) warn(v value, hint, format string, args ...any) {
	r.warnings = append(r.warnings, v.problem(hint, format, args...))
}

func (v value) problem(hint, format string, args ...any) Problem {
	line, column := v.place()
	return Problem{Line: line, Column: column, Path: v.path, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// failKey is fail at the key instead of its value.
func (r *reader) failKey(v value, hint, format string, args ...any) {
	v.node = nil
	r.fail(v, hint, format, args...)
}

func (v value) child(e entry) value {
	path := showKey(e.key)
	if v.path != "" {
		path = v.path + "." + path
	}
	return value{node: e.value, path: path, name: e.key, line: e.line, col: e.column}
}

// all is every entry of a mapping whose keys are names, in the order of the
// file.
func (r *reader) all(v value) []value {
	if !r.is(v, mapNode) {
		return nil
	}
	values := make([]value, len(v.entries))
	for i, e := range v.entries {
		values[i] = v.child(e)
	}
	return values
}

// keys is the entries of a mapping whose keys are known. An unknown one is a
// problem.
func (r *reader) keys(v value, known []string) map[string]value {
	found := make(map[string]value, len(known))
	for _, entry := range r.all(v) {
		if slices.Contains(known, entry.name) {
			found[entry.name] = entry
			continue
		}
		r.failKey(entry, unknownHint(entry.name, v.path, known), "unknown key %q", showKey(entry.name))
	}
	return found
}

// unknownHint says what was probably meant by a key that is not known here.
func unknownHint(key, path string, known []string) string {
	shown := strings.TrimSuffix(showKey(key), "…")
	if shown != key && slices.Contains(known, shown) {
		return fmt.Sprintf("write a blank after the colon: %s: VALUE", shown)
	}
	if near := nearest.To(shown, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	for _, l := range levels {
		for _, k := range l.keys {
			if nearest.Same(k, shown) {
				return fmt.Sprintf("%q belongs below %s", k, l.path)
			}
		}
	}
	if path == "" {
		path = "the top level"
	}
	return fmt.Sprintf("%s takes %s", path, strings.Join(known, ", "))
}

// items is the values of a list.
func (r *reader) items(v value) []value {
	if !r.is(v, listNode) {
		return nil
	}
	values := make([]value, len(v.node.items))
	for i, n := range v.node.items {
		index := fmt.Sprintf("[%d]", i)
		values[i] = value{node: n, path: v.path + index, name: v.name + index, line: n.line, col: n.column}
	}
	return values
}

// is reports whether a value is of a kind; one of another kind is a problem,
// one that is not written is not.
func (r *reader) is(v value, kind nodeKind) bool {
	if !v.written() {
		return false
	}
	if v.kind != kind {
		hint := ""
		if kind == listNode && v.kind == stringNode {
			hint = "write [ ] around it"
		}
		r.fail(v, hint, "%s is %s, and should be %s", v.title(), v.kind, kind)
		return false
	}
	return true
}

func (v value) title() string {
	if v.name == "" {
		return "the file"
	}
	return showName(v.name)
}

// showName is showKey for a name that may be an item of a list.
func showName(name string) string {
	if base, index, ok := strings.Cut(name, "["); ok && strings.HasSuffix(index, "]") {
		return showKey(base) + "[" + index
	}
	return showKey(name)
}

// text is a scalar as it was written. A number or a truth value is text too
// where text is wanted: PORT: 8080.
func (r *reader) text(v value) (string, bool) {
	if !v.written() {
		return "", false
	}
	if v.kind == listNode || v.kind == mapNode {
		r.fail(v, "", "%s is %s, and should be text", v.title(), v.kind)
		return "", false
	}
	return v.node.text, true
}

// choose is a scalar out of a few, and def where it is not written.
func choose[T ~string](r *reader, v value, def T, others ...T) T {
	text, ok := r.text(v)
	if !ok || text == string(def) {
		return def
	}
	for _, o := range others {
		if text == string(o) {
			return o
		}
	}
	words := []string{string(def)}
	for _, o := range others {
		words = append(words, string(o))
	}
	hint := ""
	if near := nearest.To(text, words); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	r.fail(v, hint, "%s is not %s", v.title(), orList(words))
	return def
}

func orList(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
