package mcpbridge

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	mcpwords "github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/parleytest"
)

// asking is a server that asks, in the way of its era and byte for byte, what the
// arguments of a call say, and answers the call with what it was answered.
func asking(in io.Reader, out io.Writer, modern bool) {
	lines := newScanner(in)
	var declared jsontext.Value
	for lines.Scan() {
		m := jsontext.Value(strings.Clone(lines.Text()))
		params := parley.Member(m, "params")
		reply := func(rest string) {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", parley.Member(m, "id"), rest)
		}
		switch method, _ := parley.MemberString(m, "method"); {
		case method == "server/discover" && modern:
			reply(`"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
		case method == "server/discover":
			reply(`"error":{"code":-32601,"message":"what?"}`)
		case method == "initialize":
			declared = parley.Member(params, "capabilities")
			reply(`"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"asking","version":"0"}}`)
		case method == "tools/list":
			reply(`"result":{"tools":[]}`)
		case method != "tools/call":
		case !modern:
			reply(fmt.Sprintf(`"result":{"declared":%s,"got":%s}`, declared, askLegacy(lines, out, parley.Member(params, "arguments"))))
		case parley.Member(params, "inputResponses") != nil:
			reply(fmt.Sprintf(`"result":{"declared":%s,"got":%s}`, metaOf(params, mcpwords.MetaClientCapabilities), parley.Member(params, "inputResponses")))
		default:
			reply(fmt.Sprintf(`"result":{"resultType":"input_required","inputRequests":{"q":%s}}`, parley.Member(params, "arguments")))
		}
	}
}

// askLegacy makes one request and returns the answer without what every answer has.
func askLegacy(lines *bufio.Scanner, out io.Writer, question jsontext.Value) jsontext.Value {
	method, _ := parley.MemberString(question, "method")
	fmt.Fprintf(out, `{"jsonrpc":"2.0","id":"q","method":"%s","params":%s}`+"\n", method, parley.Member(question, "params"))
	for lines.Scan() {
		if m := jsontext.Value(lines.Text()); parley.Member(m, "method") == nil {
			return mcpwords.DropMember(mcpwords.DropMember(slices.Clone(m), "jsonrpc"), "id")
		}
	}
	return jsontext.Value(`null`)
}

// TestAsks plays the transcripts in testdata/asks. Each has a call of the
// participant you (its capabilities and context, and whom the space serves with),
// the question that the server asks in it, and what comes of that in both eras.
func TestAsks(t *testing.T) {
	files, err := filepath.Glob("testdata/asks/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no transcripts")
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parts := map[string]jsontext.Value{}
		for _, f := range a.Files {
			parts[f.Name] = jsontext.Value(strings.TrimSpace(string(f.Data)))
		}
		for _, era := range []string{"legacy", "modern"} {
			want, ok := parts[era]
			if !ok {
				want = parts["both"]
			}
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+era, func(t *testing.T) {
				if got := playAsk(t, era, parts["call"], parts["question"]); got != string(want) {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// playAsk is what came of a question, a line for each thing that happened.
func playAsk(t *testing.T, era string, call, question jsontext.Value) string {
	serves := map[string][]string{}
	for what, who := range parley.Members(parley.Member(call, "serves")) {
		serves[what] = []string{string(who[1 : len(who)-1])}
	}
	s := testServer(t, "asking-"+era)
	s.Era = ""
	b := bridgeIn(t, &parleytest.Options{Limits: parleytest.Limits{ContextDepth: 2}}, s, Join{Serves: serves})
	you, boss := b.answering("you"), b.answering("boss")
	var log strings.Builder
	result, err := callAsking(t, you, call, question)
	for who, a := range map[string]*answering{"you": you, "boss": boss} {
		for _, e := range a.heard() {
			fmt.Fprintf(&log, "%s is asked in %s: %s\n", who, orNone(e.Context.Raw()), parley.Member(e.Payload, "params"))
		}
	}
	if rpc, ok := errors.AsType[*client.RPCError](err); ok {
		fmt.Fprintf(&log, "the call fails: %d %s %s", rpc.Code, rpc.Message, orNone(rpc.Data))
		return log.String()
	}
	if err != nil {
		t.Fatal(err)
	}
	if asked := parley.Member(result, "inputRequests"); asked != nil {
		fmt.Fprintf(&log, "you are to answer: %s", asked)
		return log.String()
	}
	fmt.Fprintf(&log, "declared: %s\nthe server gets: %s", parley.Member(result, "declared"), parley.Member(result, "got"))
	return log.String()
}

func callAsking(t *testing.T, you *answering, call, question jsontext.Value) (jsontext.Value, error) {
	params := slices.Concat(jsontext.Value(`{"name":"ask","arguments":`), question, jsontext.Value(`}`))
	if declared := parley.Member(call, "capabilities"); declared != nil {
		params = mcpwords.SetMeta(params, mcpwords.MetaClientCapabilities, declared)
	}
	var opts []client.SendOption
	if raw := parley.Member(call, "context"); raw != nil {
		id, _ := parley.MemberString(raw, "id")
		typ, _ := parley.MemberString(raw, "type")
		parent, _ := parley.MemberString(raw, "parent")
		opts = append(opts, client.InContext(&parley.Context{ID: id, Type: typ, Parent: parent}))
	}
	reply, err := you.Request(t.Context(), "files", "tools/call", params, opts...)
	if err != nil {
		return nil, err
	}
	return reply.Result, nil
}

func orNone(v jsontext.Value) string {
	if v == nil {
		return "none"
	}
	return string(v)
}
