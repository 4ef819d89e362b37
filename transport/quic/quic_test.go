package quic

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

func TestAnyCertificateWillDoOnlyOnLoopbackOrWithAKey(t *testing.T) {
	for _, test := range []struct {
		name   string
		ip     string
		config transport.Config
		any    bool
	}{
		{"loopback", "127.0.0.1", transport.Config{}, true},
		{"loopback of IPv6", "::1", transport.Config{}, true},
		{"elsewhere with a key", "192.0.2.1", transport.Config{Keyed: true}, true},
		{"elsewhere", "192.0.2.1", transport.Config{}, false},
		{"a configuration on loopback", "127.0.0.1", transport.Config{TLS: &tls.Config{}}, false},
		{"a configuration with a key", "192.0.2.1", transport.Config{Keyed: true, TLS: &tls.Config{}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			to, err := schemes.Parse("quic://shop.example.com:7700")
			if err != nil {
				t.Fatal(err)
			}
			client, err := clientTLS(to, net.ParseIP(test.ip), test.config)
			if err != nil {
				t.Fatal(err)
			}
			if client.InsecureSkipVerify != test.any {
				t.Errorf("any certificate is taken: %v, want %v", client.InsecureSkipVerify, test.any)
			}
			if client.ServerName != "shop.example.com" || client.MinVersion != tls.VersionTLS13 {
				t.Errorf("the server is to be %q with TLS of at least %s", client.ServerName, tls.VersionName(client.MinVersion))
			}
		})
	}
}

func listenLocal(t *testing.T, config transport.Config) transport.Listener {
	t.Helper()
	l, err := transport.Listen(t.Context(), "quic://:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestAServerWithoutTheRightCertificateIsAnErrorOfDial(t *testing.T) {
	l := listenLocal(t, transport.Config{})
	_, err := transport.Dial(t.Context(), l.Addr(), transport.Config{TLS: &tls.Config{}})
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v, want an error about the certificate", err)
	}
}

func TestAClientWithoutACertificateIsAnErrorOfDial(t *testing.T) {
	authority := transporttest.NewAuthority(t, "test authority")
	files := authority.Issue(t, t.TempDir(), "127.0.0.1")
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	l := listenLocal(t, transport.Config{TLS: &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert}})
	_, err = transport.Dial(t.Context(), l.Addr(), transport.Config{TLS: &tls.Config{InsecureSkipVerify: true}})
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v, want an error about the certificate", err)
	}
}

func TestOtherProtocolsAreRefused(t *testing.T) {
	l := listenLocal(t, transport.Config{})
	u, _ := schemes.Parse(l.Addr())
	server, err := serverTLS(u, transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if len(server.NextProtos) != 1 || server.NextProtos[0] != "sabir" {
		t.Errorf("the protocols are %q", server.NextProtos)
	}
}

// A process that is killed leaves a closed socket and sends nothing.
func TestAReadEndsWhenThePeersSocketIsGone(t *testing.T) {
	l := listenLocal(t, transport.Config{})
	c, err := transport.Dial(t.Context(), l.Addr(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	l.(*listener).socket.udp.Close()
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the read ended with %v, want ECONNRESET", err)
	}
}

func TestMoreConnectionsThanMayWaitAreRefused(t *testing.T) {
	l := listenLocal(t, transport.Config{})
	for i := range backlog {
		c, err := transport.Dial(t.Context(), l.Addr(), transport.Config{})
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		defer c.Close()
	}
	c, err := transport.Dial(t.Context(), l.Addr(), transport.Config{})
	if err == nil { // the listener's word came after the greeting
		c.SetDeadline(time.Now().Add(time.Minute))
		_, err = c.Read(make([]byte, 1))
		c.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("one more gave %v, want ECONNREFUSED or ECONNRESET", err)
	}
}
