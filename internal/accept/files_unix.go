//go:build unix

package accept

import "syscall"

// openFiles returns how many files the process may have open.
func openFiles() uint64 {
	var limit syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) // 0 where the system does not say
	return uint64(limit.Cur)
}
