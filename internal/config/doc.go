// Package config reads and checks parley.yaml, the one file that says what a
// gateway serves (section 15 of the contract).
//
//	listen: 127.0.0.1:7717
//	journal: {path: parley.db, sync: normal}
//	spaces:
//	  demo:
//	    participants:
//	      you:   {token: "${env:YOU_TOKEN}", capabilities: ["mcp/*", "chat"]}
//	      agent: {token: "${file:agent.token}", capabilities: ["mcp/proposal:*", "chat"]}
//	    mcp_servers:
//	      files: {command: parley, args: [tools, files, ./workspace]}
//
// [Load] reads a file, [Parse] reads bytes. What comes back is complete: every
// key that was not written has its default, every reference to a secret is
// resolved, every path stands on its own. docs/configuration.md describes the
// keys.
//
// [Import] reads the MCP servers that other programs are configured with. It puts
// them into our words, and the same reader checks them; [Fragment] writes them as
// parley.yaml has them.
//
// # Guarantees
//
// A configuration with five mistakes is refused with five problems, each with
// its line, its column and, where there is something to do about it, what; see
// [Error]. The one exception is text that is not YAML at all: the first such
// place ends the reading.
//
// A key that would have no effect is a mistake like any other.
//
// No token and no value of an environment variable or header appears in an
// error, a warning, or any print or log of a [Config]: tokens are kept as
// [TokenHash], the others as [Secret]. Errors therefore quote keys, never lines
// of the file.
//
// Nor does one appear in a [Fragment]: what is not plainly harmless is left out.
//
// Input is bounded: 1 MiB of text, 64 levels, and 16 MiB of what aliases and
// merge keys make of it; 32 MiB of an import, of which 100,000 values may be about
// servers.
//
// # Concurrency
//
// Load and Parse may be called from any goroutine. A Config is plain data that
// nobody changes after it was returned, but for ListenOn and AddTo; share it freely
// after these.
package config
