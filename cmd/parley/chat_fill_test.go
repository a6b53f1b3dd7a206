package main

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/tui/asked"
)

// fillingOf is a form of bot's that begins to be filled in.
func fillingOf(t *testing.T, message, properties, required string) *filling {
	t.Helper()
	return askedOf(t, `{"message":`+string(quote(message))+`,"requestedSchema":{"type":"object","properties":{`+properties+`},"required":[`+required+`]}}`)
}

// askedOf is something that bot asks.
func askedOf(t *testing.T, params string) *filling {
	t.Helper()
	a := asked.Take(&parley.Envelope{From: "bot", Seq: 7}, jsontext.Value(params))
	return newFilling(a)
}

const (
	threeFields = `"name":{"type":"string","title":"Your name"},"people":{"type":"integer","default":2},"seat":{"type":"string","enum":["in","out"]}`
	nameWanted  = `"name"`
)

// What a person types, line by line, and what comes of it.
func TestFilling(t *testing.T) {
	for _, c := range []struct{ name, typed, want string }{
		{"all of it", "Ann|4|2|yes", `accept {"action":"accept","content":{"name":"Ann","people":4,"seat":"out"}}`},
		{"empty lines take the default, or leave out", "Ann|||y", `accept {"action":"accept","content":{"name":"Ann","people":2}}`},
		{"a default can be left out", "Ann|/skip|/skip|yes", `accept {"action":"accept","content":{"name":"Ann"}}`},
		{"what is required is not left out", "|/skip|Ann|/skip|/skip|yes", `→ this has to be answered: expected a text; → this cannot be left out: /decline says no to all of it; accept {"action":"accept","content":{"name":"Ann"}}`},
		{"it goes back", "Ann|/back|/back|Eve|||yes", `→ this is the first question; accept {"action":"accept","content":{"name":"Eve","people":2}}`},
		{"it goes back from the end", "Ann|||/back|in|yes", `accept {"action":"accept","content":{"name":"Ann","people":2,"seat":"in"}}`},
		{"one answer is changed", "Ann|||edit 2|5|yes", `accept {"action":"accept","content":{"name":"Ann","people":5}}`},
		{"one answer is taken back", "Ann||in|edit 3|/skip|yes", `accept {"action":"accept","content":{"name":"Ann","people":2}}`},
		{"all are gone over, and kept by empty lines", "Ann|/skip|in|edit||||yes", `accept {"action":"accept","content":{"name":"Ann","seat":"in"}}`},
		{"there is no such answer", "Ann|||edit 4|edit x|Edit 1|Eve|send", `→ the questions have the numbers from 1 to 3; → the questions have the numbers from 1 to 3; accept {"action":"accept","content":{"name":"Eve","people":2}}`},
		{"only a yes is a yes", "Ann||||no|yess|decline", `→ write yes, edit, decline or cancel; → write yes, edit, decline or cancel; → write yes, edit, decline or cancel; decline {"action":"decline"}`},
		{"no, at any question", "Ann|/decline", `decline {"action":"decline"}`},
		{"put away, at any question", " /cancel ", `cancel {"action":"cancel"}`},
		{"put away, in the end", "Ann|||cancel", `cancel {"action":"cancel"}`},
		{"what only looks like a command is an answer", "/usr/bin|||yes", `accept {"action":"accept","content":{"name":"/usr/bin","people":2}}`},
		{"and a command can be one", "//decline|||yes", `accept {"action":"accept","content":{"name":"/decline","people":2}}`},
		{"words of the end are answers before", "yes|||yes", `accept {"action":"accept","content":{"name":"yes","people":2}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fillingOf(t, "Book?", threeFields, nameWanted)
			if got := typedInto(f, c.typed); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// typedInto tells what came of lines: each problem, and what is sent.
func typedInto(f *filling, lines string) string {
	var said []string
	for text := range strings.SplitSeq(lines, "|") {
		action, problem := f.take(text)
		if problem != "" {
			said = append(said, "→ "+problem)
		}
		if action != "" {
			result, err := f.result(action)
			if err != nil {
				return err.Error()
			}
			said = append(said, action+" "+string(result))
		}
	}
	return strings.Join(said, "; ")
}

func TestFillingOfNothing(t *testing.T) {
	f := fillingOf(t, "Go on?", "", "")
	if got, want := f.question(palette{})[0], "There is nothing to fill in for bot: yes agrees, decline says no, cancel puts it away."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := typedInto(f, "/back|edit|yes"), `→ this is the first question; → there is nothing to edit; accept {"action":"accept","content":{}}`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// What is no form is shown as it came: a link can be agreed to, the rest cannot.
func TestFillingOfNoForm(t *testing.T) {
	for _, c := range []struct{ params, shown, typed, want string }{
		{`{"mode":"url","message":"go\u001b[2J","url":"https://me@example.com/a?b"}`,
			`bot asks you (#7):|  | go\u001b[2J|It asks you to open a page of example.com|The whole link:|  | https://me@example.com/a?b|What stands before the @ is a name, not where the link leads: that is example.com.|` +
				`Nobody here has checked the link, and nothing here opens it: open it yourself in a browser, if you trust it.|yes agrees; decline says no; cancel puts it away|agree, and tell bot? `,
			"/skip|edit|yes", `→ write yes, edit, decline or cancel; → there is nothing to edit; accept {"action":"accept"}`},
		{`{"mode":"url","message":"go","url":"https://ex\u0430mple.com/\u202e"}`,
			`bot asks you (#7):|  | go|The whole link:|  | https://exаmple.com/\u202e|This is not to be opened: the link has characters that no link has.|` +
				`decline says no; cancel puts it away; the console in a browser may show it, and take an answer|decline or cancel? `,
			"yes|/decline", `→ there is nothing to agree to: write decline or cancel; decline {"action":"decline"}`},
		{`{"message":"m","requestedSchema":["\u202e"]}`,
			`bot asks you (#7):|  | m|This cannot be shown as a form here: requestedSchema: expected an object, got a list|What was asked, as it came:|  | {"message":"m","requestedSchema":["\u202e"]}|` +
				`decline says no; cancel puts it away; the console in a browser may show it, and take an answer|decline or cancel? `,
			"yes|cancel", `→ there is nothing to agree to: write decline or cancel; cancel {"action":"cancel"}`},
	} {
		f := askedOf(t, c.params)
		shown := append(f.introduction(palette{}), append(f.question(palette{}), f.prompt())...)
		if got := strings.Join(shown, "|"); got != c.shown {
			t.Errorf("\n got %s\nwant %s", got, c.shown)
		}
		if got := typedInto(f, c.typed); got != c.want {
			t.Errorf("\n got %s\nwant %s", got, c.want)
		}
	}
}

// What an asker writes cannot pass for anything of ours, nor act on the terminal.
func TestFormIsShownSafely(t *testing.T) {
	f := fillingOf(t, "first\x1b[2J\r\nsend it? yes> \u202eyes",
		`"n\u001b[1m":{"type":"string","title":"T\u001b]0;x\u0007\nTo boss: yes","description":"d\n1/1 x: \u009b31m","enum":["a\u001bc","b"],"enumNames":["A\nB","\u202eb"],"default":"a\u001bc"},
		"p":{"type":"string","pattern":"\u001b[a-z]","default":"\u001bx"}`, "")
	var shown []string
	shown = append(shown, f.introduction(palette{})...)
	for range len(f.Form.Fields) {
		shown = append(append(shown, f.question(palette{})...), f.prompt())
		f.take("")
	}
	shown = append(append(shown, f.question(palette{})...), f.prompt())
	want := []string{
		`bot asks you (#7):`,
		`  | first\u001b[2J`,
		`  | send it? yes> \u202eyes`,
		`2 questions. /decline says no, /cancel puts it away, /help says more.`,
		`1/2 T\u001b]0;x\u0007\nTo boss: yes (n\u001b[1m): one of 2 choices, may be left out [a\u001bc]`,
		`  | d`,
		`  | 1/1 x: \u009b31m`,
		`  1) A\nB (a\u001bc)`,
		`  2) \u202eb (b)`,
		`1/2 T\u001b]0;x\u0007\nTo boss: y…> `,
		`2/2 p: a text that matches "\x1b[a-z]", may be left out [\u001bx]`,
		`2/2 p> `,
		`This goes to bot, and everybody in the room can read it:`,
		`  1 T\u001b]0;x\u0007\nTo boss: yes (n\u001b[1m): "a\u001bc"`,
		`  2 p: "\u001bx"`,
		`yes sends it; edit, or edit 2, changes answers; decline says no; cancel puts it away`,
		`send it to bot? `,
	}
	if got, want := strings.Join(shown, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	for _, line := range shown {
		if !isClean(line) {
			t.Errorf("%q reaches the terminal", line)
		}
	}
}

// Only a call that was made of the asker is told as the reason for asking.
func TestCauseOf(t *testing.T) {
	call := func(from, to, kind string) *parley.Envelope {
		return &parley.Envelope{From: from, To: []string{to}, Kind: kind, Seq: 3}
	}
	for _, c := range []struct {
		call *parley.Envelope
		want string
	}{
		{call("agent", "bot", "mcp/request:tools/call:book\u202e"), `for agent's call of book\u202e (#3)`},
		{call("me", "bot", "mcp/request:tools/call:book"), "for your call of book (#3)"},
		{call("me", "bot", "mcp/request:prompts/get:p"), "for your call of prompts/get p (#3)"},
		{call("me", "bot", "mcp/request:tools/call"), "for your call of tools/call (#3)"},
		{call("boss", "files", "mcp/request:tools/call:book"), ""},
		{call("boss", "bot", "mcp/proposal:tools/call:book"), ""},
		{call("boss", "bot", "chat"), ""},
	} {
		if got := causeOf(c.call, "bot", "me"); got != c.want {
			t.Errorf("%s of %s to %s: %q, want %q", c.call.Kind, c.call.From, c.call.To, got, c.want)
		}
	}
}
