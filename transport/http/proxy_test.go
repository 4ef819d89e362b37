package http_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/tcp"
)

// proxy is an HTTP proxy that knows CONNECT and nothing else. Names that end in .test are this machine.
type proxy struct {
	listener net.Listener
	mu       sync.Mutex
	targets  []string
}

func startProxy() (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	return p, nil
}

func (p *proxy) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	request, err := nethttp.ReadRequest(in)
	if err != nil {
		return
	}
	if user, password, ok := basic(request); !ok || user != "user" || password != "secret" {
		io.WriteString(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
		return
	}
	if request.Method != nethttp.MethodConnect {
		io.WriteString(conn, "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
		return
	}
	p.mu.Lock()
	p.targets = append(p.targets, request.Host)
	p.mu.Unlock()
	host, port, _ := net.SplitHostPort(request.Host)
	if !strings.HasSuffix(host, ".test") {
		io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
		return
	}
	target, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		io.WriteString(conn, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		return
	}
	defer target.Close()
	io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	var both sync.WaitGroup
	both.Go(func() {
		io.Copy(target, in)
		target.(*net.TCPConn).CloseWrite()
	})
	both.Go(func() {
		io.Copy(conn, target)
		conn.(*net.TCPConn).CloseWrite()
	})
	both.Wait()
}

// basic is the user and password that a client shows a proxy.
func basic(request *nethttp.Request) (user, password string, ok bool) {
	shown := nethttp.Request{Header: nethttp.Header{"Authorization": request.Header["Proxy-Authorization"]}}
	return shown.BasicAuth()
}

func (p *proxy) saw(target string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.targets {
		if t == target {
			return true
		}
	}
	return false
}

func TestDialGoesThroughTheProxyOfTheEnvironment(t *testing.T) {
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "node.test")
	certificates, err := tcp.Certificates(files.Cert, files.Key, files.CA)
	if err != nil {
		t.Fatal(err)
	}
	for scheme, config := range map[string]transport.Config{"http": {}, "https": {TLS: certificates}} {
		t.Run(scheme, func(t *testing.T) {
			l, err := transport.Listen(t.Context(), scheme+"://:0/way/in", config)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			echoed := make(chan struct{})
			go func() {
				defer close(echoed)
				conn, err := l.Accept()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				io.Copy(conn, conn)
			}()
			address := strings.Replace(l.Addr(), "127.0.0.1", "node.test", 1)
			conn, err := transport.Dial(t.Context(), address, config)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write([]byte("through")); err != nil {
				t.Error(err)
			}
			got := make([]byte, 7)
			if _, err := io.ReadFull(conn, got); err != nil || string(got) != "through" {
				t.Errorf("read %q, %v", got, err)
			}
			conn.Close()
			<-echoed
			parsed, _ := schemes.Parse(address)
			if !environment.saw(parsed.Host) {
				t.Errorf("the proxy was not asked for %s", parsed.Host)
			}
		})
	}
}

func TestThisMachineIsNotAskedOfAProxy(t *testing.T) {
	l, err := transport.Listen(t.Context(), "http://:0", transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := transport.Dial(t.Context(), l.Addr(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	parsed, _ := schemes.Parse(l.Addr())
	if environment.saw(parsed.Host) {
		t.Error("it was")
	}
}

func TestErrorsNameTheProxyWithoutItsPassword(t *testing.T) {
	for _, test := range []struct{ address, want string }{
		{"http://forbidden.example:7700", "403"},
		{"http://node.test:1/x", "502"}, // nothing listens at port 1
	} {
		_, err := transport.Dial(t.Context(), test.address, transport.Config{})
		if err == nil {
			t.Errorf("%s: no error", test.address)
			continue
		}
		text := err.Error()
		for _, part := range []string{test.address, environment.listener.Addr().String(), test.want} {
			if !strings.Contains(text, part) {
				t.Errorf("the error %q does not say %s", text, part)
			}
		}
		if strings.Contains(text, "secret") {
			t.Errorf("the error %q holds the password", text)
		}
		if errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("the error %q is one of this side's sockets", text)
		}
	}
}
