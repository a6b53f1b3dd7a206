package provider

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
)

// maxEvent is how long one event of a stream may be, in bytes. The longest that
// is taken in earnest is a reply in one piece, escaped.
const maxEvent = 2 * MaxReply

// Events is [Config.Client] for endpoints that answer with streams of events. It
// lets streams through, and responses that say they are errors. Clients would
// take any other page for a stream that has ended.
func (c Config) Events() *http.Client {
	client := c.Client()
	client.Transport = events{client.Transport, c}
	return client
}

type events struct {
	http.RoundTripper
	c Config
}

func (e events) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := e.RoundTripper.RoundTrip(r)
	if err != nil || resp.StatusCode >= 400 {
		return resp, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode >= 300:
		err = e.c.Refused(resp.StatusCode, resp.Header, "the endpoint is elsewhere, and redirects are not followed: correct its URL")
	case kind != "text/event-stream":
		err = e.c.Garble("expected a stream of events, got %q", kind)
	}
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	resp.Body = &eventBody{ReadCloser: unmarked(resp.Body), c: e.c}
	return resp, nil
}

// mark is the byte order mark, which streams of events may begin with. Clients
// would not know the first line behind it, and lose an event without a word.
const mark = "\uFEFF"

// unmarkedBody is a response without its mark.
type unmarkedBody struct {
	*bufio.Reader
	io.Closer
	begun bool
}

func unmarked(body io.ReadCloser) *unmarkedBody {
	return &unmarkedBody{Reader: bufio.NewReader(body), Closer: body}
}

// Read looks for the mark when it is called first, since nothing may have come
// before.
func (b *unmarkedBody) Read(p []byte) (int, error) {
	if !b.begun {
		b.begun = true
		// Reading on finds out what is wrong with a response that is shorter.
		if head, _ := b.Peek(len(mark)); string(head) == mark {
			_, _ = b.Discard(len(mark))
		}
	}
	return b.Reader.Read(p)
}

// eventBody fails in an event that is too long, since clients hold each in memory
// before they hand it on. Whatever else it fails with is marked as the
// connection's fault: clients' errors do not say whose they are.
type eventBody struct {
	io.ReadCloser
	c     Config
	event int // bytes since the last empty line
	line  int // bytes of this line
}

func (b *eventBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.count(p[:n]) > maxEvent {
		return 0, b.c.Garble("an event of the stream is longer than %d MiB", maxEvent>>20)
	}
	if err != nil && err != io.EOF {
		err = &cutError{err}
	}
	return n, err
}

// count is how long the longest event is of which something is in data.
func (b *eventBody) count(data []byte) (longest int) {
	for len(data) > 0 {
		line, rest, ended := bytes.Cut(data, []byte{'\n'})
		data = rest
		b.event += len(line)
		b.line += len(bytes.TrimRight(line, "\r"))
		longest = max(longest, b.event)
		switch {
		case ended && b.line == 0:
			b.event = 0
		case ended:
			b.line = 0
		}
	}
	return longest
}

// A cutError is about a connection that broke off.
type cutError struct{ err error }

func (e *cutError) Error() string { return "the stream broke off: " + e.err.Error() }

func (e *cutError) Unwrap() error { return e.err }

// Broken is the error for a stream of events that did not come to its end, with
// what its client says of it: nothing, where it just ended.
func (c Config) Broken(ctx context.Context, err error) error {
	if err == nil {
		err = &cutError{io.ErrUnexpectedEOF}
	}
	_, cut := errors.AsType[*cutError](err)
	_, known := errors.AsType[*Error](err)
	if ctx.Err() != nil || cut || known {
		return c.Failed(ctx, err)
	}
	return c.Garble("an event of the stream cannot be read: %v", err)
}
