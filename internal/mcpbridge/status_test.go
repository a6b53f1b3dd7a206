package mcpbridge

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestConditions(t *testing.T) {
	one := &Upstream{}
	b := NewBridge(Server{URL: "http://user:hush-hush@127.0.0.1:1/mcp?key=hush-hush-2"}, Join{})
	p := &b.tracker
	is := func(want Condition, restarts int) Status {
		t.Helper()
		s := b.Status()
		if s.Condition != want || s.Restarts != restarts || s.Since.IsZero() || s.Transport != "http" || s.PID != 0 {
			t.Errorf("%+v, want %s after %d restarts", s, want, restarts)
		}
		return s
	}
	is(FirstStart, 0)
	p.server(State{Phase: Starting})
	began := is(FirstStart, 0).Since
	p.server(State{Phase: Ready, Upstream: one})
	if s := is(FirstStart, 0); s.Era != Legacy || s.Tools != -1 || s.Since != began {
		t.Errorf("%+v", s)
	}
	p.join(one)
	p.offers(3)
	if s := is(Running, 0); s.Tools != 3 {
		t.Errorf("%+v", s)
	}
	p.server(State{Phase: Failed, Err: errors.New("key=hush-hush-2 was refused"), RetryIn: time.Minute, Failures: 2})
	if s := is(Failing, 0); s.Failures != 2 || s.RetryAt.IsZero() || s.LastExit.Reason != "[redacted] was refused" || s.Tools != -1 {
		t.Errorf("%+v, %+v", s, s.LastExit)
	}
	p.join(nil)
	p.server(State{Phase: Starting})
	if s := is(StartAgain, 1); s.Failures != 0 || !s.RetryAt.IsZero() || s.LastExit == nil {
		t.Errorf("%+v", s)
	}
	p.failed(errors.New("it was removed"))
	p.server(State{Phase: Stopped})
	if s := is(Ended, 1); s.LastExit.Reason != "it was removed" {
		t.Errorf("%+v", s.LastExit)
	}
}

// What a server is configured with is hidden where it says it, and no more than that.
func TestMask(t *testing.T) {
	mask := Server{
		Env:     map[string]string{"KEY": "abcdef-123456", "PART": "abcdef", "PEM": "-----BEGIN\nMIIEvQIBADAN\n", "ON": "true"},
		Headers: map[string]string{"Authorization": "Bearer token-of-ours", "X-N": "12345"},
		URL:     "https://me:pass-word@example.org/mcp?key=value",
	}.mask()
	for said, want := range map[string]string{
		"abcdef-123456 it is":         "[redacted] it is",
		"abcdef it is, true":          "[redacted] it is, true",
		"MIIEvQIBADAN":                "[redacted]",
		"got token-of-ours":           "got [redacted]",
		"got Bearer token-of-ours 12": "got [redacted] 12",
		"https://me:pass-word@example.org/mcp?key=value: 12345": "https://me:[redacted]@example.org/mcp?[redacted]: 12345",
		"nothing of that": "nothing of that",
	} {
		if got := mask.Replace(said); got != want {
			t.Errorf("%q becomes %q, want %q", said, got, want)
		}
	}
	if got := (Server{Command: "x"}).mask().Replace("as it is"); got != "as it is" {
		t.Errorf("without anything to hide: %q", got)
	}
}

func TestKeptWords(t *testing.T) {
	var k keptWords
	for i := range keptLines + 2 {
		k.add(fmt.Sprint(i))
	}
	k.add(strings.Repeat("é", keptLine)) // cut within one
	got := k.all()
	if len(got) != keptLines || got[0] != "3" || got[keptLines-2] != fmt.Sprint(keptLines+1) {
		t.Errorf("kept are %q", got)
	}
	if last := got[keptLines-1]; len(last) > keptLine+len("…") || !utf8.ValidString(last) || !strings.HasSuffix(last, "é…") {
		t.Errorf("the last is %q", last)
	}
	k.add("more")
	if slices.Contains(got, "more") {
		t.Error("what was handed out changes")
	}
}
