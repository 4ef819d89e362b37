//go:build linux || darwin || freebsd

package disk

import "syscall"

// space returns the bytes that a user without privileges can still write, and all that there are.
func space(path string) (free, total uint64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, 0, err
	}
	size := uint64(s.Bsize)
	return uint64(max(0, int64(s.Bavail))) * size, s.Blocks * size, nil
}
