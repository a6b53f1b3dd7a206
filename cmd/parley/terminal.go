package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"
)

// terminal is where a verb reads and speaks.
type terminal struct {
	in       io.Reader
	out, err io.Writer

	outTTY, errTTY bool // whether somebody looks at it
	colours        bool // whether colours are wanted where somebody does

	json choice // --json
}

func systemTerminal() *terminal {
	return &terminal{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		outTTY:  term.IsTerminal(int(os.Stdout.Fd())),
		errTTY:  term.IsTerminal(int(os.Stderr.Fd())),
		colours: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

// asJSON reports whether to write JSON Lines: where it was asked for, else
// wherever nobody looks.
func (t *terminal) asJSON() bool {
	if t.json.set {
		return t.json.value
	}
	return !t.outTTY
}

// palette is for what goes to out.
func (t *terminal) palette() palette { return palette{t.outTTY && t.colours} }

func (t *terminal) errPalette() palette { return palette{t.errTTY && t.colours} }

// say writes a line for people to err, where it is in nobody's way.
func (t *terminal) say(format string, args ...any) {
	fmt.Fprintf(t.err, format+"\n", args...)
}

// logger writes to err what an operator should know: as text where somebody looks,
// and for programs as JSON.
func (t *terminal) logger(level slog.Leveler) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if t.errTTY {
		return slog.New(slog.NewTextHandler(t.err, opts))
	}
	opts.ReplaceAttr = func(_ []string, a slog.Attr) slog.Attr {
		switch v := a.Value.Any().(type) {
		case time.Duration: // else it is a number of nobody knows what
			a.Value = slog.StringValue(v.String())
		case error: // some of which are objects in JSON
			a.Value = slog.StringValue(v.Error())
		}
		return a
	}
	return slog.New(slog.NewJSONHandler(t.err, opts))
}

// writeJSON writes one JSON value as one line. Where somebody looks, what a
// terminal might obey is written as an escape, which means the same.
func (t *terminal) writeJSON(v jsontext.Value) error {
	if bytes.ContainsAny(v, "\r\n") {
		v = v.Clone()
		if err := v.Compact(); err != nil {
			return fmt.Errorf("writing JSON: %w", err)
		}
	}
	w := bufio.NewWriter(t.out)
	if t.outTTY {
		writeEscaped(w, v)
	} else {
		w.Write(v)
	}
	w.WriteByte('\n')
	return w.Flush()
}

// writeEscaped escapes every character that is not shown as itself. Outside of
// ASCII, JSON has characters in strings only, where an escape may stand.
func writeEscaped(w *bufio.Writer, v jsontext.Value) {
	for i := 0; i < len(v); {
		r, size := utf8.DecodeRune(v[i:])
		switch {
		case r == 0x7f || r > 0x7f && !shown(r):
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(w, `\u%04x`, unit)
			}
		default:
			w.Write(v[i : i+size])
		}
		i += size
	}
}

// lineEscaper writes lines of JSON as [writeEscaped] does, however they come in
// pieces, and cleans what is none.
type lineEscaper struct {
	w    *bufio.Writer
	line []byte // what has come of it, without its end
}

func (l *lineEscaper) Write(p []byte) (int, error) {
	for piece := range bytes.Lines(p) {
		rest, whole := bytes.CutSuffix(piece, []byte{'\n'})
		l.line = append(l.line, rest...)
		if whole {
			l.put()
			l.w.WriteByte('\n')
		}
	}
	return len(p), l.w.Flush()
}

func (l *lineEscaper) put() {
	if v := jsontext.Value(l.line); v.IsValid() && !bytes.ContainsRune(v, '\r') {
		writeEscaped(l.w, v)
	} else {
		l.w.WriteString(clean(string(v)))
	}
	l.line = l.line[:0]
}

// end writes what came without a line break.
func (l *lineEscaper) end() error {
	l.put()
	return l.w.Flush()
}

// choice is a flag that may be yes, no, or not said.
type choice struct{ set, value bool }

func (c *choice) String() string {
	if !c.set {
		return ""
	}
	return strconv.FormatBool(c.value)
}

func (c *choice) Set(s string) (err error) {
	c.set = true
	c.value, err = strconv.ParseBool(s)
	return err
}

func (c *choice) Type() string { return "bool" }
