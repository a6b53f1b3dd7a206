package main

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"golang.org/x/term"

	"github.com/parleyhq/parley/internal/tui/asked"
)

// Keys are handed over line by line, each for what the prompt asked when they were
// pressed, and Ctrl-C takes back the line.
func TestKeys(t *testing.T) {
	form := &asked.Ask{}
	c := &console{in: strings.NewReader("a\rb\r\nc\x03d\n\x03"), prompt: prompt{form: form}}
	k := &keys{console: c}
	var got []string
	for {
		p := make([]byte, 64)
		n, err := k.Read(p)
		if err == io.EOF {
			break
		}
		word := string(p[:n])
		if errors.Is(err, errInterrupt) {
			word += "!"
		} else if c.aim != form {
			t.Errorf("%q is for another form", word)
		}
		got = append(got, word)
		c.prompt.form = nil // what is pasted stays for what it was pasted for
		c.typing = false
	}
	want := []string{"a\r", "b\r\n", "c", eraseLine + "!", "d\n", eraseLine + "!"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Keys that are pressed as a form is taken away are not for what comes in its place,
// until somebody can have read that.
func TestKeysAtOnceAfterAForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		harmless, next := &asked.Ask{}, &asked.Ask{}
		c := &console{in: strings.NewReader("")}
		aims := func(want *asked.Ask) {
			t.Helper()
			if got := c.aimsAt(); got != want {
				t.Errorf("keys are for %p, want %p", got, want)
			}
		}
		replaced := func() {
			c.ask(prompt{form: harmless})
			c.ask(forTheRoom)
			c.ask(prompt{form: next})
		}
		replaced()
		aims(harmless)
		time.Sleep(startled)
		aims(next)

		replaced()
		c.finish(term.NewTerminal(keyboard{c.in, io.Discard}, ""), "yes", nil)
		aims(next) // that line was told to be for none

		c.settled() // by our own answer, as the next one
		c.ask(prompt{form: harmless})
		c.settled()
		c.ask(forTheRoom)
		aims(nil)
		c.ask(prompt{form: next})
		aims(next)
	})
}

// Lines of a file or pipe come whole, and the end of them is told, whatever it is.
func TestPlainLines(t *testing.T) {
	for _, c := range []struct {
		in   io.Reader
		want []string
	}{
		{strings.NewReader("a\nb\r\n\nc"), []string{"a", "b", "", "c", "EOF"}},
		{strings.NewReader("a\n" + strings.Repeat("x", maxLine+1)), []string{"a", "invalid_argument: a line of the input is longer than 1 MiB"}},
		{iotest.ErrReader(io.ErrUnexpectedEOF), []string{"unexpected EOF"}},
	} {
		sits := newConsole(&terminal{in: c.in})
		if err := sits.start(); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			l := <-sits.lines
			if l.err != nil {
				l.text = l.err.Error()
			}
			if l.text != want {
				t.Errorf("got %q, want %q", l.text, want)
			}
		}
		sits.close()
	}
}

// Whoever leaves while a line waits to be heard is not waited for.
func TestConsoleClosesWithLinesLeft(t *testing.T) {
	sits := &console{lines: make(chan typed), done: make(chan struct{})}
	close(sits.done)
	if sits.hand(typed{text: "a"}) {
		t.Error("it goes on reading")
	}
}
