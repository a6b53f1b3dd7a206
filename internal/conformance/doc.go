// Package conformance puts Parley between parts that are not ours: the
// conformance suite of MCP, the server that the Go SDK brings for it and one that
// is written with package tool, and the inspector of MCP and the servers of npm.
// What it runs is fetched by scripts/fetch-test-deps; scripts/conformance runs it
// by itself.
package conformance
