package codetools

import (
	"bytes"
	"regexp"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

// A binding gives a value its name: "const f =", "f := ", "f: T =".
const (
	bindingKeyword = `(?:(?:export[ \t]+)?(?:var|let|const)[ \t]+)?`
	bindingType    = `(?:[ \t]*:[^=\r\n]{1,200}|[ \t]+[^=\r\n:,;]{1,200}?)?`
	bindingSign    = `[ \t]*:?=`
)

// withBinding is the symbol with all that the new code has of it. Where a
// function is only the value of a variable, extract_code shows the function; code
// that begins with the variable takes the place of the variable, too.
func withBinding(f *syntax.File, s Symbol, code string) (Symbol, error) {
	if s.Function < 0 || !onlyValue(f, s) {
		return s, nil
	}
	name := regexp.QuoteMeta(s.Simple())
	text := code[min(skipComments(f.Language, []byte(code), 0), len(code)):]
	given := regexp.MustCompile(`^(` + bindingKeyword + `)` + name + bindingType + bindingSign + `(?:[^=>]|$)`).FindStringSubmatch(text)
	if given == nil {
		return s, nil
	}
	const far = 500 // bytes that a binding has at most
	from := max(0, s.Span.Start-far)
	before := string(f.Source[from:s.Span.Start])
	there := regexp.MustCompile(`(?:^|[\s,;({])(` + bindingKeyword + `)(` + name + bindingType + bindingSign + `[ \t]*)$`).FindStringSubmatchIndex(before)
	if there == nil || given[1] != "" && there[2] == there[3] {
		return s, tool.Errorf(tool.InvalidArgument, "%q is declared together with something else: give its value alone, as extract_code shows it", bounded(s.Name, 100))
	}
	start := from + there[4]
	if given[1] != "" {
		start = from + there[2]
	}
	s.Whole, s.Span = f.Span(start, s.Whole.End), f.Span(start, s.Span.End)
	return s, nil
}

// onlyValue says whether what extract_code shows is the value that a variable
// has, without the variable.
func onlyValue(f *syntax.File, s Symbol) bool {
	if k := f.Functions[s.Function].Kind; k != syntax.Lambda && k != syntax.Arrow && k != syntax.PlainFunction {
		return false
	}
	before := bytes.TrimRight(f.Source[:s.Span.Start], " \t(")
	return s.Whole.Start >= len(before) && len(before) > 0 && before[len(before)-1] == '='
}
