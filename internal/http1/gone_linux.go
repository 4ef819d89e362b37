package http1

import (
	"time"

	"golang.org/x/sys/unix"
)

// callerGone reports whether the other end has closed its side of the connection, without reading from it. Bytes may be
// waiting in front of the end: the poll sees it behind them.
func callerGone(fd uintptr) bool {
	fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(fds[:], 0)
	return err == nil && n == 1 && fds[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
}

// unread returns how long ago the last bytes of the other end have come, and whether that end has closed its side.
func unread(fd uintptr) (ago time.Duration, gone bool) {
	const established = 1 // TCP_ESTABLISHED of netinet/tcp.h
	info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil { // it is not TCP
		return 0, callerGone(fd)
	}
	return time.Duration(info.Last_data_recv) * time.Millisecond, info.State != established
}
