package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// way is one that leads to the server.
type way struct {
	name    string
	npm     string // the package that it is made of, if any
	command func(b *bench, folder string, port int) ([]string, endpoint, error)
}

const directly = "direct, HTTP"

// The ways, in the order of the table. Each runs as its makers' documentation
// has it, on loopback.
var ways = []way{
	{directly, "", func(b *bench, _ string, port int) ([]string, endpoint, error) {
		return []string{b.self, "echo", "-http", at(port)}, endpoint{url: "http://" + at(port) + "/mcp"}, nil
	}},
	{"Parley, server over stdio", "", func(b *bench, folder string, port int) ([]string, endpoint, error) {
		return b.parleyCommand(folder, port, fmt.Sprintf("{command: %q, args: [echo]}", b.self))
	}},
	{"Parley, server over HTTP", "", func(b *bench, folder string, port int) ([]string, endpoint, error) {
		return b.parleyCommand(folder, port, fmt.Sprintf("{url: %q}", b.direct))
	}},
	{"supergateway, server over stdio", "supergateway", func(b *bench, _ string, port int) ([]string, endpoint, error) {
		return []string{"node", "--require", b.loopback, filepath.Join(b.modules, "supergateway/dist/index.js"),
			"--stdio", b.self + " echo", "--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none",
			"--port", fmt.Sprint(port)}, endpoint{url: "http://" + at(port) + "/mcp"}, nil
	}},
	{"mcp-proxy, server over stdio", "mcp-proxy", func(b *bench, _ string, port int) ([]string, endpoint, error) {
		return []string{"node", filepath.Join(b.modules, ".bin/mcp-proxy"), "--host", "127.0.0.1", "--port", fmt.Sprint(port), "--server", "stream",
			"--", b.self, "echo"}, endpoint{url: "http://" + at(port) + "/mcp"}, nil
	}},
}

func at(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

const token = "a-token-of-the-bench"

// parleyCommand writes the configuration of a gateway that is as it comes, but
// for the limits of rate.
func (b *bench) parleyCommand(folder string, port int, server string) ([]string, endpoint, error) {
	conf := fmt.Sprintf(`listen: %s
journal: {path: bench.db, sync: normal}
spaces:
  bench:
    limits: {rate: 1000000, burst: 1000000}
    participants:
      caller: {token: %s, capabilities: ["mcp/*"]}
    mcp_servers:
      echo: %s
`, at(port), token, server)
	path := filepath.Join(folder, "parley.yaml")
	err := os.WriteFile(path, []byte(conf), 0o600)
	return []string{b.parley, "up", "--config", path}, endpoint{"http://" + at(port) + "/mcp/bench/echo", token}, err
}

// missing is why a way cannot be measured, or "".
func (b *bench) missing(w way) string {
	if w.npm == "" {
		return ""
	}
	if reason, err := os.ReadFile(filepath.Join(b.cache, "bin", w.npm+".missing")); err == nil {
		return strings.TrimSpace(string(reason))
	}
	if _, err := os.Stat(filepath.Join(b.modules, w.npm)); err != nil {
		return "it was not fetched"
	}
	return ""
}

func freePort(ctx context.Context) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
