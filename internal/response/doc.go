// Package response is the envelope in which tools answer (section 12 of the
// contract), and the configuration that says how much of it is sent.
//
// An [Answer] is everything there is to tell of one call. A [Shape] chooses: it
// is what a configuration says for one tool and one tier.
//
//	shape := source.Config().Shape("security_scan", response.Pro)
//	body := shape.Append(nil, &response.Answer{
//		Tool: "security_scan", Version: "3.3.0", Tier: response.Pro,
//		Duration: 27 * time.Millisecond,
//		Data:     jsontext.Value(`{"risk_level":"high","vulnerabilities":[]}`),
//	})
//	// minimal: {"data":{"risk_level":"high","vulnerabilities":[]}}
//
// A [Config] is read from response_config.json by [Parse], and [Schema] is the
// JSON Schema of that file. A [Source] finds the file, and takes notice when it
// changes, appears or goes away. docs/response.md says what each key does.
//
// # Guarantees
//
// What Append makes is one JSON object without duplicate members, whatever the
// answer holds: data that is not JSON becomes an internal_error. Data loses
// members that the configuration excludes; nothing is ever added to it, and
// nothing in it changes its order or its value. What is told on success (data),
// of an error (error, upgrade_hints) and because a client asked for it
// (request_id) cannot be configured away. An internal_error says what caused it
// in the debug profile only.
//
// # Concurrency
//
// A Config and its Shapes never change, and serve any number of goroutines. So
// does a Source, which has no goroutine of its own: it looks at the files when
// it is asked for the configuration, ten times a second at most.
package response
