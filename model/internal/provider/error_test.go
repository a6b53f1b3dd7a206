package provider

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/parleyhq/parley/tool/sampling"
)

const key = "sk-proj-abcdefghijklmnop"

func TestRefused(t *testing.T) {
	for status, want := range map[int]struct {
		kind      ErrorKind
		temporary bool
	}{
		302: {Garbled, false},
		400: {Invalid, false},
		401: {Denied, false},
		403: {Denied, false},
		404: {Gone, false},
		408: {Invalid, false},
		413: {Invalid, false},
		422: {Invalid, false},
		429: {Rate, true},
		500: {Broken, true},
		502: {Broken, true},
		503: {Overloaded, true},
		504: {Broken, true},
		529: {Overloaded, true},
	} {
		e := Config{Key: key}.Refused(status, nil, "no, "+key)
		if e.Kind != want.kind || e.Temporary() != want.temporary || e.Status != status || e.Message != "no, [key]" {
			t.Errorf("%d: %+v, temporary %t", status, e, e.Temporary())
		}
	}
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		for _, c := range []struct {
			header, value string
			want          time.Duration
		}{
			{"Retry-After", "20", 20 * time.Second},
			{"Retry-After", "0.5", 500 * time.Millisecond},
			{"Retry-After", "-3", 0},
			{"Retry-After", "NaN", 0},
			{"Retry-After", "Inf", 24 * time.Hour},
			{"Retry-After", "1e300", 24 * time.Hour},
			{"Retry-After", "soon", 0},
			{"Retry-After", "", 0},
			{"Retry-After", in(90 * time.Second), 90 * time.Second},
			{"Retry-After", in(-time.Hour), 0},
			{"Retry-After", in(1000 * time.Hour), 24 * time.Hour},
			{"Retry-After-Ms", "1500", 1500 * time.Millisecond},
			{"Retry-After-Ms", "-1", 0},
			{"Retry-After-Ms", "9223372036854775807", 24 * time.Hour},
		} {
			h := http.Header{c.header: {c.value}}
			if got := (Config{}).Refused(429, h, "").RetryAfter; got != c.want {
				t.Errorf("%s %s: %v, want %v", c.header, c.value, got, c.want)
			}
		}
	})
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		" a\n\tb\x00\x1b[31mc ":            "a b [31mc",
		"a\u202eb\u200bc":                  "a b c",
		"\xff":                             "\uFFFD",
		"wrong key " + key + ".":           "wrong key [key].",
		"x" + key + "y":                    "x[key]y",
		"sent: sk-p***********mnop, wrong": "sent: [key] wrong",
		`sent "sk-proj-abc…"`:              "sent [key]",
		"sk-p is short":                    "sk-p is short",
		strings.Repeat("a", 300):           strings.Repeat("a", 300),
		strings.Repeat("a", 301):           strings.Repeat("a", 297) + "…",
		strings.Repeat("ä", 151):           strings.Repeat("ä", 148) + "…",
	} {
		if got := (Config{Key: key}).Clean(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := (Config{}).Clean("a key: sk"); got != "a key: sk" {
		t.Errorf("without a key: %q", got)
	}
}

func TestFailed(t *testing.T) {
	c := Config{Key: key}
	at := &url.Error{Op: "Post", URL: "https://user:" + key + "@host/?k=" + key, Err: io.ErrUnexpectedEOF}
	err := c.Failed(t.Context(), at)
	if failed, ok := errors.AsType[*Error](err); !ok || failed.Kind != Unreachable || strings.Contains(err.Error(), key) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	known := c.Garble("known")
	if err := c.Failed(t.Context(), &url.Error{Err: known}); err != error(known) {
		t.Errorf("got %v", err)
	}
	why := errors.New("the asker has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for _, err := range []error{c.Failed(ctx, at), c.Broken(ctx, nil)} {
		if err != why {
			t.Errorf("got %v", err)
		}
	}
}

func TestBroken(t *testing.T) {
	for want, err := range map[string]error{
		"unreachable: the stream broke off: unexpected EOF":    nil,
		"unreachable: the stream broke off: connection reset":  &cutError{errors.New("connection reset")},
		"garbled: an event of the stream cannot be read: what": errors.New("what"),
		"garbled: known": Config{}.Garble("known"),
	} {
		if got := (Config{}).Broken(t.Context(), err); got == nil || got.Error() != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

func TestCannotTake(t *testing.T) {
	for want, b := range map[string]sampling.Block{
		"audio (audio/ogg)":                 sampling.Audio{MIMEType: "audio/ogg"},
		"an image (image/tiff)":             sampling.Image{MIMEType: "image/tiff"},
		"a resource that holds bytes (a/b)": sampling.Resource{Contents: sampling.Contents{MIMEType: "a/b", Blob: []byte{1}}},
		"a block of type hologram":          sampling.Unknown{Type: "hologram"},
		"nothing":                           nil,
	} {
		e := Config{}.CannotTake("messages[0].content[1]", b, "text")
		if e.Message != "messages[0].content[1] is "+want+", and there this endpoint takes text" || e.Temporary() {
			t.Errorf("got %v", e)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("wrong key "+key+": sk-p****mnop", key)
	f.Add("\xff\x1b\u202e", "")
	f.Add("\uFFFD", "\xbf")
	f.Add(strings.Repeat("ä", 400)+key, key)
	f.Fuzz(func(t *testing.T, text, key string) {
		got := (Config{Key: key}).Clean(text)
		if len(got) > maxMessage || !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }) {
			t.Errorf("%q", got)
		}
		// What is put in may make up a key, if it looks like that.
		if len(key) > 3 && utf8.ValidString(key) && !strings.ContainsFunc(key, unshown) && !strings.ContainsAny(key, "[]…\uFFFD") && strings.Contains(got, key) {
			t.Errorf("%q holds %q", got, key)
		}
	})
}
