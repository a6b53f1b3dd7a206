// Package lookalike finds names that look like other names: "files" and "fiIes",
// "agent" and "аgent" with a Cyrillic letter, "modern" and "modem".
//
//	like, ok := lookalike.Confusable("fi1es", []string{"files", "boss"}) // "files", true
//
// Two names look alike where their skeletons are the same. A skeleton is what is left
// after Unicode's table of confusable characters (UTS #39), without marks and invisible
// characters, without the case of ASCII letters, with one sign for l, I, 1 and |, one for o and 0,
// one for rn and m, and one for all that separates words. It is for comparing, not
// for reading, and may change with the table.
//
// The table is made by generate.go from confusables.txt, whose version and checksum
// are kept there. The same run writes internal/console/static/base/lookalikes.js, which
// gives the web console the same skeletons.
//
// # Why it is here
//
// Two consoles need the same table, one of them in JavaScript, and a checksum says which
// one it is. go.mau.fi/util/confusable is kept, but the table in it can be had only
// character by character, for Go alone, and with a module of other things; the other Go
// libraries for UTS #39 have had no release since 2019. Normal forms are those of
// golang.org/x/text.
//
// # Concurrency
//
// All functions may be called from any goroutine.
package lookalike

//go:generate go run generate.go
