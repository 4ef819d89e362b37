package tcp

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// followed is a configuration with a clock and a report that the test holds.
type followed struct {
	*tls.Config
	clock   time.Time
	reports []string
	log     strings.Builder
}

// follow follows the files by the test's clock, or by another one.
func follow(t *testing.T, files transporttest.Files, clock ...func() time.Time) *followed {
	t.Helper()
	f := &followed{clock: time.Now()}
	source := &certificateFiles{
		paths:  [3]string{files.Cert, files.Key, files.CA},
		now:    func() time.Time { return f.clock },
		report: func(err error) { f.reports = append(f.reports, err.Error()) },
	}
	if len(clock) > 0 {
		source.now = clock[0]
	}
	log := slog.New(slog.NewTextHandler(&f.log, nil))
	source.expiry.log = func(level slog.Level, message string, arguments ...any) {
		log.Log(t.Context(), level, message, arguments...)
	}
	config, err := source.config()
	if err != nil {
		t.Fatal(err)
	}
	f.Config = config
	return f
}

// nextLook moves the clock to where the files are looked at again.
func (f *followed) nextLook() { f.clock = f.clock.Add(checkEvery) }

// handshake connects a client to a server in memory, and returns each side's result.
func handshake(t *testing.T, server, client *tls.Config, host string) (state tls.ConnectionState, clientErr, serverErr error) {
	t.Helper()
	serverConfig, err := transports.ServerTLS(server)
	if err != nil {
		t.Fatal(err)
	}
	clientConfig, err := transports.ClientTLS(client, host)
	if err != nil {
		t.Fatal(err)
	}
	a, b := pipe(t)
	deadline := time.Now().Add(time.Minute)
	a.SetDeadline(deadline)
	b.SetDeadline(deadline)
	ended := make(chan error, 1)
	go func() {
		s := tls.Server(a, serverConfig)
		err := s.Handshake()
		if err == nil {
			_, err = s.Write([]byte("x"))
		}
		a.Close()
		ended <- err
	}()
	c := tls.Client(b, clientConfig)
	clientErr = c.Handshake()
	if clientErr == nil {
		_, clientErr = c.Read(make([]byte, 1)) // the server's verdict comes after the client's part
	}
	b.Close()
	return c.ConnectionState(), clientErr, <-ended
}

// pipe is a connection with buffers, so that neither side waits for the other to read an alert.
func pipe(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := transport.Listen(t.Context(), "mem://", transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = transport.Dial(t.Context(), l.Addr(), transport.Config{}); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return a, b
}

func agree(t *testing.T, server, client *tls.Config) tls.ConnectionState {
	t.Helper()
	state, clientErr, serverErr := handshake(t, server, client, "127.0.0.1")
	if clientErr != nil || serverErr != nil {
		t.Fatalf("the client says %v, the server %v", clientErr, serverErr)
	}
	return state
}

func TestBothSidesShowCertificatesOverTLS13(t *testing.T) {
	files := transporttest.NewAuthority(t, "authority").Issue(t, t.TempDir(), "127.0.0.1")
	config := follow(t, files)
	if state := agree(t, config.Config, config.Config); state.Version != tls.VersionTLS13 {
		t.Errorf("the version is %s", tls.VersionName(state.Version))
	}
	if _, err := (transport.Config{TLS: config.Config}).ListenAddr(t.Context(), mustParse(t, "tls://0.0.0.0:0")); err != nil {
		t.Errorf("with an authority file it is not enough to listen beyond loopback: %v", err)
	}
}

func TestHandshakesThatFail(t *testing.T) {
	authority := transporttest.NewAuthority(t, "authority")
	files := authority.Issue(t, t.TempDir(), "127.0.0.1", "shop.example.com")
	strangers := transporttest.NewAuthority(t, "authority").Issue(t, t.TempDir(), "127.0.0.1") // of the same name
	good := follow(t, files)

	for _, test := range []struct {
		name           string
		server, client transporttest.Files
		host           string
		inClient       string // part of the client's error
		inServer       string
	}{
		{"a server of another name", files, files, "other.example.com", "not other.example.com", ""},
		{"a server with another address", files, files, "127.0.0.2", "not 127.0.0.2", ""},
		{"a server of an unknown authority", strangers, files, "127.0.0.1", "unknown authority", ""},
		{"a client without a certificate", files, transporttest.Files{CA: files.CA}, "127.0.0.1", "certificate required", "didn't provide a certificate"},
		{"a client of an unknown authority", files, transporttest.Files{Cert: strangers.Cert, Key: strangers.Key, CA: files.CA}, "127.0.0.1", "bad certificate|unknown certificate authority", "unknown authority"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, clientErr, serverErr := handshake(t, follow(t, test.server).Config, follow(t, test.client).Config, test.host)
			if clientErr == nil || serverErr == nil {
				t.Fatalf("the client says %v, the server %v", clientErr, serverErr)
			}
			found := false
			for part := range strings.SplitSeq(test.inClient, "|") {
				found = found || strings.Contains(clientErr.Error(), part)
			}
			if !found || !strings.Contains(serverErr.Error(), test.inServer) {
				t.Errorf("the client says %v, the server %v", clientErr, serverErr)
			}
		})
	}
	if _, clientErr, _ := handshake(t, good.Config, good.Config, "shop.example.com"); clientErr != nil {
		t.Errorf("the right name: %v", clientErr)
	}
}

func TestAServerOfUnknownNameIsNotTrusted(t *testing.T) {
	config := follow(t, transporttest.NewAuthority(t, "authority").Issue(t, t.TempDir(), "127.0.0.1"))
	if err := config.VerifyConnection(tls.ConnectionState{}); err == nil || !strings.Contains(err.Error(), "ServerName") {
		t.Errorf("got %v", err)
	}
}

func TestNewFilesAreUsedByTheNextHandshakeAfterALook(t *testing.T) {
	dir := t.TempDir()
	first, second := transporttest.NewAuthority(t, "first"), transporttest.NewAuthority(t, "second")
	config := follow(t, first.Issue(t, dir, "127.0.0.1"))
	before := agree(t, config.Config, config.Config).PeerCertificates[0]

	second.Issue(t, dir, "127.0.0.1") // certificate, key and authority, all new
	if now := agree(t, config.Config, config.Config).PeerCertificates[0]; !now.Equal(before) {
		t.Error("the files were looked at twice within a second")
	}
	config.nextLook()
	now := agree(t, config.Config, config.Config).PeerCertificates[0]
	if now.Equal(before) || now.Issuer.CommonName != "second" {
		t.Errorf("the certificate is still of %s", now.Issuer)
	}

	// A side that has only the first authority's certificate is out, on either side.
	old := follow(t, first.Issue(t, t.TempDir(), "127.0.0.1"))
	if _, clientErr, serverErr := handshake(t, config.Config, old.Config, "127.0.0.1"); clientErr == nil || serverErr == nil {
		t.Errorf("an old client: the client says %v, the server %v", clientErr, serverErr)
	}
	if _, clientErr, _ := handshake(t, old.Config, config.Config, "127.0.0.1"); clientErr == nil {
		t.Error("an old server was trusted")
	}
	if len(config.reports) != 0 {
		t.Errorf("reported: %v", config.reports)
	}
}

func TestARenameIsNoticedEvenWithTheSameTimeAndSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var seen [2][3]os.FileInfo
	for i, text := range []string{"a", "b"} {
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path+".new", time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		var err error
		if seen[i], err = (&certificateFiles{paths: [3]string{path}}).stat(); err != nil {
			t.Fatal(err)
		}
	}
	if same(seen[0], seen[1]) {
		t.Error("another file passes for the same")
	}
	if !same(seen[1], seen[1]) {
		t.Error("the same file passes for another")
	}
}

func TestBrokenFilesLeaveTheOldOnesInUseAndAreReportedOnce(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(transporttest.Files) error
		want   string
	}{
		{"a certificate that is none", func(f transporttest.Files) error { return os.WriteFile(f.Cert, []byte("x"), 0o600) }, "cert.pem"},
		{"a key that is gone", func(f transporttest.Files) error { return os.Remove(f.Key) }, "key.pem"},
		{"authorities that are none", func(f transporttest.Files) error { return os.WriteFile(f.CA, nil, 0o600) }, "ca.pem"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			authority := transporttest.NewAuthority(t, "authority")
			files := authority.Issue(t, dir, "127.0.0.1")
			config := follow(t, files)
			before := agree(t, config.Config, config.Config).PeerCertificates[0]
			if err := test.damage(files); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				config.nextLook()
				if now := agree(t, config.Config, config.Config).PeerCertificates[0]; !now.Equal(before) {
					t.Fatal("the certificate changed")
				}
			}
			if len(config.reports) != 1 || !strings.Contains(config.reports[0], test.want) {
				t.Errorf("reported: %q, want one that names %s", config.reports, test.want)
			}

			authority.Issue(t, dir, "127.0.0.1")
			config.nextLook()
			if now := agree(t, config.Config, config.Config).PeerCertificates[0]; now.Equal(before) {
				t.Error("good files after broken ones were not taken")
			}
			if len(config.reports) != 1 {
				t.Errorf("reported: %q", config.reports)
			}
		})
	}
}

func TestFilesThatCannotBeUsedFromTheStart(t *testing.T) {
	dir := t.TempDir()
	files := transporttest.NewAuthority(t, "authority").Issue(t, dir, "127.0.0.1")
	others := transporttest.NewAuthority(t, "authority").Issue(t, t.TempDir(), "127.0.0.1")
	missing := filepath.Join(dir, "missing.pem")
	for _, test := range []struct{ cert, key, ca, want string }{
		{files.Cert, "", "", "go together"},
		{"", files.Key, files.CA, "go together"},
		{missing, files.Key, files.CA, "missing.pem"},
		{files.Cert, missing, files.CA, "missing.pem"},
		{files.Cert, files.Key, missing, "missing.pem"},
		{files.Cert, others.Key, files.CA, "does not match"},
		{files.Cert, files.Key, files.Key, "has no certificate"},
	} {
		if _, err := Certificates(test.cert, test.key, test.ca); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: the error %v does not say %q", test, err, test.want)
		}
	}
}

func TestWithoutAuthoritiesClientsAreNotAsked(t *testing.T) {
	files := transporttest.NewAuthority(t, "authority").Issue(t, t.TempDir(), "127.0.0.1")
	server := follow(t, transporttest.Files{Cert: files.Cert, Key: files.Key})
	client := follow(t, transporttest.Files{CA: files.CA})
	agree(t, server.Config, client.Config)
	if _, err := (transport.Config{TLS: server.Config}).ListenAddr(t.Context(), mustParse(t, "tls://0.0.0.0:0")); err == nil {
		t.Error("it is enough to listen beyond loopback")
	}
}

func TestAClientMayHaveNoCertificateButMustTrustTheServer(t *testing.T) {
	files := transporttest.NewAuthority(t, "authority").Issue(t, t.TempDir(), "127.0.0.1")
	server := follow(t, transporttest.Files{Cert: files.Cert, Key: files.Key})
	_, clientErr, _ := handshake(t, server.Config, &tls.Config{}, "127.0.0.1")
	if _, ok := errors.AsType[*tls.CertificateVerificationError](clientErr); !ok {
		t.Errorf("a client with the system's authorities says %v", clientErr)
	}
}

func TestOlderVersionsOfTLSAreRefused(t *testing.T) {
	files := transporttest.NewAuthority(t, "authority").Issue(t, t.TempDir(), "127.0.0.1")
	certificates, err := Certificates(files.Cert, files.Key, "")
	if err != nil {
		t.Fatal(err)
	}
	l, err := transport.Listen(t.Context(), "tls://:0", transport.Config{TLS: certificates})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	served := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = io.ReadAll(c)
			c.Close()
		}
		served <- err
	}()
	_, err = tls.Dial("tcp", mustParse(t, l.Addr()).Host, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
	if err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("the client says %v", err)
	}
	if err := <-served; err == nil {
		t.Error("the server was content")
	}
}
