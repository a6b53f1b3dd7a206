package provider

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

// serve answers as a handler does, through a client that is made of a Config.
func serve(t *testing.T, make func(Config) *http.Client, h http.HandlerFunc) (*http.Response, error) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	resp, err := make(Config{HTTPClient: s.Client()}).Get(s.URL)
	if err == nil {
		t.Cleanup(func() { resp.Body.Close() })
	}
	return resp, err
}

// A redirect would take the key along to wherever it points.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			t.Errorf("%s was asked", r.URL)
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}
	if resp, err := serve(t, Config.Client, elsewhere); err != nil || resp.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("got %v, %v", resp, err)
	}
	_, err := serve(t, Config.Events, elsewhere)
	if failed, ok := errors.AsType[*Error](err); !ok || failed.Kind != Garbled || failed.Status != http.StatusTemporaryRedirect {
		t.Errorf("got %v", err)
	}
}

// What is kept of an error does not depend on who sends it.
func TestFailuresAreCutOff(t *testing.T) {
	resp, err := serve(t, Config.Client, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		io.WriteString(w, strings.Repeat("a", 2*maxFailure))
	})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if len(body) != maxFailure || err != nil {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}

func TestStreamsEnd(t *testing.T) {
	body := &bodyUpTo{io.NopCloser(strings.NewReader("abcdef")), 4}
	got, err := io.ReadAll(body)
	if failed, ok := errors.AsType[*Error](err); !ok || failed.Kind != Garbled || string(got) != "abcd" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestEvents(t *testing.T) {
	for kind, want := range map[string]string{
		"text/event-stream":                "",
		"text/event-stream; charset=utf-8": "",
		"text/html":                        `garbled: expected a stream of events, got "text/html"`,
		"application/json":                 `garbled: expected a stream of events, got "application/json"`,
	} {
		_, err := serve(t, Config.Events, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", kind) })
		failed, _ := errors.AsType[*Error](err)
		if got := fmt.Sprint(failed); want == "" && err != nil || want != "" && got != want {
			t.Errorf("%s: %v", kind, err)
		}
	}
	resp, err := serve(t, Config.Events, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	if err != nil || resp.StatusCode != http.StatusTeapot {
		t.Errorf("an error became %v, %v", resp, err)
	}
}

// A stream may begin with a byte order mark, which is no part of its first line.
func TestEventsWithoutMark(t *testing.T) {
	for sent, want := range map[string]string{
		"\uFEFFdata: a\n\n":       "data: a\n\n",
		"\uFEFF":                  "",
		"\uFEFF\uFEFFdata: a\n\n": "\uFEFFdata: a\n\n",
		"data: \uFEFF\n\n":        "data: \uFEFF\n\n",
		"d":                       "d",
		"":                        "",
	} {
		resp, err := serve(t, Config.Events, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, sent)
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(resp.Body); string(got) != want || err != nil {
			t.Errorf("%q: %q, %v", sent, got, err)
		}
	}
	broken := &eventBody{ReadCloser: unmarked(cutBody{iotest.ErrReader(io.ErrUnexpectedEOF), io.NopCloser(nil)})}
	if _, err := io.ReadAll(broken); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// endless is a body that repeats a piece.
type endless struct {
	piece string
	at    int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.piece[e.at:])
	e.at = (e.at + n) % len(e.piece)
	return n, nil
}

func (*endless) Close() error { return nil }

func TestEventsAreBounded(t *testing.T) {
	for piece, bounded := range map[string]bool{
		"a":                 true,
		"data: a\n":         true,
		"data: a\r\n":       true,
		"data: a\n\n":       false,
		"data: a\r\n\r\n":   false,
		": nothing\n\ndata": false,
		"\n":                false,
		"\r":                true,
	} {
		body := &eventBody{ReadCloser: &endless{piece: piece}, event: maxEvent - 1000}
		_, err := io.CopyN(io.Discard, body, 10_000)
		if failed, ok := errors.AsType[*Error](err); ok != bounded || ok && failed.Kind != Garbled {
			t.Errorf("%q: %v", piece, err)
		}
	}
}
