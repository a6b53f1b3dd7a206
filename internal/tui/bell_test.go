package tui

import (
	"fmt"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/store"
)

// What newly waits for us rings once: a proposal on which we may decide, a question that
// is put to us, and nothing else.
func TestBell(t *testing.T) {
	proposal := func(id, from string) string {
		return fmt.Sprintf(`{"id":%q,"from":%q,"to":["files"],"kind":"mcp/proposal:tools/call:x","payload":{"method":"tools/call","params":{"name":"x"}}}`, id, from)
	}
	question := func(id, to string) string {
		return fmt.Sprintf(`{"id":%q,"from":"files","to":[%q],"kind":"mcp/request:elicitation/create","payload":{"id":"q","method":"elicitation/create","params":{"message":"?"}}}`, id, to)
	}
	for name, c := range map[string]struct {
		happens []string
		want    int
	}{
		"proposals":           {[]string{proposal("p1", "agent"), proposal("p2", "agent")}, 2},
		"a question":          {[]string{question("q1", "you")}, 1},
		"for somebody else":   {[]string{question("q1", "boss")}, 0},
		"my own":              {[]string{proposal("p1", "you")}, 0},
		"what is said":        {[]string{`{"id":"c","from":"agent","kind":"chat","payload":{"text":"hello"}}`}, 0},
		"what I may not do":   {[]string{"may chat", proposal("p1", "agent")}, 0},
		"what I may reject":   {[]string{"may mcp/reject:*", proposal("p1", "agent")}, 1},
		"a flood":             {[]string{"quick", proposal("p1", "agent"), proposal("p2", "agent"), question("q1", "you")}, 1},
		"without being asked": {[]string{"off", proposal("p1", "agent"), question("q1", "you")}, 0},
	} {
		p := newPlayed(t, 80, 24)
		p.m.bell.on = true
		pause := time.Minute
		for _, what := range c.happens {
			switch what {
			case "may chat":
				p.room.may = parley.Capabilities{parley.MustCapability("chat")}
			case "may mcp/reject:*":
				p.room.may = parley.Capabilities{parley.MustCapability("mcp/reject:*")}
			case "quick":
				pause = time.Second / 2
			case "off":
				p.m.bell.on = false
			default:
				p.happens(what)
				p.now = p.now.Add(pause)
			}
		}
		if p.rung != c.want {
			t.Errorf("%s: it rang %d times, want %d", name, p.rung, c.want)
		}
	}
}

// What is decided as soon as it comes rings nothing, and neither does what was there at
// the start or is listed again after the connection was lost.
func TestBellIsQuiet(t *testing.T) {
	p := newPlayed(t, 80, 24)
	p.m.bell = bell{on: true, after: 1}
	p.m.began = 1
	p.happens(`{"id":"old","from":"agent","to":["files"],"kind":"mcp/proposal:tools/call:x","payload":{"method":"tools/call","params":{"name":"x"}}}`)
	p.room.waiting = []*store.Waiting{{ID: "old", Seq: 1, From: "agent", Kind: "mcp/proposal:tools/call:x", Method: "tools/call", Title: "x"}}
	e := p.room.add(p.decode(`{"id":"asked","from":"files","to":["you"],"kind":"mcp/request:elicitation/create","payload":{"id":"q","method":"elicitation/create","params":{"message":"?"}}}`))
	p.room.asked = append(p.room.asked, e)
	p.update(Link{Phase: client.Waiting})
	p.update(Link{Phase: client.Connected})
	if len(p.m.forms) != 1 || len(p.m.store.Queue()) != 1 || p.rung != 0 {
		t.Errorf("%d forms, %d proposals, and it rang %d times", len(p.m.forms), len(p.m.store.Queue()), p.rung)
	}
	p.update(Arrived{
		{Envelope: p.room.add(p.decode(`{"id":"new","from":"agent","to":["files"],"kind":"mcp/proposal:tools/call:x","payload":{"method":"tools/call","params":{"name":"x"}}}`))},
		{Envelope: p.room.add(p.decode(`{"id":"w","from":"agent","to":["files"],"kind":"mcp/withdraw:tools/call:x","correlation_id":"new","payload":{}}`))},
	})
	if p.rung != 0 {
		t.Errorf("it rang %d times for what is over", p.rung)
	}
	again := Arrived{{Envelope: p.room.add(p.decode(`{"id":"again","from":"agent","to":["files"],"kind":"mcp/proposal:tools/call:x","payload":{"method":"tools/call","params":{"name":"x"}}}`))}}
	for range 2 {
		p.update(again)
		p.now = p.now.Add(time.Minute)
	}
	if p.rung != 1 {
		t.Errorf("it rang %d times for what came twice", p.rung)
	}
}

// A record that began anew is old as far as it goes.
func TestBellAfterTheRecordBeganAnew(t *testing.T) {
	p := newPlayed(t, 80, 24)
	p.m.bell.on = true
	p.room.upTo = 1
	p.act("gap", "other")
	proposal := `{"id":"p%d","from":"agent","to":["files"],"kind":"mcp/proposal:tools/call:x","payload":{"method":"tools/call","params":{"name":"x"}}}`
	if p.happens(fmt.Sprintf(proposal, 1)); p.rung != 0 {
		t.Errorf("it rang %d times for what was there", p.rung)
	}
	if p.happens(fmt.Sprintf(proposal, 2)); p.rung != 1 {
		t.Errorf("it rang %d times", p.rung)
	}
}
