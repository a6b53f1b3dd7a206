package journal

// Disk says how much room a journal's files take, in bytes, and how much there
// is.
type Disk struct {
	Record int64 // the journal itself
	Ahead  int64 // its write-ahead log
	Search int64 // the search index, with a log of its own

	Size uint64 // of the file system that they are on; 0 where it is not known
	Free uint64 // what may still be written there
}
