package jsonc

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		`{"a":1}`:                      `{"a":1}`,
		"{\"a\":1, // one\n}":          "{\"a\":1        \n}",
		"[1,/* two\n */2,\n]":          "[1,      \n   2 \n]",
		`["// no", "/* no */",]`:       `["// no", "/* no */" ]`,
		`["\"//", 1]`:                  `["\"//", 1]`,
		"// to the end":                "             ",
		"[1, // x,]\n 2]":              "[1,       \n 2]",
		"[1, /* \n ] */]":              "[1     \n     ]",
		`["//", "/*", "\"//", ",]"]`:   `["//", "/*", "\"//", ",]"]`,
		`1,`:                           `1,`,
		`["\`:                          `["\`,
		"[1] // to the end":            "[1]              ",
		"\ufeff{}":                     "   {}",
		`[,]`:                          `[,]`,
		`[1,,]`:                        `[1,,]`,
		`{"a":,}`:                      `{"a":,}`,
		`[1, /* c */ ]`:                `[1          ]`,
		`[1 /* without an end`:         `[1 /* without an end`,
		`["without an end`:             `["without an end`,
		`[1/2]`:                        `[1/2]`,
		"{\"ä\": [true,], \"b\": {},}": "{\"ä\": [true ], \"b\": {} }",
	} {
		if got := string(Plain([]byte(text))); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, text := range []string{`{"a":1,}`, "// c\n[1,]", `"/*"`, "[/**/,]", "\ufeff1"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		plain := Plain(text)
		if !bytes.Equal(before, text) {
			t.Fatal("the text was changed")
		}
		if len(plain) != len(text) || bytes.Count(plain, []byte("\n")) != bytes.Count(text, []byte("\n")) {
			t.Fatalf("places moved: %q", plain)
		}
		for i := range plain {
			if plain[i] != text[i] && plain[i] != ' ' {
				t.Fatalf("%q was written at %d", plain[i], i)
			}
		}
		if jsontext.Value(text).IsValid() && !bytes.Equal(plain, text) {
			t.Fatalf("JSON was changed: %q", plain)
		}
		if again := Plain(plain); jsontext.Value(plain).IsValid() && !bytes.Equal(again, plain) {
			t.Fatalf("a second time changes %q into %q", plain, again)
		}
	})
}
