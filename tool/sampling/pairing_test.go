package sampling_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/parleyhq/parley/tool/sampling"
)

// history makes messages of a short notation: u is a user's text, a an
// assistant's, and in [] what stands in a message: ?1 is a call with the id 1, !1 its
// result, t a text, _ a blank one, 0 no block.
//
//	u a[t?1?2] u[!2!1] a
func history(short string) (all []sampling.Message) {
	for word := range strings.FieldsSeq(short) {
		m := sampling.Message{Role: map[byte]sampling.Role{'u': sampling.User, 'a': sampling.Assistant, 's': "system"}[word[0]]}
		in := "t"
		if len(word) > 1 {
			in = strings.Trim(word[1:], "[]")
		}
		for i := 0; i < len(in); i++ {
			var b sampling.Block
			switch in[i] {
			case 't':
				b = sampling.Text{Text: "text"}
			case '_':
				b = sampling.Text{Text: " \n"}
			case '?':
				i++
				b = sampling.ToolUse{ID: in[i : i+1], Name: "f"}
			case '!':
				i++
				b = sampling.ToolResult{ToolUseID: in[i : i+1], Content: []sampling.Block{sampling.Text{Text: "done"}}}
			}
			m.Content = append(m.Content, b)
		}
		all = append(all, m)
	}
	return all
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		history string
		fault   sampling.Fault // "": none
		at      string         // message.block
	}{
		{"", "", ""},
		{"u a u a", "", ""},
		{"u u a a", "", ""},
		{"a[?1] u[!1]", "", ""},
		{"u a[t?1?2] u[!2!1] a", "", ""},
		{"u a[?1] u[!1] u a[?2t] u[!2] a[?3] u[!3]", "", ""},

		{"u a[?1]", sampling.Missing, "1.0"},
		{"u a[t?1] u", sampling.Missing, "1.1"},
		{"u a[?1] a", sampling.Missing, "1.0"},
		{"u a[?1?2] u[!2]", sampling.Missing, "1.0"},
		{"u a[?1] a[?2] u[!2]", sampling.Missing, "1.0"},

		{"u[!1] a", sampling.Orphaned, "0.0"},
		{"u a u[!1]", sampling.Orphaned, "2.0"},
		{"u a[?1] u[!1!2]", sampling.Orphaned, "2.1"},

		{"u a[?1] u u[!1]", sampling.Reordered, "3.0"},
		{"u u[!1] a[?1]", sampling.Reordered, "1.0"},
		{"u a[?1?2] u[!1] u[!2]", sampling.Reordered, "3.0"},
		{"u a[?1] a[?2] u[!2!1]", sampling.Reordered, "3.1"},

		{"u a[?1?1] u[!1]", sampling.Duplicate, "1.1"},
		{"u a[?1] u[!1!1]", sampling.Duplicate, "2.1"},
		{"u a[?1] u[!1] u[!1]", sampling.Duplicate, "3.0"},
		{"u a[?1] u[!1] a[?1] u[!1]", sampling.Duplicate, "3.0"},

		{"u a[?1] u[!1t]", sampling.Mixed, "2.1"},
		{"u a[?1] u[t!1]", sampling.Mixed, "2.0"},

		{"u[?1] u[!1]", sampling.WrongRole, "0.0"},
		{"u a[?1] a[!1]", sampling.WrongRole, "2.0"},
		{"s u", sampling.WrongRole, "0.-1"},

		{"u[]", sampling.Empty, "0.-1"},
		{"u a[t_]", sampling.Empty, "1.1"},
		{"u a[0]", sampling.Empty, "1.0"},
	} {
		err := sampling.Check(history(c.history))
		if c.fault == "" {
			if err != nil {
				t.Errorf("%s: %v", c.history, err)
			}
			continue
		}
		e, ok := errors.AsType[*sampling.PairingError](err)
		if !ok || e.Fault != c.fault || fmt.Sprintf("%d.%d", e.Message, e.Block) != c.at {
			t.Errorf("%s: got %v, want %s at %s", c.history, err, c.fault, c.at)
		}
	}
}

func TestCheckWithoutID(t *testing.T) {
	err := sampling.Check([]sampling.Message{{Role: sampling.Assistant, Content: []sampling.Block{sampling.ToolUse{Name: "f"}}}})
	if e, ok := errors.AsType[*sampling.PairingError](err); !ok || e.Fault != sampling.Empty {
		t.Error(err)
	}
}

func TestPairingErrorReads(t *testing.T) {
	for short, want := range map[string]string{
		"u a[t?1] u": `sampling: messages[1].content[1] (id "1"): missing: the tool_use has no tool_result in the next message`,
		"u a[]":      `sampling: messages[1]: empty: nothing is in it`,
	} {
		if err := sampling.Check(history(short)); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", short, err, want)
		}
	}
	if err := (sampling.Request{}).Check(); err == nil {
		t.Error("a request without messages is taken")
	}
}

func TestAppend(t *testing.T) {
	for _, c := range []struct{ history, added, want string }{
		{"", "", ""},
		{"", "u a", "u a"},
		{"u a", "u a[?1] u[!1]", "u a u a[?1] u[!1]"},
		// The results that the history ends with are not added again.
		{"u a[?1?2] u[!1!2]", "u[!2!1] a", "u a[?1?2] u[!1!2] a"},
		{"u a[?1]", "u[!1] a", "u a[?1] u[!1] a"},
	} {
		got := sampling.Append(history(c.history), history(c.added)...)
		if want := history(c.want); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%s + %s = %v, want %s", c.history, c.added, got, c.want)
		}
	}
}

func TestAppendOpens(t *testing.T) {
	got := sampling.Append(nil, history("a[?1] u[!1]")...)
	if len(got) != 3 || got[0].Role != sampling.User || got[0].Text() != sampling.Opening {
		t.Errorf("got %v", got)
	}
}

func TestAppendRenames(t *testing.T) {
	exchange := history("u a[?1] u[!1]")
	all := history("")
	for range 3 {
		all = sampling.Append(all, exchange...)
	}
	if err := sampling.Check(all); err != nil {
		t.Fatal(err)
	}
	if id := all[7].ToolUses()[0].ID; id != "1-3" {
		t.Errorf("the third call is %q", id)
	}
	if id := exchange[1].ToolUses()[0].ID; id != "1" {
		t.Errorf("the exchange has changed: its call is %q", id)
	}
	long := strings.Repeat("x", sampling.MaxName)
	add := []sampling.Message{
		{Role: sampling.Assistant, Content: []sampling.Block{sampling.ToolUse{ID: long, Name: "f"}}},
		sampling.Results(sampling.ToolResult{ToolUseID: long}),
	}
	all = sampling.Append(sampling.Append(all, add...), add...)
	if id := all[len(all)-2].ToolUses()[0].ID; len(id) > sampling.MaxName || id == long {
		t.Errorf("the long id is now %d bytes", len(id))
	}
	if err := sampling.Check(all); err != nil {
		t.Fatal(err)
	}
}

// Two branches of one history do not write over each other.
func TestAppendCopies(t *testing.T) {
	base := append(make([]sampling.Message, 0, 16), history("u a")...)
	one := sampling.Append(base, sampling.UserText("one"))
	two := sampling.Append(base, sampling.UserText("two"))
	if one[2].Text() != "one" || two[2].Text() != "two" || len(base) != 2 {
		t.Errorf("one says %q, two %q", one[2].Text(), two[2].Text())
	}
}
