// Package conformance puts Parley between parts that are not ours: the
// conformance suite of MCP and the server that the Go SDK brings for it, and the
// inspector of MCP and the servers of npm. What it runs is fetched by
// scripts/fetch-test-deps; scripts/conformance runs it by itself.
package conformance
