// Package mcp is the vocabulary of the Model Context Protocol that both halves
// of Parley's MCP share: the bridge, which makes a server a participant, and the
// front, which makes a space a server. It speaks of 2025-11-25 and 2026-07-28.
package mcp
