// Package runlog keeps on disk what the runs of tools have done so far, so that
// a run goes on after its process was killed.
//
//	runs, err := runlog.Open("/var/lib/counter/runs")
//	…
//	defer runs.Close()
//	log, err := runs.Create("run 7f2e", runlog.Record{Kind: "before", Data: arguments})
//	…
//	err = log.Append(runlog.Record{Kind: "asked", Data: question}) // on disk when it returns
//
// And in the next process:
//
//	log, records, err := runs.Load("run 7f2e") // fs.ErrNotExist where there is none
//
// # The files
//
// A run is a file, named by the SHA-256 of the run's name: names come from
// callers, and are no paths. A line of it is a record: the CRC-32C of its JSON
// in eight hexadecimal digits, a space, the JSON. The first line is the
// version of the format and the run's name.
//
//	5638dca7 {"version":1,"name":"run 7f2e"}
//	17836859 {"kind":"before","data":{"path":"a.py"}}
//
// Files are readable by their owner only, and there is no descriptor open for
// a run that waits.
//
// # Guarantees
//
// A record whose [Log.Append] returned nil is there after a crash of the process,
// and of the machine as far as its disk keeps what it says. One whose Append failed
// or did not return may be there or not, and is there whole if it is.
// Records come back in the order of their appends, with the same bytes except
// for white space between the parts of their JSON.
//
// A crash in the middle of an append leaves a last line without its end. [Dir.Load] cuts
// it off: nobody was told that it is kept. Every other thing that does not
// fit, down to one changed byte, is a [*DamageError], and the file is left as it
// is: a record that is lost in silence could be the one that says
// that something must not be done again.
//
// Nothing that a file holds makes a reader take more than a few times [MaxRun] of memory.
//
// # Concurrency
//
// One process at a time has a folder, and one [Log] a run. All methods may be
// called from several goroutines; those that append to one run at the same
// time share a write and a sync. The package starts no goroutines.
package runlog
