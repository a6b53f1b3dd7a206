//go:build !unix

package filetool

// openNonblock is nothing where folders hold no named pipes.
const openNonblock = 0
