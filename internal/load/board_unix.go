//go:build unix

package load

import (
	"os"
	"syscall"
)

// mapShared maps a file into memory that all who map it share.
func mapShared(f *os.File, size int) (mem []byte, unmap func() error, err error) {
	mem, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return mem, func() error { return syscall.Munmap(mem) }, nil
}
