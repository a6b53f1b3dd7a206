package main

import (
	"bufio"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
)

// newBenchEcho is an MCP server that costs next to nothing, so that a call
// through it shows what gateway and bridge cost.
func newBenchEcho() *cobra.Command {
	return &cobra.Command{
		Use:     "echo",
		Short:   "Serve the tool echo over stdio",
		Example: "  parley join echo --token-file echo.token -- parley bench echo\n  parley bench echo <requests.jsonl",
		Hidden:  true,
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serveEcho(cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// serveEcho answers JSON-RPC requests, one a line, until there are no more.
func serveEcho(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	var answer []byte
	for lines.Scan() {
		request := jsontext.Value(lines.Bytes())
		id := parley.Member(request, "id")
		if id == nil || !request.IsValid() {
			continue // a notification, or nothing that could be answered
		}
		answer = append(append(answer[:0], `{"jsonrpc":"2.0","id":`...), id...)
		answer = append(appendEcho(answer, request), '}', '\n')
		if _, err := out.Write(answer); err != nil {
			return parley.Errorf(parley.Unavailable, "nobody reads the answers: %v", err)
		}
	}
	return lines.Err()
}

// appendEcho appends the result of a request, or its error.
func appendEcho(dst []byte, request jsontext.Value) []byte {
	params := parley.Member(request, "params")
	switch method, _ := parley.MemberString(request, "method"); method {
	case "initialize":
		version, _ := parley.MemberString(params, "protocolVersion")
		return fmt.Appendf(dst, `,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"parley-bench-echo","version":"1"}}`, version)
	case "tools/list":
		return append(dst, `,"result":{"tools":[{"name":"echo","description":"Say it again.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}`...)
	case "tools/call":
		text := parley.Member(parley.Member(params, "arguments"), "text")
		if text.Kind() != '"' {
			return append(dst, `,"error":{"code":-32602,"message":"text has to be a string"}`...)
		}
		return append(append(append(dst, `,"result":{"content":[{"type":"text","text":`...), text...), `}]}`...)
	case "ping":
		return append(dst, `,"result":{}`...)
	}
	return append(dst, `,"error":{"code":-32601,"message":"there is no such method"}`...)
}
