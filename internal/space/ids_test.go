package space

import (
	"strconv"
	"testing"

	"github.com/parleyhq/parley"
)

// TestIDsInForce sends so much that ids fall out of the window: what still
// means something must not be replaced.
func TestIDsInForce(t *testing.T) {
	p := newPlay(t, "ids in force")
	p.rules.Limits = Limits{Rate: 1e9, Burst: 1 << 30}
	p.start()
	id := ""
	frames := []string{
		`"kind":"mcp/request:tools/list","to":["files"],"payload":{"method":"tools/list"}}`,
		`"kind":"mcp/proposal:tools/list","to":["files"],"payload":{"method":"tools/list"}}`,
		`"kind":"capability/grant","payload":{"recipient":"agent","capabilities":["capability/revoke"]}}`,
		`"kind":"chat"}`,
	}
	send := func(i int) error {
		id = "id" + strconv.Itoa(i)
		e, err := parley.Decode([]byte(`{"id":"`+id+`",`+frames[i]), 0)
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.state.Judge("you", e, p.now)
		if err == nil {
			v.Envelope.Seq = p.state.Seq() + 1
			p.state.Apply(v.Envelope, v.Kind)
		}
		return err
	}
	for i := range frames {
		if err := send(i); err != nil {
			t.Fatal(err)
		}
	}
	for range windowSize {
		e := p.state.system(parley.KindNotice, p.now, nil)
		e.Seq = p.state.Seq() + 1
		p.state.Apply(e, parley.SplitKind(e.Kind))
	}
	for i := range frames {
		if err := send(i); (err == nil) != (i == 3) {
			t.Errorf("%s: %v", frames[i], err)
		}
	}
}
