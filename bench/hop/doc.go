// Command hop measures what it costs to reach an MCP server through something
// instead of directly: through Parley, and through gateways from npm. The script
// "bench/compare hop" fetches what it needs and runs it.
//
// All ways lead to the same server, whose one tool returns what it is given, and
// all stand ready throughout. A round sends calls through each way for a moment,
// one after the other, so that whatever else the machine does comes to all of
// them; figures are ratios to the direct way within a round, and what is told of
// them is the median.
package main
