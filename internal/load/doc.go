// Package load makes load for a server that passes messages on, and measures
// what becomes of it: how many arrive, how late, and what that costs the server.
//
// The core knows no protocol. A [Protocol] opens connections, says where one
// message ends and the next begins, and writes messages; everything else is done
// here, in the same way for every server, so that figures can be compared.
//
//	coordinator ── board, a file in shared memory: phase, claims, counts
//	 ├─ worker: receivers …   count messages, some of them take latencies
//	 ├─ worker: receivers …
//	 └─ worker: senders       keep a window full, or a rate
//	server, a process of its own, whose CPU time and memory are looked up
//
// Workers are processes, started by running the program again with arguments
// that lead to [Work]. They get a job on standard input and write what they found
// to standard output; when standard input ends, they end.
//
// # Latency
//
// Each message carries the time at which it was sent, or, at a fixed rate, the
// time at which it should have been sent: a sender that falls behind does not
// hide that. Only sampled receivers look for the time; the others count frames
// by their headers and look at nothing else, so that reading stays cheap.
package load
