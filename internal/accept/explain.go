package accept

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"
)

// Explain adds to an error of Accept what helps, where it says that the process or the system has run out of something. It returns others,
// and nil, as they are.
func Explain(err error) error {
	var helps string
	switch numberOf(err) {
	case syscall.EMFILE:
		helps = "this process may have " + strconv.FormatUint(openFiles(), 10) +
			" files and connections open; raise that: LimitNOFILE= of systemd, --ulimit nofile= of a container, ulimit -n of a shell"
	case syscall.ENFILE:
		helps = "all processes of this system together have as many files and connections open as they may; raise that: fs.file-max of sysctl"
	case syscall.ENOBUFS, syscall.ENOMEM:
		helps = "the system has no memory for another connection"
	default:
		return err
	}
	return fmt.Errorf("%w: %s", err, helps)
}

// Passing reports whether Accept may succeed again in a moment: the process or the system has run out of something, or the peer
// has left already.
func Passing(err error) bool { return numberOf(err) != 0 }

var numbers = [...]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED}

// numberOf returns the one of numbers that the error is, 0 for none. (errors.As would make a small program 26 KB larger.)
func numberOf(err error) syscall.Errno {
	for _, n := range numbers {
		if errors.Is(err, n) {
			return n
		}
	}
	return 0
}
