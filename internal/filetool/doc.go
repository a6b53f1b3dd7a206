// Package filetool is the file tool that Parley brings along: an MCP server
// that reads, writes, lists, searches, moves and deletes below one folder. It
// is what `parley tools files DIR` serves over stdin and stdout, and it joins
// a space through the same bridge as anybody else's server.
//
//	err := filetool.Run(ctx, "./workspace", nil) // serves until stdin ends
//
// Tool and argument names follow @modelcontextprotocol/server-filesystem, so
// what was written for that server mostly runs here. Paths differ: they are
// relative to the folder, with slashes, on every platform.
//
// # Guarantees
//
// Nothing outside the folder is read or changed, whatever the arguments and
// whatever symbolic links lie in the folder: every access goes through one
// [os.Root]. Links that stay inside are followed for reading; they are never
// written through.
//
// A file that is written has either its old content or its new content, also
// after a crash. Devices, sockets and named pipes are listed, moved and
// deleted but never opened. Every answer is bounded and says when it was cut.
//
// A call that is refused is a result with isError, whose text is
// "code: message" and, on the next line, what to do; see [Codes]. Only an
// unknown tool is a fault of the protocol.
//
// # Concurrency
//
// Calls run side by side. Creating, replacing, moving and deleting take turns
// at the moment when the tree changes, so a move that must not overwrite does
// not overwrite what another call just made. Programs other than this server
// are not held off. Searches, listings and writes stop when their call is
// cancelled; a recursive delete that has begun is finished.
package filetool
