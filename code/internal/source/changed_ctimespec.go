//go:build darwin || freebsd || netbsd

package source

import "syscall"

func changed(s *syscall.Stat_t) int64 { return int64(s.Ctimespec.Sec)*1e9 + int64(s.Ctimespec.Nsec) }
