package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/parleyhq/parley/tool/sampling"
)

// An ErrorKind is why there is no reply.
type ErrorKind string

// The kinds of errors.
const (
	Rate        ErrorKind = "rate"        // 429: too many requests, or tokens
	Overloaded  ErrorKind = "overloaded"  // 503, 529: the endpoint has too much to do
	Unreachable ErrorKind = "unreachable" // no connection, or a stream that was cut
	Denied      ErrorKind = "denied"      // 401, 403: the endpoint does not like the key
	Invalid     ErrorKind = "invalid"     // 400: it does not take the request
	Garbled     ErrorKind = "garbled"     // what came is not what the endpoint's maker says
	Gone        ErrorKind = "gone"        // 404: no such model, or no such API
	Broken      ErrorKind = "broken"      // 500 and the like: the endpoint failed
)

// maxMessage is how long the message of an error may be, in bytes.
const maxMessage = 300

// An Error says why there is no reply.
type Error struct {
	Kind       ErrorKind
	Status     int           // of HTTP; 0 where there was none, or where it was in order
	Message    string        // what the matter is; bounded, printable, and without the key
	RetryAfter time.Duration // after which the endpoint wants to be asked again; 0: it does not say
	Err        error         // what it comes from, where that holds nothing of the endpoint's; or nil
}

// Error is "KIND: MESSAGE (status N)".
func (e *Error) Error() string {
	text := string(e.Kind) + ": " + cmp.Or(e.Message, "the endpoint does not say why")
	if e.Status != 0 {
		text += " (status " + strconv.Itoa(e.Status) + ")"
	}
	return text
}

// Unwrap is what the error comes from.
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same request may get a reply later.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case Rate, Overloaded, Unreachable, Broken:
		return true
	}
	return false
}

// Refused is the error for a response with a status that is none of success.
// message is what the endpoint says about it.
func (c Config) Refused(status int, header http.Header, message string) *Error {
	return &Error{Kind: kindOf(status), Status: status, Message: c.Clean(message), RetryAfter: retryAfter(header, time.Now())}
}

func kindOf(status int) ErrorKind {
	switch status {
	case http.StatusTooManyRequests:
		return Rate
	case http.StatusServiceUnavailable, 529:
		return Overloaded
	case http.StatusUnauthorized, http.StatusForbidden:
		return Denied
	case http.StatusNotFound, http.StatusGone:
		return Gone
	}
	switch {
	case status >= 500:
		return Broken
	case status >= 400:
		return Invalid
	}
	return Garbled // a redirect, for example
}

// longestWait bounds what an endpoint may ask for.
const longestWait = 24 * time.Hour

// retryAfter reads the headers by which endpoints say when to come again.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseInt(h.Get("Retry-After-Ms"), 10, 64); err == nil {
		return min(max(0, time.Duration(min(ms, longestWait.Milliseconds()))*time.Millisecond), longestWait)
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		if !(s > 0) { // not a number, too
			return 0
		}
		return time.Duration(min(s, longestWait.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, at.Sub(now)), longestWait)
	}
	return 0
}

// Failed is the error for a request that got no response, or whose response
// broke off. It is the context's where that has ended.
func (c Config) Failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed
	}
	// Around the cause stand the method and the URL, which may hold secrets.
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	return &Error{Kind: Unreachable, Message: c.Clean(err.Error()), Err: err}
}

// Garble is the error for a response that is not what the endpoint's maker says.
func (c Config) Garble(format string, args ...any) *Error {
	return &Error{Kind: Garbled, Message: c.Clean(fmt.Sprintf(format, args...))}
}

// Refuse is the error for a request that the endpoint cannot take, before it
// was sent.
func (c Config) Refuse(format string, args ...any) *Error {
	return &Error{Kind: Invalid, Message: c.Clean(fmt.Sprintf(format, args...))}
}

// CannotTake is the error for a block that the endpoint has no place for. where
// is such as "messages[2].content[0]", takes what there is a place for.
func (c Config) CannotTake(where string, b sampling.Block, takes string) *Error {
	return c.Refuse("%s is %s, and there this endpoint takes %s", where, described(b), takes)
}

func described(b sampling.Block) string {
	switch b := b.(type) {
	case sampling.Image:
		return "an image (" + b.MIMEType + ")"
	case sampling.Audio:
		return "audio (" + b.MIMEType + ")"
	case sampling.Resource:
		return "a resource that holds bytes (" + b.Contents.MIMEType + ")"
	case nil:
		return "nothing"
	}
	return "a block of type " + b.BlockType()
}

// Clean makes text that comes from elsewhere fit to be shown: one line, without
// control characters and without the key, of at most 300 bytes.
func (c Config) Clean(text string) string {
	const enough = 8 * maxMessage // what follows would not be shown in any case
	text = text[:min(len(text), enough+len(c.Key))]
	if c.Key != "" {
		text = strings.ReplaceAll(text, c.Key, "[key]")
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Join(strings.FieldsFunc(text, unshown), " ")
	return cut(c.hide(text))
}

func unshown(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

// hide takes out words that begin or end as the key does: endpoints like to
// repeat a refused key with stars in its middle.
func (c Config) hide(text string) string {
	const shown = 4
	if len(c.Key) < 2*shown {
		return text
	}
	begin, end := c.Key[:shown], c.Key[len(c.Key)-shown:]
	words := strings.Split(text, " ")
	for i, word := range words {
		word = strings.TrimFunc(word, unicode.IsPunct)
		if len(word) > shown && (strings.HasPrefix(word, begin) || strings.HasSuffix(word, end)) {
			words[i] = "[key]"
		}
	}
	return strings.Join(words, " ")
}

// cut shortens text to maxMessage, between two letters.
func cut(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	const ellipsis = "…"
	end := maxMessage - len(ellipsis)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
