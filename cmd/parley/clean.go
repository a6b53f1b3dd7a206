package main

import "github.com/parleyhq/parley/internal/tui/safe"

// What participants say is not to be trusted: an escape sequence could repaint
// what somebody is about to approve, and a change of direction could make it
// read as something else. So nothing reaches a terminal that is not shown as
// itself.

// shown reports whether a terminal shows r as itself, and obeys nothing.
func shown(r rune) bool { return safe.Printable(r) }

// clean is s on one line, with an escape in place of whatever a terminal would
// not show as itself.
func clean(s string) string { return safe.Escaped(s) }

// cleanLines is s line by line, tabs as blanks, and each line clean.
func cleanLines(s string) []string { return safe.EscapedLines(s) }

func isClean(s string) bool { return safe.IsPrintable(s) }
