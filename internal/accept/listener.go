package accept

import (
	"log/slog"
	"net"
	"sync"
)

// Listener is a listener whose Accept goes on where it may succeed again in a moment, and logs that. It is for servers that would else
// do so themselves, in silence or at each try. The arguments are those of [NewFailures].
func Listener(l net.Listener, log *slog.Logger, others string) net.Listener {
	return &listener{Listener: l, failures: NewFailures(log, l.Addr().String(), others), closed: make(chan struct{})}
}

type listener struct {
	net.Listener
	failures *Failures

	once   sync.Once
	closed chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err == nil {
			l.failures.Accepted()
			return c, nil
		}
		if !Passing(err) {
			return nil, err
		}
		l.failures.Pause(err, l.closed)
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}
