package soak

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/journal"
)

// do makes an HTTP request about the space.
func (c *crew) do(ctx context.Context, method, who, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+"/v1/spaces/"+c.space+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token(who))
	return c.http.Do(req)
}

// ask makes a request, and judges what is answered. That something is refused
// is in order; a fault of the gateway is not.
func (c *crew) ask(ctx context.Context, method, deed, who, path, body string) {
	began := time.Now()
	resp, err := c.do(ctx, method, who, path, body)
	if err != nil {
		c.answered(ctx, deed, 0, err)
		return
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 500 && ctx.Err() == nil {
		if !c.overtaken(string(answer)) {
			c.tally.fault("%s: %s was answered %d after %v: %.300s", c.space, path, resp.StatusCode, time.Since(began).Round(time.Second), answer)
		}
		return
	}
	c.answered(ctx, deed, resp.StatusCode, err)
}

// answered judges a status.
func (c *crew) answered(ctx context.Context, deed string, status int, err error) {
	switch {
	case ctx.Err() != nil:
	case err != nil:
		c.tally.fault("%s: %s: %v", c.space, deed, err)
	case status >= 500:
		c.tally.fault("%s: %s: answered %d", c.space, deed, status)
	case status >= 400:
		c.tally.did("refused over HTTP")
	default:
		c.tally.did(deed)
	}
}

// look reads what is on record, in every way that there is.
func look(ctx context.Context, c *crew, rnd *rand.Rand) {
	api := c.api("reader")
	for rest(ctx, rnd, 20*c.pace) {
		var last string
		n := 0
		for e, err := range api.Envelopes(ctx, query(rnd)) {
			if !c.judge(ctx, "read", err) {
				break
			}
			last = e.ID
			n++
		}
		c.tally.did("searched")
		if last != "" && rnd.IntN(2) == 0 {
			_, err := api.Chain(ctx, last)
			c.judge(ctx, "chain read", err)
		}
		c.glance(ctx, []string{"/participants", "/head", "/proposals?state=all&limit=20", "/envelopes?limit=zero", "/nothing"}[rnd.IntN(5)])
	}
}

func query(rnd *rand.Rand) *client.Query {
	q := &client.Query{Limit: 1 + rnd.IntN(60), Descending: rnd.IntN(2) == 0}
	switch rnd.IntN(5) {
	case 0, 1:
		q.Text = words[rnd.IntN(len(words))]
	case 2:
		q.Kind = "acme/*"
	case 3:
		q.From = "ann"
	case 4:
		q.Since = time.Now().Add(-time.Second)
	}
	return q
}

func (c *crew) glance(ctx context.Context, path string) {
	c.ask(ctx, http.MethodGet, "looked", "reader", path, "")
}

// export takes the record away and verifies it, or leaves in the middle. What it
// takes grows with the record, so that it pauses for longer and longer.
func export(ctx context.Context, c *crew, rnd *rand.Rand) {
	pause := 20 * c.pace
	for turn := 0; rest(ctx, rnd, pause); turn++ { // in turn, since few of them may have to do
		began := time.Now()
		if turn%3 == 0 {
			c.exportSome(ctx)
		} else {
			c.exportAll(ctx)
		}
		pause = max(pause, 10*time.Since(began))
	}
}

// exportTries is how often an export that does not verify is taken again. A
// redaction that overtakes one may leave the order for it behind the end.
const exportTries = 3

func (c *crew) exportAll(ctx context.Context) {
	for try := 1; ; try++ {
		status, err := c.exportOnce(ctx)
		broken, _ := errors.AsType[*journal.Break](err)
		switch {
		case broken != nil && try < exportTries:
			c.tally.did("export taken again")
			continue
		case c.space == drops && (journal.IsOvertaken(err) || errors.Is(err, io.ErrUnexpectedEOF)):
			c.tally.did("export overtaken by retention")
			return
		}
		c.answered(ctx, "exported", status, err)
		return
	}
}

func (c *crew) exportOnce(ctx context.Context) (status int, err error) {
	resp, err := c.do(ctx, http.MethodGet, "reader", "/journal", "")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = journal.VerifyExport(resp.Body)
	return resp.StatusCode, err
}

func (c *crew) exportSome(ctx context.Context) {
	resp, err := c.do(ctx, http.MethodGet, "reader", "/journal", "")
	if err != nil {
		c.answered(ctx, "export broken off", 0, err)
		return
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 8<<10) // there may be less
	resp.Body.Close()
	c.answered(ctx, "export broken off", resp.StatusCode, nil)
}
