package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := schemes.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// sockets connects by tcp:// and returns both ends.
func sockets(t *testing.T, config transport.Config) (dialled, accepted *net.TCPConn) {
	t.Helper()
	l, err := transport.Listen(t.Context(), "tcp://:0", config)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := transport.Dial(t.Context(), l.Addr(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return a.(*net.TCPConn), b.(*net.TCPConn)
}

func TestPlainConnectionsGatherBuffersAndTLSDoesNot(t *testing.T) {
	dialled, accepted := sockets(t, transport.Config{})
	if !transports.Gathers(dialled) || !transports.Gathers(accepted) {
		t.Error("tcp:// does not gather")
	}
	if transports.Gathers(&tlsConn{tls.Client(dialled, &tls.Config{})}) {
		t.Error("tls:// says that it gathers")
	}
}

func TestPlainTCPRefusesATLSConfiguration(t *testing.T) {
	config := transport.Config{TLS: &tls.Config{}}
	_, listenErr := transport.Listen(t.Context(), "tcp://:0", config)
	_, dialErr := transport.Dial(t.Context(), "tcp://:7700", config)
	for _, err := range []error{listenErr, dialErr} {
		if err == nil || !strings.Contains(err.Error(), "use tls://") {
			t.Errorf("got %v", err)
		}
	}
}

func TestListeningWithTLSNeedsACertificate(t *testing.T) {
	if _, err := transport.Listen(t.Context(), "tls://:0", transport.Config{}); err == nil || !strings.Contains(err.Error(), "needs a certificate") {
		t.Errorf("got %v", err)
	}
}

func TestAnUnusableAdvertisedAddressLeavesThePortFree(t *testing.T) {
	l, err := transport.Listen(t.Context(), "tcp://:0", transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr()
	l.Close()
	if _, err := transport.Listen(t.Context(), at, transport.Config{Advertise: "a b"}); err == nil || !strings.Contains(err.Error(), "advertised") {
		t.Fatalf("got %v", err)
	}
	if l, err = transport.Listen(t.Context(), at, transport.Config{Advertise: "shop.example.com"}); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if u := mustParse(t, l.Addr()); u.Hostname() != "shop.example.com" || u.Port() != mustParse(t, at).Port() {
		t.Errorf("the address is %s", l.Addr())
	}
}

func TestAllIPv4AddressesAreNotAllIPv6Ones(t *testing.T) {
	l, err := transport.Listen(t.Context(), "tcp://0.0.0.0:0", transport.Config{Keyed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := transport.Dial(t.Context(), "tcp://[::1]:"+mustParse(t, l.Addr()).Port(), transport.Config{})
	if err == nil {
		c.Close()
		t.Error("0.0.0.0 is reached at ::1")
	}
}

// silent is a TCP server that takes connections and sends nothing; accepted gets a value for each.
func silent(t *testing.T) (address string, accepted <-chan net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan net.Conn, 8)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			taken <- c
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
		for len(taken) > 0 {
			(<-taken).Close()
		}
	})
	return "tls://" + l.Addr().String(), taken
}

func TestAHandshakeWithASilentServerEndsWithItsTime(t *testing.T) {
	address, _ := silent(t)
	_, err := transport.Dial(t.Context(), address, transport.Config{DialTimeout: 50 * time.Millisecond})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), address) {
		t.Errorf("got %v", err)
	}
}

func TestAHandshakeWithASilentServerEndsWithItsContext(t *testing.T) {
	address, accepted := silent(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := transport.Dial(ctx, address, transport.Config{})
		ended <- err
	}()
	conn := <-accepted
	defer conn.Close()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestASilentClientDoesNotHoldUpOthers(t *testing.T) {
	files := transporttest.NewAuthority(t, "authority").Issue(t, t.TempDir(), "127.0.0.1")
	certificates, err := Certificates(files.Cert, files.Key, files.CA)
	if err != nil {
		t.Fatal(err)
	}
	config := transport.Config{TLS: certificates}
	l, err := transport.Listen(t.Context(), "tls://:0", config)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mute, err := net.Dial("tcp", mustParse(t, l.Addr()).Host)
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	first, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()

	served := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = c.Write([]byte("x"))
			defer c.Close()
		}
		served <- err
	}()
	c, err := transport.Dial(t.Context(), l.Addr(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestAServerMayEndItsWritesBeforeItEverRead(t *testing.T) {
	files := transporttest.NewAuthority(t, "authority").Issue(t, t.TempDir(), "127.0.0.1")
	certificates, err := Certificates(files.Cert, files.Key, files.CA)
	if err != nil {
		t.Fatal(err)
	}
	config := transport.Config{TLS: certificates}
	l, err := transport.Listen(t.Context(), "tls://:0", config)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ended := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			defer c.Close()
			err = c.(transports.HalfCloser).CloseWrite()
		}
		ended <- err
	}()
	c, err := transport.Dial(t.Context(), l.Addr(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := <-ended; err != nil {
		t.Errorf("CloseWrite: %v", err)
	}
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the client read %v, want EOF", err)
	}
}
