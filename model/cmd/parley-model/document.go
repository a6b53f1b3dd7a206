package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/modelspec"
)

const defaultURL = "http://127.0.0.1:7717"

// maxToken is more than any token has, in bytes.
const maxToken = 8 << 10

// instructions are what follows on standard input behind the document.
type instructions = *jsontext.Decoder

// document is what the command line, or the file that it names, says. changed
// reports which flags were given.
func (f *flags) document(changed func(string) bool, stdin io.Reader) (*modelspec.Document, instructions, error) {
	d, more, err := f.base(stdin)
	if err != nil {
		return nil, nil, err
	}
	if err := f.settings(d, changed); err != nil {
		return nil, nil, err
	}
	if err := f.target(d, stdin); err != nil {
		return nil, nil, err
	}
	if d.Token == "" && d.TokenFrom == "" {
		return nil, nil, errors.New("there is no token to show to the gateway: give --token-file FILE or set PARLEY_TOKEN")
	}
	if err := d.Check(); err != nil {
		if f.config == "" {
			return nil, nil, usageError{err}
		}
		return nil, nil, fmt.Errorf("%s: %w", f.source(), err)
	}
	return d, more, d.Resolve()
}

// source is what errors call the document.
func (f *flags) source() string {
	if f.config == "-" {
		return "standard input"
	}
	return f.config
}

// base is the document that flags add to.
func (f *flags) base(stdin io.Reader) (*modelspec.Document, instructions, error) {
	switch f.config {
	case "":
		if len(f.models) == 0 {
			return nil, nil, usagef("which model? Name it with --model, as --model ollama:llama3.2")
		}
		return new(modelspec.Document), nil, nil
	case "-":
		bounded := &io.LimitedReader{R: stdin, N: modelspec.MaxDocument}
		more := jsontext.NewDecoder(bounded)
		value, err := more.ReadValue()
		if err != nil {
			return nil, nil, errors.New("standard input does not hold a document that is JSON, of at most 4 MiB")
		}
		bounded.N = 1 << 62 // what whoever supervises says later
		d, err := modelspec.Read(value)
		if err != nil {
			return nil, nil, fmt.Errorf("standard input: %w", err)
		}
		return d, more, nil
	}
	d, err := modelspec.ReadFile(f.config)
	if d != nil && d.Supervised {
		return nil, nil, fmt.Errorf("%s: supervised is for documents on standard input", f.config)
	}
	return d, nil, err
}

// target puts in where to join, as whom: what flags say wins, and what nobody
// says is looked for in the environment.
func (f *flags) target(d *modelspec.Document, stdin io.Reader) error {
	d.URL = strings.TrimRight(cmp.Or(f.url, d.URL, os.Getenv("PARLEY_URL"), defaultURL), "/")
	d.Space = cmp.Or(f.space, d.Space, os.Getenv("PARLEY_SPACE"))
	switch {
	case f.tokenFile == "-" && f.config == "-":
		return usagef("standard input holds the token or the document, not both")
	case f.tokenFile == "-":
		text, err := io.ReadAll(io.LimitReader(stdin, maxToken))
		d.Token, d.TokenFrom = modelspec.Secret(strings.TrimSpace(string(text))), ""
		return err
	case f.tokenFile != "":
		d.Token, d.TokenFrom = "", modelspec.Reference("file:"+f.tokenFile)
	case d.Token == "" && d.TokenFrom == "" && os.Getenv("PARLEY_TOKEN") != "":
		d.TokenFrom = "env:PARLEY_TOKEN"
	}
	return nil
}

// settings puts in what flags say of models and bounds.
func (f *flags) settings(d *modelspec.Document, changed func(string) bool) error {
	if f.config != "" {
		for _, name := range []string{"model", "key", "max-tokens", "requests-per-minute", "tokens-per-hour", "tokens-per-day", "retries", "fallback", "concurrency"} {
			if changed(name) {
				return usagef("--%s stands in the file that --config names", name)
			}
		}
		return nil
	}
	keys, err := f.keysByKind()
	if err != nil {
		return err
	}
	for _, text := range f.models {
		m, err := modelspec.ParseModel(text)
		if err != nil {
			return usageError{err}
		}
		m.MaxTokens = f.maxTokens
		m.KeyFrom = cmp.Or(keys[m.Kind], keys[""])
		if variable := m.Kind.KeyVariable(); m.KeyFrom == "" && m.NeedsKey() && os.Getenv(variable) != "" {
			m.KeyFrom = modelspec.Reference("env:" + variable)
		}
		d.Models = append(d.Models, m)
	}
	d.Budget = modelspec.Budget{RequestsPerMinute: f.perMinute, TokensPerHour: f.perHour, TokensPerDay: f.perDay}
	if changed("retries") {
		d.Retries = &f.retries
	}
	d.Fallback, d.Concurrency = f.fallback, f.concurrency
	return nil
}

// keysByKind are where keys are, by the kind of endpoint; "" is for the others.
// No error quotes what was written, which may be a key.
func (f *flags) keysByKind() (map[modelspec.Kind]modelspec.Reference, error) {
	keys := map[modelspec.Kind]modelspec.Reference{}
	for _, text := range f.keys {
		var kind modelspec.Kind
		for _, k := range modelspec.Kinds() {
			if rest, ok := strings.CutPrefix(text, string(k)+"="); ok {
				kind, text = k, rest
			}
		}
		from := modelspec.Reference(text)
		if err := from.Check(); err != nil {
			return nil, usagef("--key: %w", err)
		}
		if _, twice := keys[kind]; twice {
			return nil, usagef("--key is given twice for the same endpoints: write --key KIND=%s for one of them", "env:NAME")
		}
		keys[kind] = from
	}
	return keys, nil
}
