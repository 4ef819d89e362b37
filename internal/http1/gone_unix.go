//go:build unix && !linux

package http1

import (
	"time"

	"golang.org/x/sys/unix"
)

// callerGone reports whether the other end has closed its side of the connection, without reading from it. It does not see
// an end behind bytes that were not read yet.
func callerGone(fd uintptr) bool {
	var b [1]byte
	n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return err == nil && n == 0 || err == unix.ECONNRESET
}

// unread reports whether the other end has closed its side. How long ago its bytes have come is not known on these systems.
func unread(fd uintptr) (ago time.Duration, gone bool) { return 0, callerGone(fd) }
