// Package codetools are the tools of parley-code: each is a method of [Project]
// with a typed argument and a typed answer, in a file of its own.
//
//	p, err := codetools.Open("./project", codetools.Options{})
//	server, err := tool.NewServer(tool.Options{Name: "parley-code"})
//	p.Register(server)
//	err = server.Run(ctx)
//
// # Guarantees
//
// Nothing outside the project's folder is read or written; see package source.
// Every answer is bounded. Errors are *[tool.Error], and none repeats what a
// file says.
//
// # Concurrency
//
// All tools may run side by side. At most as many files are parsed at once as
// there are processors, so that many calls take their turn instead of all
// memory; one turn is never that of a file above 128 KiB.
package codetools
