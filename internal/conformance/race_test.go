//go:build race

package conformance

// buildFlags make a program that has the race detector where the tests have it.
var buildFlags = []string{"-race"}
