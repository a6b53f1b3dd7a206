package tui

import (
	"fmt"
	"strings"
	"testing"
)

// Of arguments that are longer than what is laid out at once Enter shows the rest, and
// sends them once their end was in sight.
func TestLongArgumentsAreShownWhole(t *testing.T) {
	p := newPlayed(t, 80, 24)
	p.happens(fmt.Sprintf(`{"id":"aaaaaaaa-1","from":"agent","to":["files"],"kind":"mcp/proposal:tools/call:x","payload":{"method":"tools/call","params":{"name":"x","arguments":{"a":"%s","force":true}}}}`, strings.Repeat("word ", mostLaidOut/4)))
	p.key("a")
	p.key("enter")
	if frame := p.frame(); strings.Contains(frame, "force") || !strings.Contains(frame, "Enter reads on") {
		t.Errorf("after one Enter the screen is\n%s", frame)
	}
	p.key("end") // of what is laid out
	if frame := p.frame(); !strings.Contains(frame, "more: + shows all") || !strings.Contains(frame, "Enter reads on") {
		t.Errorf("what is cut ends with\n%s", frame)
	}
	p.key("enter")
	if frame := p.frame(); !strings.Contains(frame, "Enter reads on") {
		t.Errorf("once all is laid out the screen is\n%s", frame)
	}
	p.key("end")
	if frame := p.frame(); !strings.Contains(frame, `"force":true}}`) || !strings.Contains(frame, "Enter runs it") || len(p.room.sent) > 0 {
		t.Errorf("%d are sent, and the end is\n%s", len(p.room.sent), frame)
	}
	if p.key("enter"); len(p.room.sent) != 1 {
		t.Errorf("%d are sent", len(p.room.sent))
	}
}

// What retention has dropped cannot be read or approved any more, and is rejected like
// any other.
func TestDroppedProposalIsRejected(t *testing.T) {
	p := newPlayed(t, 100, 24)
	p.act("waits", `{"id":"aaaaaaaa-1","from":"agent","to":["files"],"kind":"mcp/proposal:tools/call:x","payload":{"method":"tools/call","params":{"name":"x","arguments":{"a":1}}}}`)
	dropped := *p.room.envelopes["aaaaaaaa-1"]
	dropped.Payload = nil
	delete(p.room.envelopes, dropped.ID)
	standing := p.room.standing[dropped.ID]
	standing.Dropped = &dropped
	p.room.standing[dropped.ID] = standing
	p.key("a")
	const why = "What it asks for is no longer on record: it can only be rejected"
	if frame := p.frame(); !strings.Contains(frame, "! "+why) || strings.Contains(frame, "Arguments") || strings.Contains(frame, "approve") {
		t.Errorf("the screen is\n%s", frame)
	}
	for _, key := range []string{"a", "m"} {
		p.key(key)
		if frame := p.frame(); !strings.Contains(frame, why+", and proposed again.") {
			t.Errorf("after %s the screen is\n%s", key, frame)
		}
		p.key("enter")
	}
	if len(p.room.sent) > 0 {
		t.Errorf("sent are %q", p.room.sent)
	}
	p.key("r")
	p.key("enter")
	if len(p.room.sent) != 1 || !strings.Contains(p.room.sent[0], "mcp/reject:tools/call:x") {
		t.Errorf("sent are %q", p.room.sent)
	}
}
