// Command epoll serves hello and updateUser with one thread, epoll and nothing above it: the limit of what a server on one
// core can do in Go. A handler that waits would stop all connections.
package main

import (
	"log"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/sabir-go/sabir/lab/http/bare"
)

func main() {
	runtime.LockOSThread()
	listener, err := listen(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	poll, err := unix.EpollCreate1(0)
	if err != nil {
		log.Fatal(err)
	}
	if err := add(poll, listener); err != nil {
		log.Fatal(err)
	}
	s := server{poll: poll, listener: listener, rest: map[int][]byte{}, in: make([]byte, 256<<10)}
	events := make([]unix.EpollEvent, 256)
	for {
		n, err := unix.EpollWait(poll, events, -1)
		if err != nil && err != unix.EINTR {
			log.Fatal(err)
		}
		for _, e := range events[:max(n, 0)] {
			if int(e.Fd) == listener {
				s.accept()
			} else {
				s.read(int(e.Fd))
			}
		}
	}
}

type server struct {
	poll, listener int
	rest           map[int][]byte // of connections with a part of a request
	in, out        []byte
}

func listen(address string) (int, error) {
	at, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return 0, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: at.Port, Addr: [4]byte(at.IP.To4())}); err != nil {
		return 0, err
	}
	return fd, unix.Listen(fd, 4096)
}

func add(poll, fd int) error {
	return unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

func (s *server) accept() {
	for {
		fd, _, err := unix.Accept4(s.listener, unix.SOCK_NONBLOCK)
		if err != nil {
			return // none is left
		}
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		if add(s.poll, fd) != nil {
			unix.Close(fd)
		}
	}
}

func (s *server) read(fd int) {
	kept := copy(s.in, s.rest[fd])
	n, err := unix.Read(fd, s.in[kept:])
	if err == unix.EAGAIN || err == unix.EINTR {
		return
	}
	if n <= 0 {
		s.close(fd)
		return
	}
	text := s.in[:kept+n]
	answers, used, failed := bare.Answer(s.out[:0], text)
	s.out = answers
	if failed != nil || !write(fd, answers) {
		s.close(fd)
		return
	}
	if used < len(text) {
		s.rest[fd] = append(s.rest[fd][:0], text[used:]...)
	} else if kept > 0 {
		delete(s.rest, fd)
	}
}

// write sends all, or says that the caller does not read what it asked for.
func write(fd int, data []byte) bool {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return false
		}
		data = data[n:]
	}
	return true
}

func (s *server) close(fd int) {
	delete(s.rest, fd)
	unix.Close(fd)
}
