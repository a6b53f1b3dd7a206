package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// api speaks to a gateway over HTTP (section 10 of the contract).
type api struct {
	address
	http *http.Client
}

// answerWithin is how long a gateway may take to begin its answer. What it then
// streams may take longer.
const answerWithin = 30 * time.Second

func patientClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = answerWithin
	return &http.Client{Transport: t}
}

// maxAnswer is the longest answer that is read into memory, in bytes.
const maxAnswer = 256 << 20

// get reads one JSON value from below the space.
func (a *api) get(ctx context.Context, path string, query url.Values) (jsontext.Value, error) {
	return a.value(a.do(ctx, http.MethodGet, path, query, nil))
}

// post sends one JSON value and reads the answer.
func (a *api) post(ctx context.Context, path string, body []byte) (jsontext.Value, error) {
	return a.value(a.do(ctx, http.MethodPost, path, nil, body))
}

func (a *api) value(resp *http.Response, err error) (jsontext.Value, error) {
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, a.unreachable(err)
	}
	if v := jsontext.Value(b); v.IsValid() {
		return v, nil
	}
	return nil, parley.Errorf(parley.Internal, "%s answered something that is not JSON", a.url).
		WithHint("is there a Parley gateway at this URL?")
}

// do makes one call below the space, or, without a path, one about spaces.
// Whoever calls closes the body; a refusal is an error.
func (a *api) do(ctx context.Context, method, path string, query url.Values, body []byte) (*http.Response, error) {
	u := a.url + "/v1/spaces"
	if path != "" {
		u += "/" + url.PathEscape(a.space) + path
	}
	if len(query) > 0 {
		u += "?" + query.Encode()
	}
	return a.call(ctx, method, u, body)
}

// call makes one call to a URL of the gateway, as do does.
func (a *api) call(ctx context.Context, method, u string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, u, bytes.NewReader(body))
	if err != nil {
		return nil, usagef("%q is not the URL of a gateway: %v", a.url, err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, a.unreachable(err)
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return nil, a.refusal(resp)
	}
	return resp, nil
}

// onlySpace is the one space that the token belongs to.
func (a *api) onlySpace(ctx context.Context) (string, error) {
	list, err := a.get(ctx, "", nil)
	if err != nil {
		return "", err
	}
	var names []string
	for _, item := range items(list) {
		name, _ := parley.MemberString(item, "name")
		names = append(names, name)
	}
	if len(names) == 1 {
		return names[0], nil
	}
	return "", parley.Errorf(parley.InvalidArgument, "your token belongs to %s", plural(len(names), "space", "spaces")).
		WithHint("name one with --space or PARLEY_SPACE: %s", strings.Join(names, ", "))
}

// position is a place in the space's present epoch.
func (a *api) position(ctx context.Context, seq uint64) (*parley.Position, error) {
	head, err := a.get(ctx, "/head", nil)
	if err != nil {
		return nil, err
	}
	epoch, _ := parley.MemberString(head, "epoch")
	return &parley.Position{Epoch: epoch, Seq: seq}, nil
}

// refusal reads the problem that an answer carries.
func (a *api) refusal(resp *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	typ, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if v := jsontext.Value(b); err == nil && strings.HasSuffix(typ, "json") && v.IsValid() {
		if e := parley.DecodeError(v); e.Message != "" {
			return advised(e)
		}
	}
	return parley.Errorf(parley.Internal, "%s answered %s", a.url, resp.Status).
		WithHint("is there a Parley gateway at this URL?")
}

// advised is a refusal with a hint for a command line, where the gateway's is for
// whoever writes a client.
func advised(e *parley.Error) *parley.Error {
	if e.Code == parley.Unauthorized {
		return e.WithHint("check the token that --token-file or PARLEY_TOKEN gives, and --space; parley up wrote those of its demo to %s", demoDir)
	}
	return e
}

// sdk reads what the SDK can read.
func (a *api) sdk() (*client.API, error) {
	return client.NewAPI(a.url, &client.Options{Token: a.token, Space: a.space, HTTPClient: a.http})
}

// problem is what the SDK failed with, in words for a command line.
func (a *api) problem(err error) error {
	if refusal, ok := err.(*parley.Error); ok {
		return advised(refusal)
	}
	if err != nil {
		return a.unreachable(err)
	}
	return nil
}

// unreachable says that nobody answered.
func (a *api) unreachable(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if e, ok := errors.AsType[*parley.Error](err); ok && e.Code != parley.Unavailable {
		if e.Code == parley.NotFound {
			return e.WithHint("check --url, and name the space with --space or PARLEY_SPACE")
		}
		return advised(e)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return parley.Errorf(parley.Unavailable, "no gateway answers at %s", a.url).
			WithHint("start one with parley up, or name another with --url or PARLEY_URL")
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return parley.Errorf(parley.Unavailable, "the gateway at %s does not answer: %v", a.url, err).
		WithHint("check --url or PARLEY_URL")
}

// items ranges over what a list holds.
func items(list jsontext.Value) []jsontext.Value {
	var all []jsontext.Value
	for v := range parley.Elements(parley.Member(list, "items")) {
		all = append(all, v)
	}
	return all
}

func pathOf(format string, ids ...string) string {
	escaped := make([]any, len(ids))
	for i, id := range ids {
		// "." and ".." are ids too, and must not lead to another path.
		escaped[i] = strings.ReplaceAll(url.PathEscape(id), ".", "%2E")
	}
	return fmt.Sprintf(format, escaped...)
}
