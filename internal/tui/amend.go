package tui

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// amending is a proposal's arguments being changed.
type amending struct {
	page   *editor
	before string         // as they were laid out at first
	params jsontext.Value // what would be sent; nil until it was read
	err    error          // of what was typed
}

// mostEdited is how much can be edited in place, in bytes: an editor of one's own
// takes more.
const mostEdited = 64 << 10

// amendable is what of a proposal can be edited.
func amendable(call parley.Call) (v jsontext.Value, ok bool) {
	if call.Kind.Method == "tools/call" {
		v = parley.Member(call.Params, "arguments")
		if v == nil {
			return jsontext.Value("{}"), true
		}
		return v, true
	}
	return call.Params, call.Params != nil
}

func newAmending(call parley.Call) (*amending, error) {
	v, ok := amendable(call)
	if !ok {
		return nil, parley.Errorf(parley.InvalidArgument, "there are no params that could be changed")
	}
	a := &amending{before: editable(v)}
	a.page = newPage("")
	if len(a.before) <= mostEdited {
		a.page = newPage(a.before)
	} else {
		a.err = parley.Errorf(parley.InvalidArgument, "%s are too long to edit here", size(len(a.before))).WithHint("Ctrl-O opens them in $EDITOR")
	}
	return a, nil
}

// read makes params of what was typed. What is sent is compact, with every digit and
// in the order that was typed.
func (a *amending) read(call parley.Call, text string) error {
	v := jsontext.Value(strings.TrimSpace(text))
	if err := v.Compact(); err != nil {
		return parley.Errorf(parley.InvalidArgument, "this is no JSON: %s", strings.TrimPrefix(err.Error(), "jsontext: ")).WithHint("Esc goes back to the proposal, which stays as it is")
	}
	if call.Kind.Method != "tools/call" {
		a.params = v
		return nil
	}
	if v.Kind() != '{' {
		return parley.Errorf(parley.InvalidArgument, "arguments are an object").WithHint("write {…}")
	}
	a.params = withMember(call.Params, "arguments", v)
	return nil
}

// withMember is an object with another value for one member; the rest keeps its bytes.
func withMember(obj jsontext.Value, name string, v jsontext.Value) jsontext.Value {
	start, end, last := parley.Locate(obj, name)
	var b []byte
	switch {
	case end > 0:
		b = append(b, obj[:start]...)
		b = append(b, v...)
		b = append(b, obj[end:]...)
	case last > 0:
		b = append(b, obj[:last]...)
		b = append(b, ","+quote(name)+":"...)
		b = append(b, v...)
		b = append(b, obj[last:]...)
	default:
		b = append(b, "{"+quote(name)+":"...)
		b = append(b, v...)
		b = append(b, '}')
	}
	return b
}

// compare is the difference between what was proposed and what would be sent.
func (a *amending) compare(width int) []string {
	v := parley.Member(a.params, "arguments")
	if v == nil {
		v = a.params
	}
	var lines []string
	for _, c := range difference(a.before, editable(v)) {
		said, _ := fold(c.line, width-2, 0)
		for _, line := range said {
			line = string(c.sign) + " " + line
			switch c.sign {
			case '+':
				line = good.Render(line)
			case '-':
				line = bad.Render(line)
			default:
				line = dim.Render(line)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func (a *amending) isChanged(call parley.Call) bool {
	before, after := call.Params.Clone(), a.params.Clone()
	if before.Compact() != nil || after.Compact() != nil {
		return true
	}
	return string(before) != string(after)
}

// editedMsg is what came back from an editor of one's own.
type editedMsg struct {
	decision *decision
	text     string
	err      error
}

// outside opens the text in $VISUAL or $EDITOR.
func (d *decision) outside() tea.Cmd {
	words := strings.Fields(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi"))
	text := d.amend.page.Value()
	if text == "" {
		text = d.amend.before
	}
	path, err := scratch(text)
	if err != nil {
		return func() tea.Msg { return editedMsg{decision: d, err: err} }
	}
	return tea.ExecProcess(exec.Command(words[0], append(words[1:], path)...), func(err error) tea.Msg {
		defer os.Remove(path)
		b, readErr := os.ReadFile(path)
		return editedMsg{d, string(b), errors.Join(editorError(words[0], err), readErr)}
	})
}

// scratch is a file that nobody else can read.
func scratch(text string) (string, error) {
	f, err := os.CreateTemp("", "parley-*.json")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text + "\n")
	return f.Name(), errors.Join(err, f.Close())
}

func editorError(name string, err error) error {
	if err == nil {
		return nil
	}
	hint := "what was proposed stays as it is"
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		hint = "set EDITOR to an editor that is there"
	}
	return parley.Errorf(parley.Unavailable, "%s: %v", name, err).WithHint("%s", hint)
}
