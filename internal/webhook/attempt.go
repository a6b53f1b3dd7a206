package webhook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// result is how an attempt ended.
type result struct {
	item    *item // run's; untouched by the attempt
	at      time.Time
	took    time.Duration
	status  int           // of the answer; 0 where there was none
	problem string        // why it was not taken; "" where it was
	after   time.Duration // for how long the receiver wants to be left alone
	links   map[string]link
	broken  error // what is to be sent could not be made
	aborted bool  // the desk was closed
}

const (
	mostAnswer  = 4 << 10  // bytes of an answer that are read
	mostHeaders = 16 << 10 // bytes of its headers
	toldAnswer  = 200      // bytes of an answer that are told
)

func newClient(d *Desk, h *Hook) *http.Client {
	u, _ := url.Parse(h.URL) // was checked
	stays := u.Scheme == "http" && !h.AllowHTTP
	dialer := &net.Dialer{ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		if !mayReach(address, stays) {
			return fmt.Errorf("a webhook may not connect to %s", address)
		}
		return nil
	}}
	dial := dialer.DialContext
	if d.dial != nil {
		dial = d.dial
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dial, ForceAttemptHTTP2: true,
			DisableCompression: true, MaxResponseHeaderBytes: mostHeaders,
			MaxIdleConnsPerHost: mostFlights, MaxConnsPerHost: mostFlights + 1, IdleConnTimeout: 30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// attempt sends an event once. copied is what it works on.
func (c *courier) attempt(it *item, copied item) result {
	ctx, cancel := context.WithTimeout(c.desk.sending, cmp.Or(c.hook.Timeout, DefaultTimeout))
	defer cancel()
	r := result{item: it, links: copied.links}
	m, err := c.message(ctx, &copied, &r)
	if err != nil {
		r.broken = err
	} else if body, err := m.body(); err != nil {
		r.at, r.problem = time.Now().UTC(), "it cannot be written as JSON: "+clip(printable(err.Error()), mostReason)
	} else {
		c.post(ctx, copied.ID, body, &r)
	}
	r.aborted = c.desk.sending.Err() != nil && (r.broken != nil || r.problem != "")
	return r
}

// message makes what is sent.
func (c *courier) message(ctx context.Context, it *item, r *result) (*message, error) {
	if it.Data != nil {
		return &message{Type: it.Type, Timestamp: it.At, Data: jsontext.Value(it.Data)}, nil
	}
	m, err := c.hook.describe(ctx, c.reader, it)
	if err != nil {
		return nil, err
	}
	if data, ok := m.Data.(*proposalData); ok && it.Type == ProposalOpened {
		r.links = c.links(ctx, it)
		data.Links = r.links
	}
	return m, nil
}

// links are those with which the webhook's approvers decide on a proposal. They are
// made once for an event, as long as they can be used, and never kept on disk.
func (c *courier) links(ctx context.Context, it *item) map[string]link {
	if c.desk.o.ApprovalLink == nil || len(c.hook.Approvers) == 0 {
		return nil
	}
	links := map[string]link{}
	for _, who := range c.hook.Approvers {
		if old, ok := it.links[who]; ok && old.Expires.After(time.Now()) {
			links[who] = old
			continue
		}
		url, expires, err := c.desk.o.ApprovalLink(ctx, c.hook.Space, it.Proposal, who)
		if err != nil {
			c.log.Info("an event goes without a link to decide with", "id", it.ID, "approver", who, "error", err)
			continue
		}
		links[who] = link{url, expires.UTC()}
	}
	return links
}

// post makes the request, and notes how it was answered.
func (c *courier) post(ctx context.Context, id string, body []byte, r *result) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.hook.URL, bytes.NewReader(body))
	if err != nil {
		r.broken = errors.New("the webhook's URL is no URL") // the error would repeat it
		return
	}
	r.at = time.Now().UTC()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Parley/"+cmp.Or(c.desk.o.Version, "devel"))
	if err := c.signer.sign(req.Header, id, r.at, body); err != nil {
		r.broken = err
		return
	}
	resp, err := c.client.Do(req)
	if err != nil {
		r.took, r.problem = time.Since(r.at), c.because(ctx, err)
		return
	}
	defer resp.Body.Close()
	// An answer that does not end is cut off by ctx; its status stands all the same.
	said, _ := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	r.took, r.status = time.Since(r.at), resp.StatusCode
	if r.status/100 == 2 {
		return
	}
	r.after = retryAfter(resp.Header, time.Now())
	r.problem = fmt.Sprintf("it answered %d %s", r.status, http.StatusText(r.status))
	if r.status/100 == 3 {
		r.problem += "; redirections are not followed"
	} else if text := clip(printable(r.withoutCodes(string(said))), toldAnswer); text != "" {
		r.problem += ": " + text
	}
}

// withoutCodes takes the codes of the event's links out of an answer: receivers repeat
// what they do not understand, and who reads of it need not be whom the links are for.
func (r *result) withoutCodes(said string) string {
	for _, l := range r.links {
		if code := l.URL[strings.LastIndexAny(l.URL, "#=")+1:]; code != "" {
			said = strings.ReplaceAll(said, code, "[redacted]")
		}
	}
	return said
}

// because is why there was no answer, without the URL.
func (c *courier) because(ctx context.Context, err error) string {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("it did not answer within %v", cmp.Or(c.hook.Timeout, DefaultTimeout))
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return clip(printable(err.Error()), mostReason)
}

// printable is text in one line, without what could change how other text is
// shown.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
