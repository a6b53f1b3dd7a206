// Package soak runs a gateway for a while with everything on, and looks for
// what it does not give back: memory, goroutines, files.
//
// [Run] starts the real program on a journal of its own, with two spaces: one
// that keeps everything, and one with small limits and a small retention. A
// crew for each space does whatever participants do, the rude ones included.
// What the gateway takes is read from its /metrics:
//
//   - the crews work for the first tenth, and leave: what is taken then is the
//     measure;
//   - they come again for the rest, and samples are taken all along;
//   - they leave again: goroutines, files and memory have to come back to the
//     measure, within the bounds of [bounds];
//   - memory has not gone on growing over the last half.
//
// Besides, nobody was told what cannot be, the gateway's standard error knows
// of no data race, panic or error, it ends in order, the journal verifies, and
// retention has kept the small space small.
//
//	report, err := soak.Run(ctx, soak.Options{Program: "bin/parley", Dir: dir, Duration: time.Minute})
//
// The figures of a process are those of Linux.
//
// # Concurrency
//
// Run starts goroutines and processes, and returns when all of them are gone.
package soak
