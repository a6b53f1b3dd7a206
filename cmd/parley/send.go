package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func newSend(t *terminal) *cobra.Command {
	var to target
	cmd := &cobra.Command{
		Use:   "send WHAT",
		Short: "Say, propose, request, approve, reject, grant",
		Long: `Send something into a space. What comes back is its place on record or, where an
answer is waited for, the answer. What the gateway refuses is printed with its
code, and the exit code is 1.

Arguments of tools are written key=text, key:=json or key=@file.`,
		Example: `  parley send chat "good morning"
  parley send propose files write_file path=hello.txt content=Hello
  parley send fulfil 0199a9f3-c1b2`,
		Args: group(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("send what?").hint("%s --help lists what can be sent", cmd.CommandPath())
		},
	}
	to.addFlags(cmd.PersistentFlags())
	s := &sender{t, &to}
	cmd.AddCommand(
		newSendChat(s), newSendPropose(s), newSendRequest(s), newSendFulfil(s), newSendReject(s),
		newSendWithdraw(s), newSendGrant(s), newSendRevoke(s), newSendKick(s), newSendRaw(s),
	)
	return cmd
}

// sender is what all forms of send share.
type sender struct {
	*terminal
	to *target
}

func (s *sender) api(ctx context.Context) (*api, error) { return s.to.open(ctx, s.terminal) }

// post sends one envelope that needs no answer, and prints its place.
func (s *sender) post(ctx context.Context, e *parley.Envelope) error {
	a, err := s.api(ctx)
	if err != nil {
		return err
	}
	receipt, err := a.post(ctx, "/envelopes", e.AppendBody(nil))
	if err != nil {
		return err
	}
	return s.printReceipt(receipt)
}

// printReceipt says where an envelope stands now.
func (s *sender) printReceipt(receipt jsontext.Value) error {
	if s.asJSON() {
		return s.writeJSON(receipt)
	}
	_, err := fmt.Fprintf(s.out, "#%d %s\n", seqOf(receipt), clean(idOf(receipt)))
	return err
}

// join opens a connection for as long as an answer is waited for. Nothing is
// asked for that does not concern it.
func (s *sender) join(ctx context.Context) (*client.Room, error) {
	a, err := s.api(ctx)
	if err != nil {
		return nil, err
	}
	room, err := client.Dial(ctx, a.url, &client.Options{
		Token: a.token, Space: a.space, Routing: client.RoutingDirected, PresenceOff: true,
	})
	if err != nil {
		return nil, a.unreachable(err)
	}
	return room, nil
}

// leave ends a room that join opened, when the gateway has heard what was given up
// by Ctrl-C.
func leave(room *client.Room) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	room.Leave(ctx)
}

// printOutcome prints what came of a call. A call that failed is exit code 1,
// and its words are printed all the same.
func (s *sender) printOutcome(response *parley.Envelope) error {
	o := readOutcome(response.Payload)
	if s.asJSON() {
		wire, err := response.MarshalJSON()
		if err != nil {
			return err
		}
		if err := s.writeJSON(wire); err != nil {
			return err
		}
	} else {
		for _, line := range cleanLines(o.text) {
			fmt.Fprintln(s.out, line)
		}
	}
	if o.failed {
		return errSaid
	}
	return nil
}

// readFile reads a file, or standard input for "-".
func (t *terminal) readFile(path string) ([]byte, error) {
	r := t.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, parley.Errorf(parley.NotFound, "%s cannot be read: %v", path, err)
		}
		defer f.Close()
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, parley.Errorf(parley.NotFound, "%s cannot be read: %v", inputName(path), err)
	}
	if len(b) > maxInput {
		return nil, parley.Errorf(parley.EnvelopeTooLarge, "%s holds more than %d MiB", inputName(path), maxInput>>20).
			WithHint("no gateway takes envelopes of that size; send it in pieces")
	}
	return b, nil
}

// maxInput is the most that is read of a file that is to be sent, in bytes.
const maxInput = 64 << 20

// inputName is what to call a file that may be standard input.
func inputName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// decide posts to one of a proposal's own calls.
func (s *sender) decide(ctx context.Context, name, verb string, body []byte) error {
	a, err := s.api(ctx)
	if err != nil {
		return err
	}
	id, err := findProposal(ctx, a, name)
	if err != nil {
		return err
	}
	receipt, err := a.value(a.do(ctx, http.MethodPost, pathOf("/proposals/%s/"+verb, id), nil, body))
	if err != nil {
		return err
	}
	return s.printReceipt(receipt)
}
