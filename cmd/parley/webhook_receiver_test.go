package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// receiveHooks is a program that scripts start: receive-hooks URLFILE SECRETFILE
// STATUSFILE receives webhooks at a URL that stays the same while URLFILE does,
// answers with the status that STATUSFILE says, and prints what came.
func receiveHooks() {
	secret, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	verify, err := standardwebhooks.NewWebhook(strings.TrimSpace(string(secret)))
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	if err := writeURL(os.Args[1], "http://"+listener.Addr().String()); err != nil {
		panic(err)
	}
	panic(http.Serve(listener, hookReceiver{verify, os.Args[3]}))
}

type hookReceiver struct {
	verify *standardwebhooks.Webhook
	status string
}

func (h hookReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if err := h.verify.Verify(body, r.Header); err != nil {
		fmt.Printf("%s: %v\n", body, err)
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	var m struct {
		Type string
		Data struct {
			Proposal struct{ ID, From, Kind string }
			Bridge   string
			Code     string
		}
	}
	text, err := os.ReadFile(h.status)
	if err == nil {
		err = json.Unmarshal(body, &m, json.MatchCaseInsensitiveNames(true))
	}
	status, badStatus := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || badStatus != nil {
		panic(fmt.Sprint(err, badStatus))
	}
	fmt.Printf("%s %s %s%s%s %d\n%s\n", m.Type, r.Header.Get("webhook-id"), m.Data.Proposal.ID, m.Data.Bridge, m.Data.Code, status, body)
	w.WriteHeader(status)
}
