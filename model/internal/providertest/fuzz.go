package providertest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// sections are all of one name in the cases of a folder.
func sections(f *testing.F, folder, name string) (found [][]byte) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("there are no cases in %s: %v", folder, err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if file.Name == name {
				found = append(found, file.Data)
			}
		}
	}
	return found
}

// FuzzReplies has an endpoint answer anything. There is a reply that everybody can
// read, or an error of the kind that was promised.
func FuzzReplies(f *testing.F, make func(provider.Config) (provider.Provider, error), kind string, asked *sampling.Request) {
	for _, section := range sections(f, "testdata", "response") {
		if r, err := readResponse(section); err == nil && r.Status == http.StatusOK {
			f.Add(r.Body)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		response := Response{Status: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: body}
		p, err := make(provider.Config{Model: "model-1", HTTPClient: offline(nil, response)})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := p.Ask(t.Context(), asked, nil)
		if err != nil {
			if _, ok := errors.AsType[*provider.Error](err); !ok {
				t.Errorf("the error is of the type %T: %v", err, err)
			}
			return
		}
		data, err := reply.MarshalJSON()
		if err == nil {
			_, err = sampling.ReadResult(data)
		}
		if err != nil {
			t.Errorf("nobody can read the reply: %v\n%s", err, data)
		}
	})
}

// FuzzRequests asks anything. The endpoint takes it, or it is refused before it is
// sent.
func FuzzRequests(f *testing.F, make func(provider.Config) (provider.Provider, error), check Check, response Response) {
	for _, section := range sections(f, "testdata", "request.json") {
		f.Add([]byte(section))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		asked, err := sampling.ReadRequest(data)
		if err != nil {
			return
		}
		p, err := make(provider.Config{Model: "model-1", URL: "http://127.0.0.1:1", Key: Key, HTTPClient: offline(check, response)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Ask(t.Context(), asked, nil)
		if failed, ok := errors.AsType[*provider.Error](err); err != nil && (!ok || failed.Kind != provider.Invalid) {
			t.Error(err)
		}
	})
}

// offline is a client without a network, which gets one response. A request that check
// refuses gets none.
func offline(check Check, response Response) *http.Client {
	return &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if check != nil {
			got := httptest.NewRequest(r.Method, r.URL.RequestURI(), nil)
			got.Host, got.Header = r.URL.Host, r.Header
			if err := check(got, body); err != nil {
				return nil, err
			}
		}
		return &http.Response{StatusCode: response.Status, Header: response.Header, Body: io.NopCloser(bytes.NewReader(response.Body))}, nil
	})}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
