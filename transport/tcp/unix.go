//go:build unix

package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/transport"
)

func init() { transport.Register("unix", local{}) }

// local is unix://.
type local struct{}

// maxPath is the longest path of a socket: what the kernel's sun_path holds, less its final zero (unix(7)).
const maxPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// lockLimit bounds the wait for another program that is starting to listen in the same directory.
const lockLimit = 2 * time.Second

func (local) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	path, err := socketPath(at)
	if err != nil {
		return nil, err
	}
	l := &unixListener{addr: (&url.URL{Scheme: at.Scheme, Path: path}).String(), config: config}
	if strings.HasPrefix(path, "@") {
		l.addr = (&url.URL{Scheme: at.Scheme, Opaque: url.PathEscape(path)}).String()
		l.UnixListener, err = bindUnix(ctx, path)
	} else {
		l.UnixListener, err = bindFile(ctx, path)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w: something listens there already", err)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (local) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	path, err := socketPath(to)
	if err != nil {
		return nil, err
	}
	conn, err := dialUnix(ctx, path, config)
	if errors.Is(err, syscall.ENOENT) {
		// Other transports have one error for an address without a listener, so that callers need to know only that one.
		return nil, fmt.Errorf("%w: %w", err, syscall.ECONNREFUSED)
	}
	if err != nil {
		return nil, err
	}
	return conn, nil
}

func dialUnix(ctx context.Context, path string, config transport.Config) (*net.UnixConn, error) {
	dialer := net.Dialer{Timeout: config.DialLimit()}
	c, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.UnixConn)
	if err := size(conn, config); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// socketPath is the path in a URL, or "@name" for an abstract socket.
func socketPath(u *url.URL) (string, error) {
	path := u.Path
	abstract := false
	switch {
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("the address %q is not unix:///path or unix:@name", u.Redacted())
	case u.Opaque != "": // unix:@name
		name, err := url.PathUnescape(u.Opaque)
		if err != nil {
			return "", fmt.Errorf("the address %q: %w", u.Redacted(), err)
		}
		path, abstract = name, true
	case u.User != nil && u.User.String() == "": // unix://@name, where the name looks like a host
		path, abstract = "@"+u.Host+u.Path, true
	case u.Host != "" || u.User != nil:
		return "", fmt.Errorf("the address %q has a host: a path begins after three slashes, unix:///run/x.sock", u.Redacted())
	}
	switch {
	case abstract && (!strings.HasPrefix(path, "@") || len(path) < 2), !abstract && !filepath.IsAbs(path):
		return "", fmt.Errorf("the address %q has no absolute path and no name: want unix:///run/x.sock or unix:@name", u.Redacted())
	case abstract && runtime.GOOS != "linux":
		return "", fmt.Errorf("the address %q is an abstract socket, which only Linux has: use a path, unix:///run/x.sock", u.Redacted())
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("the address %q has a zero byte in its path", u.Redacted())
	case len(path) > maxPath:
		return "", fmt.Errorf("the path of the socket %q has %d bytes, and the system takes %d at most: use a shorter one, such as below /run or /tmp", path, len(path), maxPath)
	}
	return path, nil
}

// bindFile listens at a path. A file that a dead listener left there is removed, one with a live listener is EADDRINUSE, and
// what is not a socket is left alone.
func bindFile(ctx context.Context, path string) (*net.UnixListener, error) {
	// Between the look and the removal, another program could start to listen; the directory's lock keeps it out.
	unlock, err := lockDirectory(ctx, filepath.Dir(path))
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "unix", Addr: &net.UnixAddr{Name: path, Net: "unix"}, Err: err}
	}
	defer unlock()
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("listen unix %s: there is a file that is not a socket: remove it or take another path: %w", path, syscall.EADDRINUSE)
	}
	if err == nil && abandoned(ctx, path) {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("listen unix %s: cannot remove the socket of a listener that is gone: %w", path, err)
		}
	}
	l, err := bindUnix(ctx, path)
	if err != nil {
		return nil, err
	}
	// Where bindUnix could not set it before the bind, as outside Linux.
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// bindUnix makes the socket's file one that only this user may connect to, before the file exists: on Linux it gets the
// mode of the socket.
func bindUnix(ctx context.Context, path string) (*net.UnixListener, error) {
	settings := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
	}}
	l, err := settings.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return l.(*net.UnixListener), nil
}

// abandoned reports whether no process holds a socket's file any more. It connects with the wrong type of socket: the kernel
// looks for the holder first (ECONNREFUSED without one) and refuses the type then (EPROTOTYPE), so that a listener which
// is running does not see a connection.
func abandoned(ctx context.Context, path string) bool {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unixgram", path)
	if err == nil {
		conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// lockDirectory keeps other programs that use this package from binding a path in the directory. The lock is the
// kernel's (flock(2)), so it leaves no file and ends with the process.
func lockDirectory(ctx context.Context, dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { d.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			d.Close()
			return nil, fmt.Errorf("cannot lock the directory: %w", os.NewSyscallError("flock", err))
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			d.Close()
			return nil, fmt.Errorf("the directory %s is locked by another program: %w", dir, ctx.Err())
		}
	}
}

// unixListener is a bound socket; its file goes when it is closed.
type unixListener struct {
	*net.UnixListener
	addr   string
	config transport.Config
}

func (l *unixListener) Accept() (net.Conn, error) {
	conn, err := l.AcceptUnix()
	if err != nil {
		return nil, err
	}
	if err := size(conn, l.config); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func (l *unixListener) Addr() string { return l.addr }
