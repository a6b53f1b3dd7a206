package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"
)

// fakeEndpoint is a program that scripts start: fake-endpoint URLFILE KEYFILE is
// an endpoint of chat completions. What it does is for the model's name to say.
func fakeEndpoint() {
	key, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	e := endpoint{key: strings.TrimSpace(string(key))}
	if err := writeURL(os.Args[1], "http://"+listener.Addr().String()); err != nil {
		panic(err)
	}
	panic(http.Serve(listener, e))
}

type endpoint struct{ key string }

func (e endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []any  `json:"messages"`
	}
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &asked); err != nil || r.URL.Path != "/v1/chat/completions" || !asked.Stream || len(asked.Messages) == 0 {
		http.Error(w, "this is no chat: "+string(body), http.StatusBadRequest)
		return
	}
	if shown := r.Header.Get("Authorization"); shown != "Bearer "+e.key || asked.Model == "denied" {
		fmt.Printf("%s: refused\n", asked.Model)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s","type":"invalid_request_error","code":"invalid_api_key"}}`, e.key)
		return
	}
	fmt.Printf("%s: asked\n", asked.Model)
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(choices, rest string) {
		fmt.Fprintf(w, "data: {\"id\":\"c-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":%q,\"choices\":[%s]%s}\n\n", asked.Model+"-1", choices, rest)
		w.(http.Flusher).Flush()
	}
	chunk(`{"index":0,"delta":{"role":"assistant","content":"It is "},"finish_reason":null}`, "")
	if asked.Model == "slow" {
		<-r.Context().Done()
		fmt.Println("slow: hung up")
		return
	}
	chunk(`{"index":0,"delta":{"content":"Tuesday."},"finish_reason":null}`, "")
	chunk(`{"index":0,"delta":{},"finish_reason":"stop"}`, "")
	chunk(``, `,"usage":{"prompt_tokens":11,"completion_tokens":4,"total_tokens":15}`)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// nowhere FILE wants that what is in a file is in no other file below the
// script's folder.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nowhere FILE")
	}
	secret := bytes.TrimSpace([]byte(ts.ReadFile(args[0])))
	files := 0
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path == ts.MkAbs(args[0]) {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, secret) {
			ts.Fatalf("what is in %s is also in %s", args[0], path)
		}
		files++
		return err
	}))
	if len(secret) == 0 || files == 0 {
		ts.Fatalf("there is nothing to look for, or nowhere to look")
	}
}
