package form

import (
	"net/mail"
	"net/url"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
)

// Check holds an answer that is there as JSON against the field. The error is an
// [*AnswerError].
func (f *Field) Check(v jsontext.Value) error {
	if !v.IsValid() {
		return f.wrong("%s", ambiguous)
	}
	wanted := map[Kind]jsontext.Kind{Text: '"', One: '"', Number: '0', Integer: '0', Many: '['}
	if k := v.Kind(); k != wanted[f.Kind] && (f.Kind != YesNo || k != 't' && k != 'f') {
		return f.wrong("expected %s, got %s", f.Expected(), kindInWords(v))
	}
	switch f.Kind {
	case Text:
		return f.checkText(unquote(v))
	case Number, Integer:
		return f.checkNumber(v)
	case One:
		return f.checkChoice(unquote(v))
	case Many:
		return f.checkMany(v)
	}
	return nil
}

func (f *Field) checkText(s string) error {
	n := int64(utf8.RuneCountInString(s))
	switch {
	case f.MinLength != nil && n < *f.MinLength, f.MaxLength != nil && n > *f.MaxLength:
		return f.wrong("expected %s, got %s", f.Expected(), counted(n, "character"))
	case !f.Format.fits(s):
		return f.wrong("expected %s, got %s", f.Expected(), shown(s))
	}
	if re := compile(f.Pattern); re != nil && !re.MatchString(s) {
		return f.wrong("expected %s, got %s", f.Expected(), shown(s))
	}
	return nil
}

func (f Format) fits(s string) bool {
	switch f {
	case Email:
		a, err := mail.ParseAddress(s)
		return err == nil && a.Address == s
	case URI:
		u, err := url.Parse(s)
		return err == nil && u.IsAbs() && strings.IndexFunc(s, notInURIs) < 0
	case Date:
		_, err := time.Parse(time.DateOnly, s)
		return err == nil
	case DateTime:
		_, err := time.Parse(time.RFC3339, s)
		return err == nil
	}
	return true
}

func notInURIs(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) }

// Patterns are somebody else's programs: what is longer, or becomes longer, is left
// to whoever wrote it.
const (
	maxPattern = 512    // bytes
	maxProgram = 10_000 // instructions
)

// foreign finds what a pattern says that Go understands otherwise than ECMA-262, or
// that only Go knows.
var foreign = regexp.MustCompile(`\\[AzQECaPp]|\[\[:|\(\?[imsU-]`)

// compile makes a pattern ready; nil where there is none that can be checked here,
// as one that looks ahead. The asker checks the answer anyway.
func compile(pattern string) *regexp.Regexp {
	if pattern == "" || len(pattern) > maxPattern || foreign.MatchString(pattern) {
		return nil
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	if program, err := syntax.Compile(tree.Simplify()); err != nil || len(program.Inst) > maxProgram {
		return nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	return re
}

func (f *Field) checkNumber(v jsontext.Value) error {
	if len(v) > MaxNumber {
		return f.wrong("a number has at most %d characters here", MaxNumber)
	}
	n := decimalOf(v)
	if f.Kind == Integer && !n.isWhole() ||
		f.Minimum != nil && n.compare(decimalOf(f.Minimum)) < 0 ||
		f.Maximum != nil && n.compare(decimalOf(f.Maximum)) > 0 {
		return f.wrong("expected %s, got %s", f.Expected(), v)
	}
	return nil
}

func (f *Field) checkChoice(value string) error {
	for _, c := range f.Choices {
		if c.Value == value {
			return nil
		}
	}
	return f.wrong("%s is none of the choices", shown(value))
}

func (f *Field) checkMany(list jsontext.Value) error {
	chosen := map[string]bool{}
	for v, err := range jsonrpc.Values(list) {
		if err != nil {
			return f.wrong("%s", ambiguous)
		}
		if v.Kind() != '"' {
			return f.wrong("expected %s, got %s among them", f.Expected(), kindInWords(v))
		}
		value := unquote(v)
		if err := f.checkChoice(value); err != nil {
			return err
		}
		if chosen[value] {
			return f.wrong("%s is chosen twice", shown(value))
		}
		chosen[value] = true
	}
	if n := int64(len(chosen)); f.MinItems != nil && n < *f.MinItems || f.MaxItems != nil && n > *f.MaxItems {
		return f.wrong("expected %s, got %d", f.Expected(), n)
	}
	return nil
}
