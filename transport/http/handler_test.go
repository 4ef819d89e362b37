package http_test

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/http"
)

// mount puts a handler on a web server of its own, whose other paths are another's.
func mount(t *testing.T, encrypted bool) (server *httptest.Server, address string) {
	t.Helper()
	paths := nethttp.NewServeMux()
	server = httptest.NewUnstartedServer(paths)
	address = "http://" + server.Listener.Addr().String() + "/links"
	if encrypted {
		address = strings.Replace(address, "http:", "https:", 1)
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	handler, err := http.NewHandler(address)
	if err != nil {
		t.Fatal(err)
	}
	paths.Handle("/links", handler)
	return server, address
}

func TestLinksComeInThroughAWebServer(t *testing.T) {
	for _, encrypted := range []bool{false, true} {
		server, address := mount(t, encrypted)
		config := transport.Config{Keyed: true}
		if encrypted {
			config.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
			config.TLS.RootCAs.AddCert(server.Certificate())
		}
		l, err := transport.Listen(t.Context(), address, config)
		if err != nil {
			t.Fatal(err)
		}
		if l.Addr() != address {
			t.Errorf("the address is %s", l.Addr())
		}
		accepted := make(chan struct{})
		go func() {
			defer close(accepted)
			conn, err := l.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			io.Copy(conn, conn)
		}()
		conn, err := transport.Dial(t.Context(), address, config)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, "hello")
		got := make([]byte, 5)
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
			t.Errorf("read %q, %v", got, err)
		}
		conn.Close()
		<-accepted
		l.Close()
	}
}

func TestAHandlerSaysWhenNothingListens(t *testing.T) {
	_, address := mount(t, false)
	config := transport.Config{Keyed: true}
	for range 2 { // before, and after a listener
		if _, err := transport.Dial(t.Context(), address, config); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("dial: %v", err)
		}
		l, err := transport.Listen(t.Context(), address, config)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := transport.Listen(t.Context(), address, config); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("listen twice: %v", err)
		}
		l.Close()
	}
}

func TestAHandlerNeedsAKey(t *testing.T) {
	_, address := mount(t, false)
	_, err := transport.Listen(t.Context(), address, transport.Config{})
	if err == nil || !strings.Contains(err.Error(), "refusing") || !strings.Contains(err.Error(), "key") {
		t.Errorf("listen: %v", err)
	}
	_, err = transport.Listen(t.Context(), address, transport.Config{Keyed: true, Advertise: "elsewhere"})
	if err == nil || !strings.Contains(err.Error(), "Advertise") {
		t.Errorf("with Advertise: %v", err)
	}
}

func TestAddressesThatTakeNoHandler(t *testing.T) {
	taken := "shop-" + strings.ToLower(rand.Text()) // in no other run of this process
	if _, err := http.NewHandler("http://" + taken + ".example.com/taken"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ address, want string }{
		{"http://" + strings.ToUpper(taken) + ".example.com:80/taken", "already"},
		{"tcp://shop.example.com:80", "not one to dial"},
		{"https://:443/x", "not one to dial"},
		{"https://shop.example.com:0/x", "not one to dial"},
		{"https://shop.example.com/x?y=z", "is not https://host:port/path"},
		{"%", "not a URL"},
	} {
		if _, err := http.NewHandler(test.address); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.address, err)
		}
	}
}
