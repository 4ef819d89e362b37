//go:build unix

package web

import (
	"syscall"
	"testing"
)

// openFiles raises how many files this process may have open as far as it may, and returns that.
func openFiles(t *testing.T) int {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = limit.Max
	syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	return int(limit.Cur)
}
