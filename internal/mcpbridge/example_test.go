package mcpbridge_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcpbridge"
)

func ExampleConnect() {
	_, err := mcpbridge.Connect(context.Background(), mcpbridge.Server{Command: "no-such-dir/npx", Args: []string{"-y", "some-server"}}, nil)
	if e, ok := errors.AsType[*parley.Error](err); ok {
		fmt.Println(e)
		fmt.Println(e.Hint)
	}
	// Output:
	// unavailable: the command no-such-dir/npx was not found
	// install Node.js, which brings it, or write its full path
}

func ExampleSupervisor() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := mcpbridge.NewSupervisor(mcpbridge.Server{Command: "no-such-dir/server"}, &mcpbridge.SupervisorOptions{
		OnState: func(s mcpbridge.State) {
			fmt.Println(s.Phase)
			if s.Phase == mcpbridge.Failed {
				cancel() // or wait for s.RetryIn to pass
			}
		},
	})
	s.Run(ctx)
	// Output:
	// starting
	// failed
	// stopped
}
