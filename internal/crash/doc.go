// Package crash kills a gateway again and again, and holds it to what it had
// promised by then (section 9 of the contract).
//
// [Run] starts the real program on a journal of its own, lets participants of
// package client talk through it, ends the process with SIGKILL at random
// moments, some of them before it has even begun to listen, and starts it again.
// What the participants were told goes into a [Ledger]; what is on record, and
// nothing else, decides whether it was true. A [Checker] compares the two:
//
//   - what was acknowledged is on record, where it was said to be;
//   - what was delivered to anybody is on record, byte for byte;
//   - what was refused is not;
//   - seq has no gaps, the hash chain holds, the epoch stays;
//   - what was dropped from the record took no right along and brought none back,
//     and what was ordered to be redacted is;
//   - a proposal ended at most once, as its proposer was told, and was acted on
//     at most once;
//   - whoever resumed by position received exactly what their filter lets
//     through: no hole, no repeat, in order.
//
// The same participants serve the tests of disks that fill and turn read-only, and
// of a backup that is restored.
//
//	report, err := crash.Run(ctx, crash.Options{Program: "bin/parley", Dir: dir, Rounds: 20})
//
// # Concurrency
//
// A Ledger may be used from any goroutine; a Checker belongs to one. Run starts
// goroutines and one process at a time, and returns when all of them are gone.
package crash
