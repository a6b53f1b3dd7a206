// Command agent is the example of docs/getting-started.md: it asks for a write that
// it may not make, is refused, proposes it, and waits for somebody to decide.
//
//	go run ./docs/agent --token-file room/agent.token
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:7717", "the gateway")
	tokenFile := flag.String("token-file", "agent.token", "file with the agent's token")
	flag.Parse()
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *url, *tokenFile); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url, tokenFile string) error {
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return err
	}
	room, err := client.Dial(ctx, url, &client.Options{
		Token: strings.TrimSpace(string(token)),
		Space: "demo",
	})
	if err != nil {
		return err
	}
	defer room.Close()

	write := map[string]any{
		"name":      "write_file",
		"arguments": map[string]any{"path": "report.txt", "content": "Sales rose by 4%.\n"},
	}

	// The agent may not write, and is told so.
	_, err = room.Request(ctx, "files", "tools/call", write)
	refusal, refused := errors.AsType[*parley.Error](err)
	if !refused || refusal.Code != parley.CapabilityViolation {
		return fmt.Errorf("expected to be refused, got: %v", err)
	}
	fmt.Printf("refused: %s\n   hint: %s\n", refusal.Message, refusal.Hint)

	// It may propose to.
	proposal, err := room.Propose(ctx, "files", "tools/call", write, client.Reason("the report is due"))
	if err != nil {
		return err
	}
	fmt.Println("proposed:", proposal.ID)

	outcome, err := proposal.Wait(ctx)
	if err != nil {
		return err // nobody decided, or the tool failed
	}
	fmt.Printf("%s by %s\n", outcome.Decision, outcome.By)
	if outcome.Reply != nil {
		fmt.Printf("files answers: %s\n", outcome.Reply.Result)
	}
	return nil
}
