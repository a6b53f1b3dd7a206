package sampling

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/schema"
)

const (
	maxProblems = 8
	maxProblem  = 1 << 10 // bytes of each
)

// findings are what a pass over an answer leaves: all that is wrong, each with
// its place.
type findings struct {
	problems []string
	types    string // the first problem that is not about bounds
	more     bool
}

// examine holds an answer against a form, and returns it with integers as Go reads
// them.
func examine(f *schema.Form, raw jsontext.Value) (jsontext.Value, findings) {
	var found findings
	raw, err := f.Check(raw, found.add)
	if err != nil {
		const text = "it is no JSON that can be understood in one way only"
		return nil, findings{problems: []string{text}, types: text}
	}
	if found.more {
		found.problems[maxProblems-1] = "and more"
	}
	return raw, found
}

func (f *findings) add(fault schema.Fault) error {
	if len(f.problems) == maxProblems {
		f.more = true
		return nil
	}
	at := string(fault.At)
	if at == "" {
		at = "the answer"
	}
	text := line(clip(at, 200) + ": " + clip(inWords(fault), maxProblem-300))
	f.problems = append(f.problems, text)
	if f.types == "" && fault.What != schema.Bounds {
		f.types = text
	}
	return nil
}

func inWords(f schema.Fault) string {
	if f.Null {
		f.Expected += " or null"
	}
	switch f.What {
	case schema.Unknown:
		return "there is no such member; there are " + f.Expected
	case schema.Missing:
		return "has no " + quoted(f.Names)
	case schema.Length:
		return "expected " + f.Expected + ", got " + itoa(f.Length)
	}
	return "expected " + f.Expected + ", got " + given(f.Got)
}

// given is a value in words: what it is and, where it is short, itself.
func given(v jsontext.Value) string {
	switch k := v.Kind(); k {
	case '{', '[', 'n':
		return schema.KindInWords(k)
	}
	return clip(string(v), 80)
}

func quoted(words []string) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = strconv.Quote(w)
	}
	return clip(strings.Join(all, ", "), maxProblem/2)
}

// line is a text in one line, of bounded length, since names and values are the
// model's words.
func line(text string) string {
	return clip(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text), maxProblem)
}
