package form

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// Whatever comes, a form is refused or can be filled in: what it suggests fits, what
// it says of itself is harmless, and what fits its fields makes its content.
func FuzzForm(f *testing.F) {
	for _, schema := range []string{
		`{"type":"string","minLength":1,"maxLength":3,"pattern":"^a","default":"ab"}`,
		`{"type":"string","format":"date-time"}`,
		`{"type":"integer","minimum":-1e2,"maximum":9007199254740993,"default":3.0}`,
		`{"type":"number","minimum":0.5}`,
		`{"type":"boolean","default":true}`,
		`{"type":"string","oneOf":[{"const":"1","title":"2"},{"const":"2","title":"1"}]}`,
		`{"type":"string","enum":["a","b"],"enumNames":["A","B"]}`,
		`{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]},"minItems":1,"default":["a"]}`,
		`{"type":"array","items":{"type":"string","enum":["a,b","none"]},"maxItems":1}`,
	} {
		params := `{"message":"m","requestedSchema":{"type":"object","properties":{"x":` + schema + `},"required":["x"]}}`
		for _, typed := range []string{"", "1", "#2", "ab", `"a"`, "none", "1,2", "-0.50", "yes", "2026-03-31T15:04:05Z"} {
			f.Add(params, typed)
		}
	}
	f.Fuzz(func(t *testing.T, params, typed string) {
		form, err := Parse(jsontext.Value(params))
		if err != nil {
			checkHarmless(t, err.Error())
			return
		}
		answers := map[string]jsontext.Value{}
		whole := true
		for i := range form.Fields {
			field := &form.Fields[i]
			checkHarmless(t, field.Expected())
			if field.Default != nil && field.Check(field.Default) != nil {
				t.Errorf("%s: the default does not fit", params)
			}
			v, err := field.Read(typed)
			if err != nil {
				checkHarmless(t, err.Error())
				whole = whole && !field.Required
				continue
			}
			if err := field.Check(v); err != nil {
				t.Errorf("%s: %q became %s, which does not fit: %v", params, typed, v, err)
			}
			answers[field.Name] = v
		}
		content, err := form.Content(answers)
		if (err == nil) != whole {
			t.Errorf("%s: %s makes %s, %v", params, answers, content, err)
		}
		if err == nil && (!content.IsValid() || bytes.ContainsAny(content, "\r\n")) {
			t.Errorf("%s: the content is %s", params, content)
		}
	})
}

// checkHarmless wants one line of text that a terminal shows as itself.
func checkHarmless(t *testing.T, s string) {
	t.Helper()
	if i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("%q holds what cannot be shown", s)
	}
}

// Numbers compare by their exact values, as written by JSON, without taking memory
// for their exponents.
func FuzzDecimal(f *testing.F) {
	f.Add("1.0", "1")
	f.Add("-0", "0.0")
	f.Add("1e400", "1e-400")
	f.Add("9007199254740993", "9007199254740992")
	f.Add("-1e99999999999999999999", "-1E-99999999999999999999")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := jsontext.Value(a), jsontext.Value(b)
		if x.Kind() != '0' || y.Kind() != '0' || !x.IsValid() || !y.IsValid() {
			return
		}
		got := decimalOf(bytes.TrimSpace(x)).compare(decimalOf(bytes.TrimSpace(y)))
		want, exact := compareExactly(strings.TrimSpace(a), strings.TrimSpace(b))
		if exact && sign(got) != want {
			t.Errorf("%s and %s compare as %d, want %d", a, b, got, want)
		}
	})
}

func sign(n int) int { return min(1, max(-1, n)) }
