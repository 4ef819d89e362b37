package brokers

import (
	"fmt"
	"syscall"
	"testing"
)

// left is the number of bytes that can still be written.
func left(t testing.TB, dir string) int {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	return int(s.Bavail) * int(s.Bsize)
}

// mountMemory mounts a tmpfs, until the end of the test. Whatever is open there then keeps it for as long as it is open.
func mountMemory(t testing.TB, dir string, megabytes int) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0777", megabytes)); err != nil {
		return err
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return nil
}
