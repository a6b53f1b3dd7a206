package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley"
)

const (
	bodyTime = 30 * time.Second // in which a request's body has to be there
	bodyMost = 256 << 10        // bytes of what is no envelope
)

// boundBody gives up a request's body that comes too slowly, so that it holds
// nothing of ours, whoever reads it: a body that nobody asks for is read by the
// server, to be able to use the connection again.
func boundBody(w http.ResponseWriter, r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // tests write into memory
	}
}

// readBody reads at most so many bytes of a request's body, see boundBody.
func readBody(w http.ResponseWriter, body io.Reader, most int) ([]byte, error) {
	data, err := readUpTo(body, nil, most)
	if err != nil {
		return nil, bodyError(err)
	}
	if len(data) < most {
		bodyIsRead(w)
	}
	return data, nil
}

// skipBody reads over what is left of a body, at most so many bytes, and passes
// it to a hash.
func skipBody(w http.ResponseWriter, body io.Reader, h io.Writer, most int64) (int64, error) {
	n, err := io.CopyN(h, body, most)
	switch {
	case errors.Is(err, io.EOF):
		bodyIsRead(w)
	case err != nil:
		return n, bodyError(err)
	}
	return n, nil
}

// bodyIsRead ends the bound on it: from here on the server itself reads, to
// learn whether the client is still there, and a deadline would look as if it
// were not.
func bodyIsRead(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

func bodyError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return withStatus(http.StatusRequestTimeout,
			parley.Errorf(parley.InvalidArgument, "the body did not come within %v", bodyTime))
	}
	return parley.Errorf(parley.InvalidArgument, "the body could not be read to its end")
}

// decodeBody reads a JSON object into the fields of v. Without a body they stay
// as they are.
func decodeBody(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := readBody(w, r.Body, bodyMost+1)
	if err != nil || len(body) == 0 {
		return err
	}
	if len(body) > bodyMost {
		return parley.Errorf(parley.EnvelopeTooLarge, "the body has more than %d bytes", bodyMost)
	}
	if err := json.Unmarshal(body, v, json.RejectUnknownMembers(true)); err != nil {
		return bodyMistake(err)
	}
	return nil
}

// bodyMistake says where a body is wrong, and never repeats what stands there:
// it may be a token.
func bodyMistake(err error) error {
	if told, ok := errors.AsType[*parley.Error](err); ok {
		return told
	}
	e, ok := errors.AsType[*json.SemanticError](err)
	if !ok || e.JSONPointer == "" {
		return parley.Errorf(parley.InvalidArgument, "the body is not one JSON object")
	}
	where := fmt.Sprintf("%.80q", e.JSONPointer)
	if errors.Is(e.Err, json.ErrUnknownName) {
		return parley.Errorf(parley.InvalidArgument, "the body has a member %s that this call does not know", where)
	}
	return parley.Errorf(parley.InvalidArgument, "the body has something of another type at %s", where)
}
