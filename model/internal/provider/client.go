package provider

import (
	"errors"
	"io"
	"net/http"
)

const (
	// MaxReply is how much of a reply is taken, in bytes: text and the input of
	// calls together.
	MaxReply = 8 << 20
	// maxStream is how long a streamed response may be, in bytes. Around each
	// piece of a reply stands much more than the piece.
	maxStream = 1 << 30
	// maxFailure is how much is read of a response that is an error, in bytes.
	maxFailure = 64 << 10
)

// Client is what an adapter connects with. It follows no redirects, since some
// keys stand in headers that would go along to another host, and it bounds
// responses.
func (c Config) Client() *http.Client {
	client := new(http.Client)
	if c.HTTPClient != nil {
		*client = *c.HTTPClient
	}
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	client.Transport = bounded{client.Transport}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Jar = nil
	return client
}

// bounded bounds the responses of a transport.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		resp.Body = &bodyUpTo{resp.Body, maxStream}
	} else {
		resp.Body = cutBody{io.LimitReader(resp.Body, maxFailure), resp.Body}
	}
	return resp, nil
}

// cutBody is the beginning of a response.
type cutBody struct {
	io.Reader
	io.Closer
}

// bodyUpTo is a response that fails where it is too long.
type bodyUpTo struct {
	io.ReadCloser
	left int64
}

func (b *bodyUpTo) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &Error{Kind: Garbled, Message: "the response does not end", Err: errTooLong}
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

var errTooLong = errors.New("the response is too long")
