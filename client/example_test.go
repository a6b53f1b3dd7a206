package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// demo is a gateway with a space called demo, in which a token is the name of
// its participant.
func demo() (url string, stop func()) {
	g := newGateway(nil)
	server := httptest.NewServer(g.server.Handler)
	return server.URL, func() { g.close(); server.Close() }
}

// join is client.Dial for examples that are about something else.
func join(url, name string, opts client.Options) *client.Room {
	opts.Token, opts.Space = name, "demo"
	room, err := client.Dial(context.Background(), url, &opts)
	if err != nil {
		log.Fatal(err)
	}
	return room
}

func ExampleDial() {
	url, stop := demo()
	defer stop()

	room, err := client.Dial(context.Background(), url, &client.Options{
		Token: "you",
		Space: "demo",
		OnState: func(s client.State) {
			if s.Phase == client.Waiting {
				log.Printf("the connection is lost (%v), trying again in %v", s.Err, s.RetryIn)
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer room.Close()

	fmt.Println("I am", room.ID(), "in", room.Welcome().Space.Name)
	// Output: I am you in demo
}

func ExampleRoom_Chat() {
	url, stop := demo()
	defer stop()
	room := join(url, "you", client.Options{})
	defer room.Close()

	thread := client.NewContext("reasoning", nil)
	receipt, err := room.Chat(context.Background(), "What shall we do?", client.To("agent"), client.InContext(thread))
	fmt.Println(receipt.Seq, err)
	// Output: 1 <nil>
}

func ExampleRoom_Send() {
	url, stop := demo()
	defer stop()
	room := join(url, "you", client.Options{})
	defer room.Close()

	// A kind of one's own needs no more than an envelope.
	_, err := room.Send(context.Background(), &parley.Envelope{
		Kind:    "acme/build-status",
		Payload: []byte(`{"commit":"4f2a","state":"green"}`),
	})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleRoom_Envelopes() {
	url, stop := demo()
	defer stop()
	room := join(url, "you", client.Options{History: 100})
	defer room.Close()
	for _, text := range []string{"one", "two", "three"} {
		if _, err := room.Chat(context.Background(), text); err != nil {
			log.Fatal(err)
		}
	}

	for e, err := range room.Envelopes(context.Background()) {
		var gap *client.Gap
		if errors.As(err, &gap) {
			fmt.Println("missed something:", gap)
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("#%d %s: %s\n", e.Seq, e.From, e.Payload)
		if e.Seq == 3 {
			break
		}
	}
	// Output:
	// #1 you: {"text":"one"}
	// #2 you: {"text":"two"}
	// #3 you: {"text":"three"}
}

func ExampleRoom_Request() {
	url, stop := demo()
	defer stop()
	files := join(url, "files", client.Options{Exclusive: true, Handler: readFile})
	defer files.Close()
	you := join(url, "you", client.Options{})
	defer you.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reply, err := you.Request(ctx, "files", "tools/call", map[string]any{
		"name":      "read_file",
		"arguments": map[string]any{"path": "a.txt"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", reply.Result)

	_, err = you.Request(ctx, "files", "tools/list", nil)
	fmt.Println(err)
	// Output:
	// {"content":[{"text":"contents of a.txt","type":"text"}]}
	// method not found: tools/list (JSON-RPC error -32601)
}

// readFile is a handler for a single tool.
func readFile(ctx context.Context, req *client.Request) (any, error) {
	if req.Kind.Method != "tools/call" || req.Kind.Subject != "read_file" {
		return nil, client.MethodNotFound(req.Kind.Method)
	}
	var params struct {
		Arguments struct {
			Path string `json:"path"`
		} `json:"arguments"`
	}
	if err := req.Decode(&params); err != nil {
		return nil, err
	}
	return map[string]any{"content": []any{
		map[string]any{"type": "text", "text": "contents of " + params.Arguments.Path},
	}}, nil
}

func ExampleRoom_Propose() {
	url, stop := demo()
	defer stop()
	files := join(url, "files", client.Options{Handler: func(context.Context, *client.Request) (any, error) {
		return map[string]any{"written": true}, nil
	}})
	defer files.Close()
	you, agent := join(url, "you", client.Options{}), join(url, "agent", client.Options{})
	defer you.Close()
	defer agent.Close()

	// The agent may not write, so it proposes to.
	proposal, err := agent.Propose(context.Background(), "files", "tools/call", map[string]any{
		"name":      "write_file",
		"arguments": map[string]any{"path": "report.md", "content": "…"},
	}, client.Reason("the report is due"))
	if err != nil {
		log.Fatal(err)
	}

	// A human who may approves what they see.
	for e, err := range you.Envelopes(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		if parley.SplitKind(e.Kind).Type == parley.TypeProposal {
			if _, err := you.Fulfil(context.Background(), e); err != nil {
				log.Fatal(err)
			}
			break
		}
	}

	outcome, err := proposal.Wait(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s by %s: %s\n", outcome.Decision, outcome.By, outcome.Reply.Result)
	// Output: fulfilled by you: {"written":true}
}

func ExampleRoom_Reject() {
	url, stop := demo()
	defer stop()
	you, agent := join(url, "you", client.Options{}), join(url, "agent", client.Options{})
	defer you.Close()
	defer agent.Close()

	proposal, err := agent.Propose(context.Background(), "files", "tools/call", map[string]any{"name": "delete_all"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := you.Reject(context.Background(), proposal.Envelope, "unsafe", "not without a backup"); err != nil {
		log.Fatal(err)
	}
	outcome, err := proposal.Wait(context.Background())
	fmt.Println(outcome.Decision, outcome.Reason, outcome.Message, err)
	// Output: rejected unsafe not without a backup <nil>
}

func ExampleRoom_Serve() {
	url, stop := demo()
	defer stop()
	room := join(url, "files", client.Options{})
	defer room.Close()

	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("closing time"))
	err := room.Serve(ctx, readFile)
	fmt.Println(err)
	// Output: closing time
}

func ExampleRequest_Progress() {
	url, stop := demo()
	defer stop()
	counter := join(url, "counter", client.Options{Handler: func(ctx context.Context, req *client.Request) (any, error) {
		for i := range 3 {
			if err := req.Progress(ctx, client.Progress{Progress: float64(i + 1), Total: 3}); err != nil {
				return nil, err
			}
		}
		return "done", nil
	}})
	defer counter.Close()
	you := join(url, "you", client.Options{})
	defer you.Close()

	reply, err := you.Request(context.Background(), "counter", "acme/count", nil,
		client.OnProgress(func(p client.Progress) { fmt.Printf("%v of %v\n", p.Progress, p.Total) }))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", reply.Result)
	// Output:
	// 1 of 3
	// 2 of 3
	// 3 of 3
	// "done"
}

func ExampleNewAPI() {
	url, stop := demo()
	defer stop()
	room := join(url, "you", client.Options{})
	if _, err := room.Chat(context.Background(), "for the record", client.WithID("note-1")); err != nil {
		log.Fatal(err)
	}
	room.Close()

	// Reading needs no place in the room.
	api, err := client.NewAPI(url, &client.Options{Token: "you", Space: "demo"})
	if err != nil {
		log.Fatal(err)
	}
	e, err := api.Envelope(context.Background(), "note-1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s said %s\n", e.From, e.Payload)

	for e, err := range api.Envelopes(context.Background(), &client.Query{Kind: "chat"}) {
		fmt.Println(e.Seq, err)
	}
	// Output:
	// you said {"text":"for the record"}
	// 1 <nil>
}

func ExampleNewRequest() {
	e, err := client.NewRequest("files", "resources/read", map[string]any{"uri": "file:///a.txt"}, client.WithID("r-1"))
	fmt.Println(e.Kind, slices.Clone(e.To), string(e.Payload), err)

	// A kind that would contradict the payload is not composed at all.
	_, err = client.NewRequest("files", "tools/call", map[string]any{"arguments": nil})
	fmt.Println(err)
	// Output:
	// mcp/request:resources/read:file:///a.txt [files] {"jsonrpc":"2.0","id":"r-1","method":"resources/read","params":{"uri":"file:///a.txt"}} <nil>
	// kind_mismatch: params.name is not a string
}

func ExampleNewFulfilment() {
	proposal := &parley.Envelope{
		ID: "p-1", Kind: "mcp/proposal:tools/call:write_file", To: []string{"files"},
		Payload: []byte(`{"method":"tools/call","params":{"name":"write_file"},"reason":"due"}`),
	}
	e, err := client.NewFulfilment(proposal, client.WithID("f-1"))
	fmt.Println(e.Kind, e.To, e.Correlation.IDs, err)
	// Output: mcp/request:tools/call:write_file [files] [p-1] <nil>
}
