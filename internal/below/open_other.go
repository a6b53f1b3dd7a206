//go:build !unix

package below

// Nonblock is nothing where folders hold no named pipes.
const Nonblock = 0
