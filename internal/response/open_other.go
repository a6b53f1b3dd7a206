//go:build !unix

package response

// openNonblock is nothing where folders hold no named pipes.
const openNonblock = 0
