package gateway

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyhq/parley"
)

// code makes the code of a link for a participant.
func (h *house) code(who string) string {
	h.t.Helper()
	var made struct {
		Code    string
		Expires time.Time
	}
	h.ask(who, "POST", "/v1/session/code", "").ok(http.StatusCreated).into(&made)
	if len(made.Code) != 32 || !made.Expires.Equal(h.clock.now().Add(codeLife)) {
		h.t.Fatalf("%q until %v", made.Code, made.Expires)
	}
	return made.Code
}

// redeem signs in with a code.
func (h *house) redeem(code string, change ...func(*http.Request)) reply {
	h.t.Helper()
	return h.ask("", "POST", "/v1/session", `{"code":"`+code+`"}`, change...)
}

func TestLink(t *testing.T) {
	h := newHouse(t)
	code := h.code("both")

	// A page of elsewhere does not use it up, and neither does whoever looks at
	// what it leads to, as previews do.
	h.redeem(code, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }).refused(403, parley.Unauthorized)
	h.redeem(code, func(r *http.Request) { r.Host = "evil.example" }).refused(403, parley.Unauthorized)
	for _, method := range []string{"GET", "HEAD"} {
		h.ask("", method, "/console/?code="+code, "").ok(200)
		h.ask("", method, "/v1/session?code="+code, "").ok(401)
		h.ask("", method, "/v1/session/code?code="+code, "").ok(405)
	}

	r := h.redeem(code).ok(200)
	if want := `{"spaces":[{"name":"demo","me":"human"},{"name":"lazy","me":"reader"}],"expires":"2026-11-21T00:00:00.000Z"}` + "\n"; r.body != want {
		t.Errorf("got  %swant %s", r.body, want)
	}
	c := r.cookie()
	with := func(r *http.Request) { r.AddCookie(c) }
	h.ask("", "GET", "/v1/spaces/lazy/participants", "", with).ok(200)

	again := h.redeem(code)
	again.refused(401, parley.Unauthorized)
	if again.header.Get("Set-Cookie") != "" {
		t.Error("a used code gets a cookie")
	}
	// A session makes no links, which would outlive it.
	h.ask("", "POST", "/v1/session/code", "", with).refused(401, parley.Unauthorized)
	h.ask("stranger", "POST", "/v1/session/code", "").refused(401, parley.Unauthorized)
	if strings.Contains(h.log.String(), code) || strings.Contains(h.log.String(), c.Value) {
		t.Error("the log has a code or a cookie")
	}
}

func TestLinkExpires(t *testing.T) {
	h := newHouse(t)
	early, late := h.code("human"), h.code("human")
	h.clock.add(codeLife - time.Millisecond)
	h.redeem(early).ok(200)
	h.clock.add(time.Millisecond)
	h.redeem(late).refused(401, parley.Unauthorized)
	if n := h.api.codes.oldest.Len(); n != 0 || len(h.api.codes.byHash) != 0 {
		t.Errorf("%d are kept after their time", n)
	}
}

// Of many who bring the same code at once one is let in.
func TestLinkIsForOne(t *testing.T) {
	h := newHouse(t)
	code := h.code("human")
	var in atomic.Int32
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			r := h.redeem(code, func(r *http.Request) { r.RemoteAddr = fmt.Sprintf("10.0.0.%d:1", i) })
			if r.status == 200 {
				in.Add(1)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 {
		t.Errorf("%d are in", in.Load())
	}
}

// Who makes links without end makes their own worthless, and nobody else's.
func TestManyLinks(t *testing.T) {
	h := newHouse(t)
	others := h.code("agent")
	var mine []string
	for range 10_000 {
		code, _, err := h.SignInCode(tokenOf("human"))
		if err != nil {
			t.Fatal(err)
		}
		mine = append(mine, code)
	}
	if n := len(h.api.codes.byHash); n != mostCodesEach+1 {
		t.Errorf("%d are kept", n)
	}
	h.redeem(mine[len(mine)-mostCodesEach-1]).refused(401, parley.Unauthorized)
	h.redeem(mine[len(mine)-mostCodesEach]).ok(200)
	h.redeem(others).ok(200)

	all := newCodes()
	for i := range 10_000 {
		all.add(TokenHash{byte(i), byte(i >> 8)}, h.clock.now())
	}
	if len(all.byHash) != mostCodes || all.oldest.Len() != mostCodes {
		t.Errorf("%d and %d of all are kept", len(all.byHash), all.oldest.Len())
	}
	if _, _, err := h.SignInCode(tokenOf("stranger")); err == nil {
		t.Error("there is a link for a token that nobody has")
	}
}
