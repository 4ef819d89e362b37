package http1

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/web/exchange"
)

func TestAConnectionIsHandedOverInTheMiddle(t *testing.T) {
	_, addr := serve(t, &handler{})
	for _, unusual := range []string{
		get("/slow"),
		"HEAD /fast HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"POST /fast HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
		post("/fast", strings.Repeat("x", maxBody+1)),
	} {
		c := dial(t, addr)
		go io.WriteString(c, get("/fast/1")+post("/fast/2", "b")+unusual+get("/fast/3")+post("/fast/4", "d"))
		for i, want := range []string{`GET /fast/1  ""`, `POST /fast/2  "b"`, ``, `GET /fast/3  ""`, `POST /fast/4  "d"`} {
			if strings.HasPrefix(unusual, "HEAD") && i == 2 {
				if line, _ := c.r.ReadString('\n'); line != "HTTP/1.1 200 OK\r\n" {
					t.Error(line)
				}
				for line := "."; line != "\r\n"; line, _ = c.r.ReadString('\n') {
				}
				continue
			}
			got := c.read()
			if engine := got.header.Get("X-Engine"); got.status != 200 || want != "" && got.body != want || (engine == "net/http") != (i >= 2) {
				t.Errorf("behind %.30q: answer %d is %.200v, want %s", unusual, i, got, want)
			}
		}
		c.Close()
	}
}

func TestWhatIsMalformedIsAnsweredWithItsStatus(t *testing.T) {
	_, addr := serve(t, &handler{})
	for request, want := range map[string]int{
		"POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab": 400,
		"GET /fast HTTP/1.1\r\n\r\n":                                                     400,
		"GET /fast HTTP/3.0\r\nHost: a\r\n\r\n":                                          505,
		"POST /fast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n":                 501,
		"GET /fast HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n\r\n": 431,
	} {
		c := dial(t, addr)
		go io.WriteString(c, request)
		if got := c.read(); got.status != want {
			t.Errorf("%.80q: %d", request, got.status)
		}
	}
}

// record is a handler that notes what both engines understood.
type record struct {
	mu   sync.Mutex
	seen []string
}

func (r *record) add(method, target, host, body string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, method+" "+target+" "+host+" "+body)
}

func (r *record) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	b, err := io.ReadAll(q.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.add(q.Method, q.RequestURI, q.Host, string(b))
}

func (r *record) handler() *handler {
	return &handler{take: func(*exchange.Exchange) bool { return true }, serve: func(x *exchange.Exchange) {
		target := x.Path
		if x.Query != "" {
			target += "?" + x.Query
		}
		r.add(x.Method, target, x.Host, string(x.Body))
	}}
}

func TestAWebSocketUpgradeReachesNetHTTP(t *testing.T) {
	_, addr := serveWith(t, Config{Handler: &handler{}, Fallback: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		line, _ := rw.ReadString('\n')
		io.WriteString(c, line)
	})}})
	c := dial(t, addr)
	c.send(get("/fast") + "GET /fast HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	c.read()
	response, err := http.ReadResponse(c.r, nil)
	if err != nil || response.StatusCode != 101 {
		t.Fatal(response, err)
	}
	c.send("\x81\x00hello\n") // no HTTP any more
	if line, err := c.r.ReadString('\n'); line != "\x81\x00hello\n" {
		t.Error(line, err)
	}
}

func TestFilesAreServedByNetHTTP(t *testing.T) {
	dir := t.TempDir()
	want := strings.Repeat("0123456789", 100_000)
	if err := os.WriteFile(filepath.Join(dir, "large.txt"), []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	_, addr := serveWith(t, Config{Handler: &handler{}, Fallback: &http.Server{Handler: http.FileServer(http.Dir(dir))}})
	if got := dial(t, addr).ask(get("/large.txt")); got.body != want {
		t.Errorf("%d: %d bytes", got.status, len(got.body))
	}
}

// certificate makes one for 127.0.0.1, and the client's side of it.
func certificate(tb testing.TB) (server, client *tls.Config) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a.test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, &tls.Config{RootCAs: pool}
}

// inform is a fallback that reports what it sees of the connection.
var inform http.HandlerFunc = func(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "%s tls=%t", r.Proto, r.TLS != nil && r.TLS.HandshakeComplete)
}

func TestTLSConnectionsAreServedAndHandedOverWithTheirState(t *testing.T) {
	server, trust := certificate(t)
	_, addr := serveWith(t, Config{TLS: server, Fallback: &http.Server{Handler: inform}, Handler: &handler{serve: func(x *exchange.Exchange) {
		x.Out = fmt.Appendf(x.Out, "fast tls=%t", x.TLS != nil && x.TLS.HandshakeComplete)
	}}})
	over, err := tls.Dial("tcp", addr, trust)
	if err != nil {
		t.Fatal(err)
	}
	defer over.Close()
	c := &client{over, t, bufio.NewReader(over)}
	c.send(get("/fast") + get("/fast") + get("/slow"))
	for _, want := range []string{"fast tls=true", "fast tls=true", "HTTP/1.1 tls=true"} {
		if got := c.read(); got.body != want {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}

func TestHTTP2ReachesNetHTTP(t *testing.T) {
	server, trust := certificate(t)
	for _, form := range []string{"https", "http"} {
		config := Config{Handler: &handler{}, Fallback: &http.Server{Handler: inform}}
		want := "HTTP/2.0 tls=false"
		if form == "https" {
			config.TLS, want = server, "HTTP/2.0 tls=true"
		}
		_, addr := serveWith(t, config)
		transport := &http.Transport{TLSClientConfig: trust, Protocols: new(http.Protocols)}
		transport.Protocols.SetHTTP2(true)
		transport.Protocols.SetUnencryptedHTTP2(true)
		for range 3 {
			response, err := (&http.Client{Transport: transport}).Get(form + "://" + addr + "/fast")
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if string(b) != want {
				t.Errorf("%s: %s", form, b)
			}
		}
		transport.CloseIdleConnections()
	}
}

func TestHTTP2CannotBeginBehindARequest(t *testing.T) {
	_, addr := serve(t, &handler{})
	for _, cut := range []int{0, 1, 2, 3, 10} {
		c := dial(t, addr)
		const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
		c.send(get("/fast") + preface[:cut])
		c.read()
		c.send(preface[cut:])
		if got := c.read(); got.status != 505 || !got.close {
			t.Errorf("cut at %d: %+v", cut, got)
		}
		c.wantEnd()
	}
}

func TestHTTPToATLSPortGetsAnAnswerThatSaysSo(t *testing.T) {
	server, _ := certificate(t)
	_, addr := serveWith(t, Config{TLS: server, Handler: &handler{}})
	if got := dial(t, addr).ask(get("/fast")); got.status != 400 || !strings.Contains(got.body, "HTTPS") {
		t.Errorf("%+v", got)
	}
}

func TestNextProtosOfTheUserAreKept(t *testing.T) {
	for _, protos := range [][]string{nil, {"http/1.1"}} {
		s := NewServer(Config{Handler: &handler{}, TLS: &tls.Config{NextProtos: protos}})
		want := protos
		if want == nil {
			want = []string{"h2", "http/1.1"}
		}
		if !reflect.DeepEqual(s.tls.NextProtos, want) {
			t.Errorf("%q, want %q", s.tls.NextProtos, want)
		}
	}
}
