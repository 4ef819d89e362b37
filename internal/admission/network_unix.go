//go:build unix

package admission

import "syscall"

func readByte(fd uintptr, into []byte) bool {
	n, err := syscall.Read(int(fd), into)
	return n == 1 && err == nil
}
