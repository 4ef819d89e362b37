package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
)

const goodKey = "0123456789abcdef0123456789abcdef"

func TestWithAKeyOnlyCallersThatHaveItAreAdmitted(t *testing.T) {
	var log logBuffer
	node := start(t, logTo(&log), sabir.Serve(shop()), sabir.HTTP(":0", gateway.Key(goodKey)))
	base := "http://" + node.HTTPAddr()
	for about, header := range map[string]string{"none": "X: ", "a wrong one": "Authorization: Bearer " + goodKey[1:], "another scheme": "Authorization: Basic " + goodKey, "an empty one": "Authorization: Bearer "} {
		for _, path := range []string{"/shop/hello", "/shop/nothing", "/"} {
			got := post(t, base+path, `{"name":"Ada"}`, header)
			if p := got.problem(t); got.status != 401 || p.Name != "BadKey" || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%s at %s: %d %s", about, path, got.status, got.body)
			}
		}
	}
	for _, scheme := range []string{"Bearer", "bearer"} {
		if got := post(t, base+"/shop/hello", `{"name":"Ada"}`, "Authorization: "+scheme+" "+goodKey); got.status != 200 {
			t.Errorf("%s: %d %s", scheme, got.status, got.body)
		}
	}
	if strings.Contains(log.String(), goodKey[1:]) {
		t.Error("the key is in the log")
	}
}

func TestHealthAndReadinessNeedNoKey(t *testing.T) {
	node := start(t, sabir.HTTP(":0", gateway.Key(goodKey)))
	for _, path := range []string{"/health", "/ready"} {
		if got := ask(t, "GET", "http://"+node.HTTPAddr()+path, ""); got.status != 200 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

func TestOnLoopbackWithoutAKeyOnlyNamesOfThisMachineAreAnswered(t *testing.T) {
	node, base := startShop(t)
	_, port, _ := net.SplitHostPort(node.HTTPAddr())
	for host, want := range map[string]int{
		"localhost": 200, "localhost:" + port: 200, "LOCALHOST.": 200, "app.localhost:1": 200, "127.0.0.1": 200, "127.8.8.8:99": 200, "[::1]:3000": 200, "[::1]": 200,
		"evil.example": 403, "evil.example:" + port: 403, "localhost.evil.example": 403, "10.0.0.1": 403, "[::2]": 403, "127.0.0.1.evil.example": 403,
	} {
		for _, got := range []answer{post(t, base+"/shop/hello", `{"name":"Ada"}`, "Host: "+host), ask(t, "GET", base+"/", "", "Host: "+host)} {
			if got.status != want {
				t.Errorf("Host %q: %d, want %d: %s", host, got.status, want, got.body)
			}
		}
	}
}

func TestWithAKeyAnyHostNameWillDo(t *testing.T) {
	node := start(t, sabir.Serve(shop()), sabir.HTTP(":0", gateway.Key(goodKey)))
	if got := post(t, "http://"+node.HTTPAddr()+"/shop/hello", `{"name":"Ada"}`, "Host: api.example", "Authorization: Bearer "+goodKey); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestPagesOfOtherSitesCannotCall(t *testing.T) {
	_, base := startShop(t)
	for about, headers := range map[string][]string{
		"fetch without a body, which needs no preflight": {"Sec-Fetch-Site: cross-site", "Content-Type: "},
		"an older browser": {"Origin: https://evil.example", "Content-Type: "},
		"a form":           {"Origin: null"},
	} {
		got := post(t, base+"/shop/echo", ``, headers...)
		if p := got.problem(t); got.status != 403 || p.Name != "CrossOrigin" {
			t.Errorf("%s: %d %s", about, got.status, got.body)
		}
	}
	preflight := ask(t, "OPTIONS", base+"/shop/echo", "", "Origin: https://evil.example", "Access-Control-Request-Method: POST")
	for name := range preflight.header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("the preflight is answered with %s", name)
		}
	}
	if got := post(t, base+"/shop/echo", `{}`, "Sec-Fetch-Site: same-origin"); got.status != 200 {
		t.Errorf("a page of the node's own: %d %s", got.status, got.body)
	}
}

func TestANodeRefusesToListenWhereAnybodyCouldCall(t *testing.T) {
	authority, server, _ := certificates(t)
	demanding := &tls.Config{Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authority}
	unverified := &tls.Config{Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAnyClientCert, ClientCAs: authority}
	anyAuthority := &tls.Config{Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAndVerifyClientCert}
	tests := []struct {
		about, addr string
		options     []gateway.HTTPOption
		problem     string // "" when it starts
	}{
		{"no host", ":0", nil, ""},
		{"localhost", "localhost:0", nil, ""},
		{"loopback", "127.0.0.9:0", nil, ""},
		{"all addresses with a key", "0.0.0.0:0", []gateway.HTTPOption{gateway.Key(goodKey)}, ""},
		{"all addresses with client certificates", "0.0.0.0:0", []gateway.HTTPOption{gateway.TLS(demanding)}, ""},
		{"all addresses", "0.0.0.0:0", nil, "gateway.Key"},
		{"all IPv6 addresses", "[::]:0", nil, "gateway.Key"},
		{"a short key", "0.0.0.0:0", []gateway.HTTPOption{gateway.Key("secret")}, "at least 16"},
		{"certificates nobody verifies", "0.0.0.0:0", []gateway.HTTPOption{gateway.TLS(unverified)}, "ClientCAs"},
		{"certificates of any authority", "0.0.0.0:0", []gateway.HTTPOption{gateway.TLS(anyAuthority)}, "ClientCAs"},
		{"TLS without a certificate", ":0", []gateway.HTTPOption{gateway.TLS(&tls.Config{})}, "no certificate"},
		{"a key with a line break", ":0", []gateway.HTTPOption{gateway.Key(goodKey + "\n")}, "line break"},
		{"no port", "localhost", nil, `such as ":3000"`},
		{"a port by name", ":http", nil, "0 (any free one) to 65535"},
		{"a port too high", ":70000", nil, "65535"},
		{"an unknown host", "no-such-host.invalid:0", nil, `"no-such-host.invalid" cannot be resolved`},
	}
	for _, test := range tests {
		t.Run(test.about, func(t *testing.T) {
			node := sabir.NewNode(logTo(io.Discard), sabir.HTTP(test.addr, test.options...))
			err := node.Start(t.Context())
			if err == nil {
				defer node.Stop(t.Context())
			}
			switch {
			case test.problem == "" && err != nil:
				t.Error(err)
			case test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)):
				t.Errorf("got %v, want an error about %s", err, test.problem)
			case err == nil && !strings.Contains(node.HTTPAddr(), ":") || strings.HasSuffix(node.HTTPAddr(), ":0"):
				t.Errorf("the address is %q", node.HTTPAddr())
			}
		})
	}
}

func TestAPortThatIsTakenIsReported(t *testing.T) {
	node := start(t, sabir.HTTP(":0"))
	other := sabir.NewNode(sabir.HTTP(node.HTTPAddr()), logTo(io.Discard))
	if err := other.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("got %v", err)
	}
}

func TestOverTLSOnlyClientsWithACertificateOfTheAuthorityComeIn(t *testing.T) {
	authority, server, clientCert := certificates(t)
	node := start(t, sabir.Serve(shop()), sabir.HTTP("127.0.0.1:0",
		gateway.TLS(&tls.Config{Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authority})))
	for _, certificate := range [][]tls.Certificate{{clientCert}, nil} {
		client, err := Dial("https://"+node.HTTPAddr(), ClientConfig{TLS: &tls.Config{RootCAs: authority, Certificates: certificate}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Call(t.Context(), "shop.hello", []byte(`{"name":"Ada"}`))
		if (err == nil) != (certificate != nil) {
			t.Errorf("with %d certificates: %v", len(certificate), err)
		}
		client.Close()
	}
}

// certificates makes an authority, and a certificate of it for a server on 127.0.0.1 and for a client.
func certificates(t *testing.T) (authority *x509.CertPool, server, client tls.Certificate) {
	t.Helper()
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		t.Fatal(err)
	}
	caCert, err := x509.ParseCertificate(caDER)
	if err != nil {
		t.Fatal(err)
	}
	authority = x509.NewCertPool()
	authority.AddCert(caCert)
	issue := func(serial int64, usage x509.ExtKeyUsage) tls.Certificate {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour),
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{usage}}, caCert, &key.PublicKey, caKey)
		if err != nil {
			t.Fatal(err)
		}
		return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	}
	return authority, issue(2, x509.ExtKeyUsageServerAuth), issue(3, x509.ExtKeyUsageClientAuth)
}
