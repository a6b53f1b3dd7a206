package fill

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"

	"github.com/parleyhq/parley/internal/form"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/tui/safe"
)

var update = flag.Bool("update", false, "write what the screens show into testdata")

// press is a key by its name, or a letter.
func press(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"tab": tea.KeyTab, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
	}
	var k tea.KeyPressMsg
	word := name
	for {
		mod, rest, ok := strings.Cut(word, "+")
		if !ok || rest == "" {
			break
		}
		k.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "shift": tea.ModShift, "alt": tea.ModAlt}[mod]
		word = rest
	}
	switch code, known := codes[word]; {
	case word == "space":
		k.Code, k.Text = ' ', " "
	case known:
		k.Code = code
	default:
		k.Code = []rune(word)[0]
		if k.Mod == 0 {
			k.Text = word
		}
	}
	return k
}

// does carries out a line of a script.
func does(t *testing.T, m Model, line string) Model {
	t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "size":
		var w, h int
		if _, err := fmt.Sscan(rest, &w, &h); err != nil {
			t.Fatal(line, err)
		}
		return m.SetSize(w, h)
	case "from":
		asker, cause, _ := strings.Cut(rest, ", ")
		return m.From(asker, cause)
	case "type":
		for _, r := range rest {
			m, _ = m.Update(press(strings.Replace(string(r), " ", "space", 1)))
		}
		return m
	case "paste":
		var text string
		if _, err := fmt.Sscanf(rest, "%q", &text); err != nil {
			t.Fatal(line, err)
		}
		m, _ = m.Update(tea.PasteMsg{Content: text})
		return m
	case "keys":
		for name := range strings.FieldsSeq(rest) {
			m, _ = m.Update(press(name))
		}
		return m
	}
	t.Fatalf("what is %q?", line)
	return m
}

// frame is what the screen shows; it is exactly as large as it has to be.
func frame(t *testing.T, m Model) string {
	t.Helper()
	text := ansi.Strip(m.View())
	lines := strings.Split(text, "\n")
	if len(lines) != m.height {
		t.Errorf("%d lines on a screen of %d:\n%s", len(lines), m.height, text)
	}
	for i, line := range lines {
		if w := safe.Width(line); w > m.width {
			t.Errorf("line %d has %d columns on a screen of %d: %q", i+1, w, m.width, line)
		}
		if safe.OneLine(line) != line {
			t.Errorf("line %d is not safe: %q", i+1, line)
		}
	}
	return text
}

// Each file of testdata holds a form, what a person does, and what the screen shows
// whenever they look.
func TestScreens(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no files:", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m := New(parsed(t, string(a.Files[0].Data)), Styles{})
			var shown strings.Builder
			for line := range strings.Lines(string(a.Files[1].Data)) {
				switch line = strings.TrimSpace(line); line {
				case "":
				case "look":
					for l := range strings.SplitSeq(frame(t, m), "\n") {
						fmt.Fprintf(&shown, "|%s\n", strings.TrimRight(l, " "))
					}
					if r, done := m.Result(); done {
						fmt.Fprintf(&shown, "=> %s %s\n", r.Action, safe.OneLine(string(r.Content)))
					}
					shown.WriteString("\n")
				default:
					fmt.Fprintf(&shown, "%s\n", line)
					m = does(t, m, line)
				}
			}
			if *update {
				a.Files = append(a.Files[:2:2], txtar.File{Name: "screens", Data: []byte(shown.String())})
				if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got, want := shown.String(), string(a.Files[2].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func parsed(t testing.TB, params string) *form.Form {
	t.Helper()
	f, err := form.Parse(jsontext.Value(params))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Colours change nothing but colours.
func TestColours(t *testing.T) {
	f := parsed(t, `{"message":"Which?","requestedSchema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"boolean"}},"required":["a"]}}`)
	loud := lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red)
	plain, coloured := New(f, Styles{}), New(f, Styles{loud, loud, loud, loud, loud, loud, loud})
	for _, line := range []string{"size 50 12", "type x", "keys tab", "keys ctrl+s", "keys backspace", "type 4", "keys ctrl+s", "keys ctrl+d"} {
		plain, coloured = does(t, plain, line), does(t, coloured, line)
		if a, b := frame(t, plain), frame(t, coloured); a != b {
			t.Errorf("after %s plain\n%s\nin colour\n%s", line, a, b)
		}
	}
	if !strings.Contains(coloured.View(), "\x1b[") {
		t.Error("there are no colours")
	}
}

// large is a form with as many fields as one may have, of all types.
func large(t testing.TB) *form.Form {
	var b strings.Builder
	for i := range form.MaxFields {
		schema := []string{
			`{"type":"string","description":"` + strings.Repeat("words ", 500) + `"}`, `{"type":"integer","default":5}`, `{"type":"boolean"}`,
			`{"type":"string","enum":["a","b"],"default":"a"}`, `{"type":"array","items":{"type":"string","enum":["x","y"]}}`,
		}[i%5]
		fmt.Fprintf(&b, `,"field %d":%s`, i, schema)
	}
	return parsed(t, `{"message":"`+strings.Repeat("long ", 5000)+`","requestedSchema":{"type":"object","properties":{`+b.String()[1:]+`}}}`)
}

// A form that is far higher than the screen is walked through from end to end, and
// draws no more than the screen.
func TestLargeForm(t *testing.T) {
	m := New(large(t), Styles{}).SetSize(40, 12)
	if m.focus != onMessage {
		t.Errorf("the focus is at %d, want the message", m.focus)
	}
	drawn := frame(t, m)
	m = does(t, m, "keys tab")
	for i := range form.MaxFields {
		if m.focus != i {
			t.Fatalf("the focus is at %d, want %d", m.focus, i)
		}
		if shown := frame(t, m); i%97 == 0 && (shown == drawn || !strings.Contains(shown, fmt.Sprintf("%d/%d", i+1, form.MaxFields))) {
			t.Errorf("at %d the screen shows\n%s", i, shown)
		}
		m = does(t, m, "keys tab")
	}
	if m.focus != onReview {
		t.Fatalf("the focus is at %d, want the review", m.focus)
	}
	for range form.MaxFields {
		if m = does(t, m, "keys enter"); m.result != nil {
			break
		}
	}
	r, done := m.Result()
	if !done || r.Action != Accept || !strings.Contains(string(r.Content), `"field 996":5`) {
		t.Errorf("the result is %s %.80s, %v", r.Action, r.Content, done)
	}
}

func BenchmarkLargeForm(b *testing.B) {
	m := does(&testing.T{}, New(large(b), Styles{}).SetSize(120, 50), "keys ctrl+end")
	for b.Loop() {
		m, _ = m.Update(press("tab"))
		m, _ = m.Update(press("shift+tab"))
		_ = m.View()
	}
}

// A result that could not be sent leaves the form as it was.
func TestReopen(t *testing.T) {
	f := parsed(t, `{"message":"Which?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`)
	m := does(t, New(f, Styles{}), "type hello")
	before := frame(t, does(t, m, "keys ctrl+s"))
	m = does(t, m, "keys ctrl+s enter")
	if r, _ := m.Result(); string(r.Content) != `{"a":"hello"}` {
		t.Fatalf("the content is %s", r.Content)
	}
	if again := does(t, m, "keys esc esc"); again.focus != m.focus {
		t.Error("a form that is done takes keys")
	}
	m = m.Reopen()
	if _, done := m.Result(); done || frame(t, m) != before {
		t.Errorf("reopened it shows\n%s\nwant\n%s", frame(t, m), before)
	}
}

// Whatever is asked, and whatever is pressed, the screen holds, and what comes out
// fits the form.
func FuzzFill(f *testing.F) {
	for _, schema := range []string{
		`{"type":"string","minLength":1,"maxLength":3,"default":"ab"}`, `{"type":"string","default":"a\nb\u202e"}`, `{"type":"string","default":" "}`,
		`{"type":"integer","minimum":-1e2,"maximum":9007199254740993,"default":3.0}`, `{"type":"boolean","default":true}`,
		`{"type":"string","oneOf":[{"const":"1","title":"2"},{"const":"2","title":"\u001b[2J"}]}`,
		`{"type":"array","items":{"type":"string","enum":["a,b","none"]},"minItems":1,"maxItems":1,"default":["none"]}`,
	} {
		f.Add(`{"message":"m","requestedSchema":{"type":"object","properties":{"x":`+schema+`,"y":`+schema+`},"required":["x"]}}`, "ab1 \x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b", uint8(40), uint8(12))
	}
	keys := []string{"tab", "enter", "up", "down", "ctrl+s", "backspace", "pgup", "pgdown", "esc", "ctrl+d", "shift+tab", "home", "end", "ctrl+u"}
	f.Fuzz(func(t *testing.T, params, typed string, w, h uint8) {
		asked, err := form.Parse(jsontext.Value(params))
		if err != nil || len(typed) > 200 {
			return
		}
		m := New(asked, Styles{}).From(typed, params).SetSize(int(w), int(h))
		frame(t, m)
		for _, r := range typed {
			if int(r) < len(keys) {
				m = does(t, m, "keys "+keys[r])
			} else if r < 0x7f && r > ' ' {
				m, _ = m.Update(press(string(r)))
			} else {
				m, _ = m.Update(tea.PasteMsg{Content: string(r)})
			}
			if safe.OneLine(string(r)) == string(r) { // the cursor takes marks apart, which is the person's own doing
				frame(t, m)
			}
		}
		if r, done := m.Result(); done && r.Action == Accept {
			answers := map[string]jsontext.Value{}
			if err := collect(r.Content, answers); err != nil {
				t.Fatal(err)
			}
			if _, err := asked.Content(answers); err != nil {
				t.Errorf("%s does not fit: %v", r.Content, err)
			}
		}
	})
}

func collect(object jsontext.Value, into map[string]jsontext.Value) error {
	for f, err := range jsonrpc.Members(object) {
		if err != nil {
			return err
		}
		into[f.Name] = f.Value
	}
	return nil
}
