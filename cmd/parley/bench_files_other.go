//go:build !unix

package main

// allowFiles has nothing to do where nothing counts files.
func allowFiles(int) error { return nil }
