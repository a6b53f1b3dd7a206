package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func newSendRequest(s *sender) *cobra.Command {
	var call callFlags
	var where contextFlags
	cmd := &cobra.Command{
		Use:   "request TARGET TOOL [key=value…]",
		Short: "Call a tool, and print the result",
		Long: `Call a tool of a participant, or make another request with METHOD --params, wait for
the answer and print it. An answer that says that the call failed is exit code 1.
Ctrl-C cancels the call, if you may send mcp/request:notifications/*. Otherwise the call
goes on, and its answer stands on record: parley tail --history 20 shows it.
What a tool asks of a human meanwhile is answered in parley chat.

An argument is key=text, key=@file for the text of a file, or key:=json for a
number, true, false, a list or an object.`,
		Example: `  parley send request files read_file path=hello.txt
  parley send request code extract_code path=main.go symbol=main context_lines:=3
  parley send request files tools/list`,
		Args: arguments(2, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "" || args[0] == "-" {
				return usagef("a request to nobody is answered by nobody").hint("usage: %s", cmd.UseLine())
			}
			ctx := cmd.Context()
			method, params, err := call.call(s, args[1], args[2:])
			if err != nil {
				return err
			}
			in, err := where.context()
			if err != nil {
				return err
			}
			room, err := s.join(ctx)
			if err != nil {
				return err
			}
			defer leave(room)
			s.noteAbsent(room, args[0])
			reply, err := room.Request(ctx, args[0], method, params, client.InContext(in))
			if err != nil {
				return callError(err)
			}
			return s.printOutcome(reply.Envelope)
		},
	}
	call.add(cmd)
	where.add(cmd)
	return cmd
}

// noteAbsent says that an answer may take its time.
func (s *sender) noteAbsent(room *client.Room, id string) {
	here := room.Welcome().Participants
	if len(here) < room.Welcome().Total {
		return // nobody knows
	}
	if !slices.ContainsFunc(here, func(p client.Participant) bool { return p.ID == id }) {
		s.say("%s is not here now; waiting for its answer, until Ctrl-C", clean(id))
	}
}

// callError gives what the one who was asked says went wrong a code.
func callError(err error) error {
	if rpc, ok := errors.AsType[*client.RPCError](err); ok {
		return parley.Errorf(callFailed, "%s", rpc.Error())
	}
	return err
}
