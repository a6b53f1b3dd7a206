package browser

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/parleyhq/parley/internal/form"
)

// A judged is what is put before both: params, and answers to their fields.
type judged struct {
	Params  string   `json:"params"`
	Answers []string `json:"answers"` // JSON; each is tried with each field
	Typed   []string `json:"typed"`   // each is read for each field that is a number
}

// judge says of a form what the page's form.js is asked to say of it.
func (j judged) judge() []string {
	f, err := form.Parse([]byte(j.Params))
	if err != nil {
		return []string{err.Error()}
	}
	said := []string{fmt.Sprintf("%d fields", len(f.Fields))}
	for i := range f.Fields {
		field := &f.Fields[i]
		said = append(said, fmt.Sprintf("%s %s %v %s %d", field.Label(), field.Expected(), field.Required, []byte(field.Default), len(field.Choices)))
		for _, answer := range j.Answers {
			problem := ""
			if err := field.Check([]byte(answer)); err != nil {
				problem = err.(*form.AnswerError).Problem
			}
			said = append(said, problem)
		}
		if field.Kind != form.Number && field.Kind != form.Integer {
			continue
		}
		for _, text := range j.Typed {
			switch v, err := field.Read(text); {
			case err != nil:
				said = append(said, err.(*form.AnswerError).Problem)
			default:
				said = append(said, string(v))
			}
		}
	}
	return said
}

// inPage is judge, in the page.
const inPage = `async (all) => {
	const { check, expected, label, parse, readNumber } = await import("/console/forms/form.js");
	const matches = (pattern, text) => new RegExp(pattern).test(text);
	const read = (field, typed) => {
		const { json, problem } = readNumber(field, typed);
		return problem || check(field, json) || json;
	};
	const judge = ({ params, answers, typed }) => {
		let form;
		try {
			form = parse(params, matches);
		} catch (refusal) {
			return [refusal.message];
		}
		return [form.fields.length + " fields", ...form.fields.flatMap((f) => [
			[label(f), expected(f), f.required, f.default ?? "", f.choices?.length ?? 0].join(" "),
			...(answers ?? []).map((a) => check(f, a, matches)),
			...(["number", "integer"].includes(f.kind) ? (typed ?? []).map((text) => read(f, text)) : [])])];
	};
	return all.map(judge);
}`

// The browser's form judges as the terminal's does, word for word: what MCP allows,
// what it does not, and whatever can be made of its parts at random.
func TestFormJudgesAlike(t *testing.T) {
	p := newPage(t, nil)
	p.visit("")
	p.do(chromedp.WaitVisible("#token"))
	all := casesByHand()
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		all = append(all, caseAtRandom(random))
	}
	const atOnce = 500
	for begin := 0; begin < len(all); begin += atOnce {
		part := all[begin:min(begin+atOnce, len(all))]
		wire, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range evaluate[[][]string](p, "("+inPage+")("+string(wire)+")") {
			want := part[i].judge()
			for n := range max(len(got), len(want)) {
				if a, b := said(got, n), said(want, n); a != b {
					t.Errorf("%.400s, word %d\nin the page: %.400s\nin Go:       %.400s", part[i].Params, n, a, b)
					break
				}
			}
		}
	}
}

func said(words []string, n int) string {
	if n >= len(words) {
		return "(nothing)"
	}
	return words[n]
}

// values are answers, defaults and bounds alike.
var values = []string{
	`""`, `"a"`, `"üüü"`, `"a@b"`, `"a.b@c.example"`, `"a@[1.2.3.4]"`, `"a@[::1]"`, `"a@[01.2.3.4]"`, `"@a"`, `"a@"`, `"a..b@c"`, `".a@b"`, `"\"a\"@b"`, `"ü@b"`, `"Ann <a@b>"`, `"a@b "`, `"a@b@c"`,
	`"https://example.com/?a=b#c"`, `"http://[::1]:80/"`, `"http://[::1"`, `"http://[1.2.3.4]/"`, `"http://a:b@c:1/%20"`, `"http://a:x/"`, `"http://a:1:2/"`, `"ftp://a:1:2/"`, `"http://%41/"`, `"http://%C3%BC/"`, `"http://%25a/"`,
	`"mailto:a@b"`, `"mailto:%zz"`, `"a:/%zz"`, `"a://b/%zz"`, `"a:#%zz"`, `"a:b?%zz"`, `"1a:b"`, `":a"`, `"//a/b"`, `"http://a b"`, `"http://a/<"`, `"a+b.c-d:x"`, `"http:"`, `"http:///"`, `"http://a@b@c/"`, `"http://a[b/"`, `"*"`, `"urn:isbn:1"`,
	`"2028-02-29"`, `"2027-02-29"`, `"2026-13-01"`, `"2026-1-01"`, `"0000-01-01"`, `"12026-01-01"`,
	`"2026-03-31T15:04:05Z"`, `"2026-03-31T15:04:05.5+02:00"`, `"2026-03-31T5:04:05Z"`, `"2026-03-31T15:04:05,5Z"`, `"2026-03-31T24:00:00Z"`, `"2026-03-31T23:59:60Z"`, `"2026-03-31T15:04:05z"`, `"2026-03-31T15:04:05+24:60"`, `"2026-03-31T15:04:05+25:00"`, `"2026-03-31"`, `"2026-02-30T15:04:05Z"`, `"2026-03-31T15:04:05"`,
	`"\u0000\u001b[31m\u0007\u007f\u0080\u202e\ue000\ud83d\ude00\"\\"`, `"` + strings.Repeat("ü", 60) + `"`, `"` + strings.Repeat("a", 79) + `ü"`,
	`0`, `-0`, `1`, `-1`, `3.0`, `12e-1`, `-12e-1`, `120e-1`, `9007199254740992`, `9007199254740993`, `0.1`, `0.10000000000000000000000001`, `1e400`, `-1.5e400`, `1e-99999999999999999999`, `1e99999999999999999999`, `0e9`, `1E+2`, `12`, strings.Repeat("1", 128), strings.Repeat("1", 129),
	`true`, `false`, `null`, `{}`, `[]`, `["a"]`, `["a","b"]`, `["a","a"]`, `["c"]`, `[1]`, `["b", "a" ,"2"]`, `"b"`, `"2"`,
}

// typed are numbers as somebody types them.
var typed = []string{" 7 ", "007", "+0", "+5", "1,000", "-", "--1", "+-1", "-+1", ".10", "-.5", "1.", "e5", "1e", "NaN", "Infinity", "0x10", "0,5", "٣", "1 2", "00.50", "-0.0"}

func casesByHand() []judged {
	inField := func(schema string) judged {
		return judged{`{"message":"m","requestedSchema":{"type":"object","properties":{"x":` + schema + `}}}`, values, append(typed, values...)}
	}
	all := []judged{
		{Params: ``}, {Params: `[]`}, {Params: `{}`}, {Params: `{"message":1}`}, {Params: `{"message":"m","mode":null}`}, {Params: `{"message":"m","mode":"\u001b[2J"}`},
		{Params: `{"message":"m"}`}, {Params: `{"message":"m","mode":"form","requestedSchema":{"type":"object"}}`},
		{Params: `{"message":"m","requestedSchema":true}`}, {Params: `{"message":"m","requestedSchema":{}}`}, {Params: `{"message":"m","requestedSchema":{"type":["object"]}}`},
		{Params: `{"message":"m","requestedSchema":{"type":"object","$ref":"#/$defs/a"}}`}, {Params: `{"message":"m","requestedSchema":{"type":"object","properties":[]}}`},
		{Params: `{"message":"m","requestedSchema":{"type":"object","required":["y"]}}`}, {Params: `{"message":"m","requestedSchema":{"type":"object","required":"x"}}`},
		{Params: `{"message":"` + strings.Repeat("m", form.MaxMessage+1) + `"}`},
		{Params: `{"message":"m"` + strings.Repeat(" ", form.MaxParams) + `}`},
		{Params: `{"message":"m","requestedSchema":{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"},"toString":{"type":"string","format":"toString"}},"required":["__proto__"]}}`, Answers: values},
		{Params: `{"message":"m","requestedSchema":{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}},"required":["__proto__","constructor"]}}`, Answers: values},
	}
	for _, n := range []int{1000, 1001} {
		var fields, choices []string
		for i := range n {
			fields = append(fields, fmt.Sprintf(`"f%d":{"type":"boolean"}`, i))
			choices = append(choices, fmt.Sprintf(`"c%d"`, i))
		}
		all = append(all,
			judged{Params: `{"message":"m","requestedSchema":{"type":"object","properties":{` + strings.Join(fields, ",") + `}}}`, Answers: []string{"true"}},
			inField(`{"type":"string","enum":[`+strings.Join(choices, ",")+`]}`))
	}
	for _, schema := range []string{
		`{"type":"string"}`, `{"type":"string","format":"email"}`, `{"type":"string","format":"uri"}`, `{"type":"string","format":"date"}`, `{"type":"string","format":"date-time"}`,
		`{"type":"string","minLength":2,"maxLength":3}`, `{"type":"string","minLength":1.0}`, `{"type":"string","minLength":0,"maxLength":1}`, `{"type":"string","maxLength":0}`, `{"type":"string","minLength":9223372036854775807}`,
		`{"type":"string","minLength":9223372036854775808}`, `{"type":"string","minLength":-0}`, `{"type":"string","minLength":1e1}`, `{"type":"string","pattern":"^[a-z]+$"}`, `{"type":"string","format":"ipv4"}`,
		`{"type":"string","title":"` + strings.Repeat("t", form.MaxTitle+1) + `"}`, `{"type":"string","title":"","description":"d"}`, `true`, `{}`, `{"type":"null"}`, `{"type":"object"}`,
		`{"type":"array"}`, `{"type":"array","items":{"type":"string"}}`,
		`{"type":"integer"}`, `{"type":"integer","minimum":1,"maximum":9}`, `{"type":"number","minimum":-1e3,"maximum":1E+2}`, `{"type":"number"}`, `{"type":"integer","maximum":9007199254740992}`, `{"type":"array","items":{"anyOf":[{"type":"string"}]}}`,
	} {
		all = append(all, inField(schema))
	}
	return all
}

// caseAtRandom is a form of whatever stands in forms, put together without sense.
func caseAtRandom(r *rand.Rand) judged {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	value := func() string { return values[r.IntN(len(values))] }
	small := func() string { return pick("0", "1", "2", "3", "2.0", "-1", "7") }
	choices := func() string {
		return pick(`"enum":["a","b","2"]`, `"enum":["a","a"]`, `"enum":[]`, `"enum":["b",1]`, `"enum":["a","b"],"enumNames":["A","B"]`, `"enum":["a"],"enumNames":[]`,
			`"oneOf":[{"const":"a","title":"A"},{"const":"b"}]`, `"oneOf":[{"title":"A"}]`, `"anyOf":[{"const":"a","title":"A"},{"const":"b"}]`, `"oneOf":[{"const":1}]`, `"anyOf":[]`)
	}
	keyword := func() string {
		switch r.IntN(12) {
		case 0:
			return `"format":` + pick(`"email"`, `"uri"`, `"date"`, `"date-time"`, `"ipv4"`, `1`)
		case 1:
			return `"pattern":` + pick(`"^[a-z]*$"`, `"b"`, `null`)
		case 2:
			return `"minLength":` + small() + `,"maxLength":` + small()
		case 3:
			return `"minimum":` + value()
		case 4:
			return `"maximum":` + value()
		case 5:
			return `"default":` + value()
		case 6, 7:
			return choices()
		case 8:
			return `"items":{"type":` + pick(`"string"`, `"number"`) + `,` + choices() + `}`
		case 9:
			return `"items":{` + choices() + `}`
		case 10:
			return `"minItems":` + small() + `,"maxItems":` + small()
		}
		return pick(`"title":"T"`, `"description":"D"`, `"examples":[1]`, `"multipleOf":2`, `"$ref":"#"`, `"uniqueItems":true`, `"title":2`)
	}
	var fields []string
	for i := range 1 + r.IntN(2) {
		field := map[string]string{"type": `"type":` + pick(`"string"`, `"string"`, `"string"`, `"number"`, `"integer"`, `"integer"`, `"boolean"`, `"array"`, `"array"`, `"object"`)}
		parts := []string{field["type"]}
		for range r.IntN(4) {
			k := keyword()
			name, _, _ := strings.Cut(k, ":")
			if field[name] == "" && !(strings.Contains(k, `"enumNames"`) && field[`"enum"`] != "") {
				field[name] = k
				parts = append(parts, k)
			}
		}
		fields = append(fields, fmt.Sprintf(`"f%d":{%s}`, i, strings.Join(parts, ",")))
	}
	answers := make([]string, 12)
	for i := range answers {
		answers[i] = value()
	}
	return judged{Params: `{"message":"m","requestedSchema":{"type":"object","properties":{` + strings.Join(fields, ",") + `},"required":[` + pick("", `"f0"`, `"f1"`) + `]}}`, Answers: answers, Typed: typed}
}
