package http1

import "golang.org/x/sys/unix"

// callerGone reports whether the other end has closed its side of the connection, without reading from it. Bytes may be
// waiting in front of the end: the poll sees it behind them.
func callerGone(fd uintptr) bool {
	fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(fds[:], 0)
	return err == nil && n == 1 && fds[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
}
