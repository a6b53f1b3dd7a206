package providertest

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// A Response is what an endpoint answers one request with.
type Response struct {
	Status int
	After  string // what becomes of the connection: "", "bare", "cut" or "hang"
	Header http.Header
	Body   []byte
}

// script is a case as its file has it.
type script struct {
	path      string
	archive   *txtar.Archive
	request   *sampling.Request
	config    provider.Config
	sent      []jsontext.Value
	responses []Response
}

func load(t *testing.T, path string) *script {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{path: path, archive: txtar.Parse(data)}
	for _, f := range s.archive.Files {
		switch f.Name {
		case "request.json":
			s.request, err = sampling.ReadRequest(f.Data)
		case "config.json":
			err = json.Unmarshal(f.Data, &s.config, json.RejectUnknownMembers(true))
		case "sent.json":
			s.sent = append(s.sent, f.Data)
		case "response":
			var r Response
			r, err = readResponse(f.Data)
			s.responses = append(s.responses, r)
		case "want.json", "error", "progress":
		default:
			err = fmt.Errorf("there is no such section")
		}
		if err != nil {
			t.Fatalf("%s: %s: %v", filepath.Base(path), f.Name, err)
		}
	}
	if s.request == nil {
		t.Fatalf("%s: there is no request", filepath.Base(path))
	}
	return s
}

func readResponse(data []byte) (Response, error) {
	r := bufio.NewReader(bytes.NewReader(data))
	line, err := r.ReadString('\n')
	if err != nil {
		return Response{}, err
	}
	status, after, _ := strings.Cut(strings.TrimSpace(line), " ")
	code, err := strconv.Atoi(status)
	if err != nil {
		return Response{}, err
	}
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return Response{}, err
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(r); err != nil {
		return Response{}, err
	}
	said := body.Bytes()
	switch after {
	case "cut", "bare": // a txtar's sections end with a line's end
		said = bytes.TrimSuffix(said, []byte("\n"))
	}
	return Response{code, after, http.Header(header), said}, nil
}

// section is a section's text, "" where there is none.
func (s *script) section(name string) string {
	for _, f := range s.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// rewrite puts into the file what was got: a section for each of names, none for
// those that are empty.
func (s *script) rewrite(t *testing.T, got map[string]string, sent []string) {
	var kept []txtar.File
	for _, f := range s.archive.Files {
		if _, ok := got[f.Name]; !ok && f.Name != "sent.json" {
			kept = append(kept, f)
		}
	}
	if s.sent != nil {
		for _, body := range sent {
			kept = append(kept, txtar.File{Name: "sent.json", Data: []byte(body)})
		}
	}
	for _, name := range []string{"want.json", "error", "progress"} {
		if got[name] != "" {
			kept = append(kept, txtar.File{Name: name, Data: []byte(got[name])})
		}
	}
	s.archive.Files = kept
	if err := os.WriteFile(s.path, txtar.Format(s.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// pretty lays JSON out for people, in an order of its own, so that it can be
// compared. Numbers keep their digits.
func pretty(v jsontext.Value) (string, error) {
	v = v.Clone()
	if err := v.Format(jsontext.ReorderRawObjects(true), jsontext.WithIndent("  ")); err != nil {
		return "", err
	}
	return string(v) + "\n", nil
}
