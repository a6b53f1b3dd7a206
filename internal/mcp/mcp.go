package mcp

import "slices"

// Modern is the stateless version of the protocol; versions below it begin with
// an initialize and keep sessions.
const Modern = "2026-07-28"

// Versions are the protocol versions that are spoken on both sides, newest
// first.
var Versions = []string{Modern, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// LegacyVersions are those with sessions, newest first.
var LegacyVersions = Versions[1:]

// IsLegacy reports whether a version is one of those with sessions.
func IsLegacy(version string) bool { return slices.Contains(LegacyVersions, version) }

// Headers of Streamable HTTP.
const (
	SessionHeader = "Mcp-Session-Id"
	VersionHeader = "Mcp-Protocol-Version"
	MethodHeader  = "Mcp-Method"
	NameHeader    = "Mcp-Name"
	ParamPrefix   = "Mcp-Param-"
)

// Keys of _meta, in requests and results of 2026-07-28.
const (
	MetaVersion            = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaServerInfo         = "io.modelcontextprotocol/serverInfo"
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"
	MetaSubscriptionID     = "io.modelcontextprotocol/subscriptionId"
	MetaProgressToken      = "progressToken"
)

// Keys of _meta that Parley adds.
const (
	MetaEnvelope = "parley/envelope" // of a result: the id of the request's envelope
	MetaProposal = "parley/proposal" // of a result: the id of the proposal that was approved, or waits
	MetaAmended  = "parley/amended"  // of a result: who changed the call before it was made, and what was sent
	MetaOrigin   = "parley/origin"   // of what a list holds: the participant that offers it
	MetaApproval = "parley/approval" // of what a list holds: "required" or "possible"
)

// JSON-RPC error codes of MCP.
const (
	CodeResourceNotFound   int64 = -32002
	CodeHeaderMismatch     int64 = -32020
	CodeMissingCapability  int64 = -32021
	CodeUnsupportedVersion int64 = -32022
	CodeURLElicitation     int64 = -32042
)

// InputRequired is the resultType of a result that asks for something before
// the call can go on.
const InputRequired = "input_required"
