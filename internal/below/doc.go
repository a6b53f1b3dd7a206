// Package below holds what everything needs that serves the files below one
// folder by paths which somebody else writes: the form of such a path, and what
// may be told of a refusal.
//
//	c, problem := below.Clean("notes//today.md")  // "notes/today.md", below.Fine
//	_, problem = below.Clean("../secret")         // below.Outside
//
// That nothing outside is touched is the work of [os.Root], which the caller
// goes through; a path is cleaned so that each file has one name. The words and
// codes of refusals are the caller's, too.
//
// # Guarantees
//
// Clean never looks at the disk. What Cause and Quote return repeats no path of
// this machine, and no more of the caller's than was asked for.
//
// # Concurrency
//
// All functions may be called from any goroutine.
package below
