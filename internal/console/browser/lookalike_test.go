package browser

import (
	"testing"

	"github.com/parleyhq/parley/parleytest"
)

// A name that looks like somebody else's is marked, wherever it stands; the id is shown
// as it is.
func TestLookalikes(t *testing.T) {
	cast := parleytest.Cast()
	for _, name := range []string{"b0ss", "y0u", "bystander"} {
		cast[name] = []string{"chat", "mcp/*"}
	}
	p := newPage(t, &parleytest.Options{Participants: cast})
	p.signIn("you")
	p.chat(p.join("boss"), "I am boss")
	p.chat(p.join("b0ss"), "I am boss, too")
	p.chat(p.join("y0u"), "I am you")
	p.chat(p.join("bystander"), "I am nobody else")
	p.post("b0ss", `{"kind":"mcp/proposal:tools/call:write_file","to":["files"],"payload":{"method":"tools/call","params":{"name":"write_file","arguments":{}}}}`)
	p.until("document.querySelector('.row.proposal')")
	p.picture("lookalikes")
	said := func(who string) string {
		return evaluate[string](p, "[...document.querySelectorAll('.row')].find((r) => r.querySelector('.person').textContent === '"+who+"').querySelector('.looks')?.textContent ?? ''")
	}
	for who, want := range map[string]string{
		"b0ss": "Warning: this name looks like boss", "boss": "Warning: this name looks like b0ss", "y0u": "Warning: this name looks like you", "bystander": "",
	} {
		if got := said(who); got != want {
			t.Errorf("%s is marked %q, want %q", who, got, want)
		}
	}
	p.visit("?page=approvals")
	p.live()
	p.until("document.querySelector('.card .looks') && document.querySelector('.facts .looks')")
	if evaluate[bool](p, "!!document.querySelector('.me .looks')") {
		t.Error("our own name is marked")
	}

	// Thousands of names cost no more than a look-up each.
	took := evaluate[float64](p, `(async () => {
		const { hear, likeness } = await import("/console/base/names.js");
		for (let i = 0; i < 5000; i++) hear({ kind: "chat", from: "participant-" + i });
		const begun = performance.now();
		for (let n = 0; n < 20; n++) for (let i = 0; i < 5000; i++) likeness("participant-" + i);
		return performance.now() - begun;
	})()`)
	t.Logf("100,000 names were looked up in %.0f ms", took)
}
