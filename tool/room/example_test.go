package room_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log"
	"net/http/httptest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
	"github.com/parleyhq/parley/tool"
	"github.com/parleyhq/parley/tool/room"
	"github.com/parleyhq/parley/tool/sampling"
)

type who struct {
	Name string `json:"name"`
}

// greet asks a human for a name.
func greet(ctx context.Context, c *tool.Call, _ struct{}) (string, error) {
	asked, err := tool.Elicit[who](ctx, c, sampling.Elicitation[struct{}]{Key: "name", Message: "What is your name?"})
	return "Hello, " + asked.Parsed.Name, err
}

func ExampleServe() {
	url, stop := demo()
	defer stop()

	// The program with the tool.
	server, err := tool.NewServer(tool.Options{Name: "tools", Tier: tool.Community})
	if err != nil {
		log.Fatal(err)
	}
	tool.Add(server, tool.Tool{Name: "greet", Description: "Greet a human.", Needs: []tool.Ability{tool.Elicitation}}, greet)
	ctx, leave := context.WithCancel(context.Background())
	joined, left := make(chan string, 1), make(chan error, 1)
	go func() {
		left <- room.Serve(ctx, server, url, room.Options{
			Token: "tools", Space: "demo",
			Serves: map[string][]string{"elicitation": {"ann"}},
			OnJoin: func(participant string) { joined <- participant },
		})
	}()
	<-joined

	// Others in the room: one who calls it, and one who answers it.
	ann := join(url, "ann", func(context.Context, *client.Request) (any, error) {
		return jsontext.Value(`{"action":"accept","content":{"name":"Ann"}}`), nil
	})
	defer ann.Close()
	you := join(url, "you", nil)
	defer you.Close()
	reply, err := you.Request(context.Background(), "tools", "tools/call", jsontext.Value(`{"name":"greet"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(parley.Member(reply.Result, "structuredContent")))

	leave()
	fmt.Println(<-left)
	// Output:
	// {"data":"Hello, Ann"}
	// <nil>
}

func join(url, name string, h client.Handler) *client.Room {
	r, err := client.Dial(context.Background(), url, &client.Options{Token: name, Space: "demo", Handler: h})
	if err != nil {
		log.Fatal(err)
	}
	return r
}

// demo is a gateway with a space called demo, in which a token is the name of its
// participant.
func demo() (url string, stop func()) {
	one := gateway.Space{Rules: space.Rules{Name: "demo", Participants: map[string]parley.Capabilities{}}, Participants: map[string]gateway.Participant{}}
	for id, patterns := range map[string][]string{
		"you":   {"mcp/*"},
		"ann":   {"mcp/response:*"},
		"tools": {"mcp/response:*", "mcp/request:notifications/*", "mcp/request:elicitation/create"},
	} {
		caps, err := parley.ParseCapabilities(patterns...)
		if err != nil {
			log.Fatal(err)
		}
		one.Rules.Participants[id] = caps
		one.Participants[id] = gateway.Participant{Tokens: []gateway.TokenHash{sha256.Sum256([]byte(id))}}
	}
	record := journal.NewMemory(journal.MemoryOptions{Epoch: "e1"})
	g, err := gateway.New(context.Background(), gateway.Options{Journal: record, Spaces: []gateway.Space{one}})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(g.Handler())
	return server.URL, func() {
		_ = g.Shutdown(context.Background())
		server.Close()
		record.Close()
	}
}
