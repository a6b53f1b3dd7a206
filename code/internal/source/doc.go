// Package source reads the files below one folder, and nothing else: it is how
// all tools come to the code that they look at.
//
//	root, err := source.Open("./project")
//	file, err := root.Read(ctx, "pkg/server.go", 4<<20)
//
// # Guarantees
//
// Every access goes through one [os.Root]: whatever the path and whatever
// symbolic links lie in the folder, nothing outside is read. Links that stay
// inside are followed. Devices, sockets and named pipes are never opened.
//
// Errors are *[tool.Error] and name the path as the caller gave it, cut where it
// is long, never a path of this machine or what a file says. A context that
// ended gives its own error.
//
// # Concurrency
//
// All methods may be called from any goroutine.
package source
