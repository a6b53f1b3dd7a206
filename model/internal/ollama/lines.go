package ollama

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley/model/internal/provider"
)

// maxLine is how long a line of a stream may be, in bytes: less than the client has
// room for, since at a longer one it ends without a word.
const maxLine = 7 << 20

// lines is a transport for one request. It keeps each line of the response until
// it was read, for the client loses digits of numbers, and does not say whether an
// error is the endpoint's own.
type lines struct {
	next   http.RoundTripper
	base   *url.URL
	config provider.Config

	kept [][]byte // read by the client from the connection, and not yet by us
	line []byte   // that has no end yet
	err  error    // with which the connection ended
}

// RoundTrip implements [http.RoundTripper]. Responses that are no stream are errors.
func (l *lines) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL, r.Host = l.base.JoinPath(r.URL.Path), ""
	r.Header.Del("Authorization")
	if l.config.Key != "" {
		r.Header.Set("Authorization", "Bearer "+l.config.Key)
	}
	resp, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if err := l.refused(resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	resp.Body = &linesBody{resp.Body, l}
	return resp, nil
}

func (l *lines) refused(resp *http.Response) error {
	if resp.StatusCode >= 400 {
		said, err := io.ReadAll(resp.Body)
		if err != nil && len(said) == 0 {
			return err
		}
		message, _ := words(said)
		return l.config.Refused(resp.StatusCode, resp.Header, message)
	}
	if resp.StatusCode >= 300 {
		return l.config.Refused(resp.StatusCode, resp.Header, "the endpoint is elsewhere, and redirects are not followed: correct its URL")
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if !strings.HasSuffix(kind, "json") {
		return l.config.Garble("expected lines of JSON, got %q", kind)
	}
	return nil
}

// words are the message of an error as the endpoint writes it, and its status if
// it has one there; or all of it where it writes otherwise.
func words(document []byte) (message string, status int) {
	var read struct {
		Error  string `json:"error"`
		Status int    `json:"status"`
	}
	if err := json.Unmarshal(document, &read); err != nil || read.Error == "" {
		return string(document), 0
	}
	return read.Error, read.Status
}

// taken is the next line, which the client has just read. It is cut where the
// connection ended before the line did.
func (l *lines) taken() (line []byte, cut bool) {
	if len(l.kept) == 0 {
		return l.line, true
	}
	line, l.kept = l.kept[0], l.kept[1:]
	return line, false
}

// broken is why there are no more lines.
func (l *lines) broken() error {
	if l.err == nil || errors.Is(l.err, io.EOF) {
		return fmt.Errorf("the stream broke off: %w", io.ErrUnexpectedEOF)
	}
	if _, ok := errors.AsType[*provider.Error](l.err); ok {
		return l.err
	}
	return fmt.Errorf("the stream broke off: %w", l.err)
}

// linesBody is a response as the client reads it.
type linesBody struct {
	io.ReadCloser
	lines *lines
}

// Read implements [io.Reader].
func (b *linesBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	l := b.lines
	for rest := p[:n]; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if len(l.line)+len(line) > maxLine {
			l.err = l.config.Garble("a line of the stream is longer than %d MiB", maxLine>>20)
			return 0, l.err
		}
		if l.line = append(l.line, line...); ended {
			l.kept, l.line = append(l.kept, l.line), nil
		}
		rest = after
	}
	if err != nil {
		l.err = err
	}
	return n, err
}
