//go:build unix

package tcp_test

import (
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir/transport"
)

// leaveSocket makes the file of a listener that is gone.
func leaveSocket(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
}

func TestOneOfManyTakesOverAnAbandonedSocket(t *testing.T) {
	for range 50 { // without the lock, some rounds have two winners
		at := unixAddress(t)
		leaveSocket(t, strings.TrimPrefix(at, "unix://"))
		listeners := make(chan transport.Listener, 8)
		var group sync.WaitGroup
		for range cap(listeners) {
			group.Go(func() {
				l, err := transport.Listen(t.Context(), at, transport.Config{})
				if err == nil {
					listeners <- l
				} else if !errors.Is(err, syscall.EADDRINUSE) {
					t.Errorf("listen: %v", err)
				}
			})
		}
		group.Wait()
		close(listeners)
		if len(listeners) != 1 {
			t.Errorf("%d listeners on one path", len(listeners))
		}
		for l := range listeners {
			l.Close()
		}
	}
}

func TestAFileThatIsNoSocketIsLeftAlone(t *testing.T) {
	at := unixAddress(t)
	path := strings.TrimPrefix(at, "unix://")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := transport.Listen(t.Context(), at, transport.Config{}); err == nil {
		l.Close()
		t.Error("listening in place of a file went well")
	} else if !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("the error does not tell why: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "precious" {
		t.Errorf("the file now holds %q", got)
	}
}

func TestTheSocketIsForThisUserAndGoesWithItsListener(t *testing.T) {
	at := unixAddress(t)
	path := strings.TrimPrefix(at, "unix://")
	l, err := transport.Listen(t.Context(), at, transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the socket has the mode %v, want 0600", mode)
	}
	l.Close()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after close the file is still there (%v)", err)
	}
}

func TestPathsWithOddCharactersSurviveTheirURL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b%?#é")
	l, err := transport.Listen(t.Context(), (&url.URL{Scheme: "unix", Path: path}).String(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the socket is elsewhere: %v", err)
	}
	conn, err := transport.Dial(t.Context(), l.Addr(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestAbstractSockets(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has them")
	}
	name := strings.ReplaceAll(t.TempDir(), "/", "-")
	for _, at := range []string{"unix:@" + name, "unix://@" + name} {
		l, err := transport.Listen(t.Context(), at, transport.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := transport.Listen(t.Context(), at, transport.Config{}); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("listening on %s twice gave %v, want EADDRINUSE", at, err)
		}
		conn, err := transport.Dial(t.Context(), l.Addr(), transport.Config{})
		if err != nil {
			t.Fatalf("dial %s: %v", l.Addr(), err)
		}
		conn.Close()
		l.Close()
	}
}

func TestUnixAddressesThatAreRefused(t *testing.T) {
	long := "/" + strings.Repeat("x", 200)
	for _, test := range []struct{ address, want string }{
		{"unix://" + long, "at most"},
		{"unix:@" + long, "at most"},
		{"unix://run/x.sock", "three slashes"},
		{"unix:x.sock", "no absolute path"},
		{"unix:@", "no absolute path"},
		{"unix://", "no absolute path"},
		{"unix:///run/x%00y", "zero byte"},
		{"unix:///run/x?mode=0666", "is not unix:///path"},
		{"unix://someone@/run/x", "has a host"},
	} {
		l, err := transport.Listen(t.Context(), test.address, transport.Config{})
		if err == nil {
			l.Close()
			t.Errorf("%s: no error", test.address)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error %q does not say %q", test.address, err, test.want)
		}
		if _, err := transport.Dial(t.Context(), test.address, transport.Config{}); err == nil {
			t.Errorf("%s: no error from Dial", test.address)
		}
	}
}

func TestAMissingDirectoryIsNamed(t *testing.T) {
	at := "unix://" + filepath.Join(t.TempDir(), "none", "s")
	_, err := transport.Listen(t.Context(), at, transport.Config{})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "none") {
		t.Errorf("got %v", err)
	}
}
