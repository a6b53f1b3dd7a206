package providertest

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

var update = flag.Bool("update", false, "write what comes into the cases of testdata")

// Run plays all cases of a folder.
func Run(t *testing.T, folder string, make func(provider.Config) (provider.Provider, error), check Check) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no cases in %s: %v", folder, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			load(t, path).play(t, make, check)
		})
	}
}

// errHungUp is why an asker gives up where nothing more comes.
var errHungUp = errors.New("the asker has given up")

func (s *script) play(t *testing.T, make func(provider.Config) (provider.Provider, error), check Check) {
	ctx, giveUp := context.WithCancelCause(t.Context())
	defer giveUp(nil)
	endpoint := Serve(t, check, func(n int) (Response, bool) {
		if n >= len(s.responses) {
			return Response{}, false
		}
		return s.responses[n], true
	}, func() { giveUp(errHungUp) })
	config := endpoint.Config()
	config.Model, config.MaxTokens = cmp.Or(s.config.Model, config.Model), s.config.MaxTokens
	p, err := make(config)
	if err != nil {
		t.Fatal(err)
	}
	var heard []provider.Progress
	result, err := p.Ask(ctx, s.request, func(at provider.Progress) { heard = append(heard, at) })
	grows(t, heard)
	if n := len(endpoint.Sent()); n != len(s.responses) {
		t.Errorf("%d requests were sent, and %d are answered", n, len(s.responses))
	}
	s.compare(t, map[string]string{
		"want.json": s.result(t, result),
		"error":     failure(t, err),
		"progress":  progress(heard),
	}, endpoint.Sent())
}

// grows fails where what is heard of a reply does not become more.
func grows(t *testing.T, heard []provider.Progress) {
	for i := 1; i < len(heard); i++ {
		if heard[i].Pieces <= heard[i-1].Pieces || heard[i].Bytes < heard[i-1].Bytes {
			t.Errorf("progress goes from %+v to %+v", heard[i-1], heard[i])
		}
	}
}

func progress(heard []provider.Progress) string {
	if len(heard) == 0 {
		return ""
	}
	last := heard[len(heard)-1]
	return fmt.Sprintf("%d pieces, %d bytes\n", last.Pieces, last.Bytes)
}

// made is an id that was made here, which is another each time.
var made = regexp.MustCompile(`call_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

func (s *script) result(t *testing.T, result *sampling.Result) string {
	if result == nil {
		return ""
	}
	data, err := result.MarshalJSON()
	if err != nil {
		t.Fatalf("the result: %v", err)
	}
	if _, err := sampling.ReadResult(data); err != nil {
		t.Errorf("nobody can read the result: %v", err)
	}
	text, err := pretty(data)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, id := range made.FindAllString(text, -1) {
		if ids[id] {
			t.Errorf("the id %s comes twice", id)
		}
		ids[id] = true
	}
	return made.ReplaceAllString(text, "call_*")
}

// address is where the endpoint of one run was.
var address = regexp.MustCompile(`127\.0\.0\.1:\d+`)

func failure(t *testing.T, err error) string {
	if err == nil {
		return ""
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), Key) {
			t.Errorf("the key stands in an error: %v", e)
		}
	}
	text := err.Error() + "\n"
	if failed, ok := errors.AsType[*provider.Error](err); ok {
		text += fmt.Sprintf("status %d, wait %v, temporary %t\n", failed.Status, failed.RetryAfter, failed.Temporary())
	} else if !errors.Is(err, errHungUp) {
		t.Errorf("the error is of the type %T", err)
	}
	return address.ReplaceAllString(text, "HOST")
}

// compare holds what has come against the case.
func (s *script) compare(t *testing.T, got map[string]string, bodies [][]byte) {
	var sent []string
	for _, body := range bodies {
		text, err := pretty(body)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, text)
	}
	if *update {
		s.rewrite(t, got, sent)
		return
	}
	for name, text := range got {
		if want := s.section(name); text != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, text, want)
		}
	}
	for i, want := range s.sent {
		text, err := pretty(jsontext.Value(want))
		if err != nil {
			t.Fatal(err)
		}
		if i >= len(sent) || sent[i] != text {
			t.Errorf("request %d: got %q\nwant\n%s", i, sent, text)
		}
	}
}

// AtOnce has one model asked by several goroutines, of an endpoint that says hello
// to all of them, and fails where one hears something else.
func AtOnce(t *testing.T, make func(provider.Config) (provider.Provider, error), check Check, hello Response) {
	endpoint := Serve(t, check, func(int) (Response, bool) { return hello, true }, nil)
	p, err := make(endpoint.Config())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				reply, err := p.Ask(t.Context(), &sampling.Request{Messages: []sampling.Message{sampling.UserText("hi")}, MaxTokens: 5}, nil)
				if err != nil || reply.Message().Text() != "Hello!" {
					t.Errorf("the reply is %+v, the error %v", reply, err)
				}
			}
		})
	}
	wg.Wait()
}
