// Package unprivileged runs a test that is about missing permission, also
// where the tests run as root, who has them all.
//
//	func TestMissingPermission(t *testing.T) {
//		if unprivileged.Run(t) {
//			return // it ran, as somebody else
//		}
//		…
//	}
//
// # Concurrency
//
// Run may be called from any test.
package unprivileged
