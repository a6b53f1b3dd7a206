//go:build !race

package conformance

var buildFlags []string
