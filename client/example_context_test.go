package client_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/parleyhq/parley/client"
)

func ExampleRoom_Context() {
	url, stop := demo()
	defer stop()
	room := join(url, "agent", client.Options{})
	defer room.Close()

	if err := decide(context.Background(), room); err != nil {
		log.Fatal(err)
	}
	for e, err := range client.Envelopes(room.Envelopes(context.Background())) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s in %s: %s\n", e.Kind, e.Context.Type, e.Payload)
		if e.Kind == "conclusion" {
			break
		}
	}
	// Output:
	// reflection in reasoning: {"thought":"Starting security analysis"}
	// reflection in workflow: {"thought":"Deeper analysis needed"}
	// conclusion in reasoning: {"decision":"Deny the operation"}
}

// decide is a line of reasoning, with another inside.
func decide(ctx context.Context, room *client.Room) error {
	ctx, thinking := room.Context(ctx, "reasoning", client.ContextMetadata(map[string]string{"trigger": "security-analysis"}))
	if _, err := thinking.Think(ctx, "Starting security analysis"); err != nil {
		return err
	}
	// This one is a child, since ctx carries the first.
	_, deeper := room.Context(ctx, "workflow")
	if _, err := deeper.Think(ctx, "Deeper analysis needed"); err != nil {
		return err
	}
	if err := thinking.SetMetadata(map[string]any{"confidence": 0.95}); err != nil {
		return err
	}
	_, err := thinking.Conclude(ctx, map[string]string{"decision": "Deny the operation"})
	return err
}

func ExampleEnvelopes() {
	url, stop := demo()
	defer stop()
	room := join(url, "agent", client.Options{})
	defer room.Close()
	ctx := context.Background()
	if _, err := room.Chat(ctx, "hello"); err != nil {
		log.Fatal(err)
	}
	if err := decide(ctx, room); err != nil {
		log.Fatal(err)
	}

	show := func(what string, envelopes client.Envelopes) {
		fmt.Print(what, ":")
		for e, err := range envelopes {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Print(" #", e.Seq)
		}
		fmt.Println()
	}
	all := room.API().History(ctx, nil)
	show("everything", all)
	show("main only", all.MainOnly())
	show("with reasoning", all.OfType("reasoning"))
	show("conclusions", all.Conclusions())
	// Output:
	// everything: #1 #2 #3 #4
	// main only: #1
	// with reasoning: #1 #2 #4
	// conclusions: #4
}

func ExampleTranscript() {
	url, stop := recorded(
		`{"id":"a","seq":4,"from":"agent","kind":"chat","payload":{"text":"It would overwrite two files."}}`,
		`{"id":"b","seq":3,"from":"you","kind":"chat","payload":{"text":"Is that safe?"}}`,
		`{"id":"c","seq":2,"from":"agent","kind":"reflection","context":{"id":"reason-789","type":"reasoning"},"payload":{"thought":"Starting security analysis"}}`,
		`{"id":"d","seq":1,"from":"you","kind":"chat","payload":{"text":"Please write the report."}}`,
	)
	defer stop()
	api, err := client.NewAPI(url, &client.Options{Space: "demo"})
	if err != nil {
		log.Fatal(err)
	}

	told, err := client.Transcript(context.Background(), api, &client.TranscriptOptions{
		Me:     "agent",
		Tokens: 2_000,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, message := range told.Messages {
		for _, block := range message.Content {
			fmt.Printf("%s: %s\n", message.Role, block.Text)
		}
	}
	// Output:
	// user: #1 you (chat): Please write the report.
	// assistant: (reflection) Starting security analysis
	// user: #3 you (chat): Is that safe?
	// assistant: It would overwrite two files.
}

// recorded is a gateway that has envelopes on record, here the newest first.
func recorded(envelopes ...string) (url string, stop func()) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(envelopes, ","))
	}))
	return server.URL, server.Close
}
