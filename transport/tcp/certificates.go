package tcp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
	"weak"

	"github.com/sabir-go/sabir/internal/identity"
)

// checkEvery is the interval at which handshakes check whether a file has changed.
const checkEvery = time.Second

// Certificates makes a TLS configuration, for listening and for dialling, from files in PEM form, and follows them: when
// a file changes, the next handshakes use its new contents, within a second. Connections that stand are not touched.
//
// With caFile both sides must show a certificate of an authority in it (mutual TLS); a dialled server's must be for the
// name that was dialled, a client's for any. Without caFile ("") clients are not asked for one, and servers are checked
// against the authorities of the system. A program that only dials may leave out certFile and keyFile, both.
//
// A file that cannot be used is an error here. Later, when it replaces one that could, the old contents stay in use and
// slog.Default logs why, once for each change. It also logs, at handshakes and once an hour, that the certificate, an authority in its chain or the last of
// caFile has less than a sixth of its time left, 90 days at most, once a day, and that it has expired, once an hour. Files are best replaced by a rename, the key's before the certificate's.
func Certificates(certFile, keyFile, caFile string) (*tls.Config, error) {
	files := &certificateFiles{paths: [3]string{certFile, keyFile, caFile}, now: time.Now, report: func(err error) {
		slog.Default().Error("TLS certificates not reloaded; those from before stay in use", "error", err)
	}}
	files.expiry.log = func(level slog.Level, message string, arguments ...any) {
		slog.Default().Log(context.Background(), level, message, arguments...)
	}
	return files.config()
}

// certificateFiles is three files and what was last read from them.
type certificateFiles struct {
	paths  [3]string // certificate, key, authorities; "" for none
	now    func() time.Time
	report func(error)

	mu      sync.Mutex
	checked time.Time
	seen    [3]os.FileInfo
	current *material
	expiry  expiry
}

// material holds the parsed contents of the files at one moment.
type material struct {
	certificate *tls.Certificate    // nil for none
	authorities *x509.CertPool      // nil for those of the system
	listed      []*x509.Certificate // the authorities one by one
	endings     []ending
	server      *tls.Config
}

func (f *certificateFiles) config() (*tls.Config, error) {
	if (f.paths[0] == "") != (f.paths[1] == "") {
		return nil, errors.New("a certificate and its key go together: name both files, or neither")
	}
	seen, err := f.stat()
	if err != nil {
		return nil, err
	}
	f.checked, f.seen = f.now(), seen
	if f.current, err = load(f.paths); err != nil {
		return nil, err
	}
	f.expiry.check(f.current.endings, f.checked)
	watch(weak.Make(f))
	config := f.current.server.Clone()
	// The server's side of each connection takes what is current as a whole, authorities for clients included.
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return f.latest().server, nil }
	if f.paths[0] != "" {
		config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.latest().certificate, nil }
	}
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if certificate := f.latest().certificate; certificate != nil {
			return certificate, nil
		}
		return &tls.Certificate{}, nil // none to show, in the form that crypto/tls expects
	}
	// RootCAs would stay what they were, so the client's side verifies here, and nowhere else.
	config.InsecureSkipVerify = true
	config.VerifyConnection = f.verifyServer
	return config, nil
}

// verifyServer checks the server's certificate as crypto/tls does for a client, but with the authorities of this moment.
func (f *certificateFiles) verifyServer(state tls.ConnectionState) error {
	if state.ServerName == "" {
		return errors.New("the name of the server is not known, so its certificate cannot be checked: set ServerName")
	}
	if len(state.PeerCertificates) == 0 {
		return errors.New("the server showed no certificate")
	}
	options := x509.VerifyOptions{
		DNSName:       state.ServerName,
		Roots:         f.latest().authorities,
		Intermediates: x509.NewCertPool(),
		CurrentTime:   f.now(),
	}
	for _, c := range state.PeerCertificates[1:] {
		options.Intermediates.AddCert(c)
	}
	_, err := state.PeerCertificates[0].Verify(options)
	if err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
	}
	identity.Verified(state.PeerCertificates[0])
	return nil
}

// latest returns the contents of the files; those of their last good version where they cannot be read or parsed. It looks at
// the files at most once in checkEvery.
func (f *certificateFiles) latest() *material {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if now.Sub(f.checked) < checkEvery {
		return f.current
	}
	f.checked = now
	defer func() { f.expiry.check(f.current.endings, now) }()
	// Before the files are read: a change between the two is then seen by the next look.
	seen, err := f.stat()
	if err == nil && same(seen, f.seen) {
		return f.current
	}
	if err == nil {
		f.seen = seen
		var loaded *material
		if loaded, err = load(f.paths); err == nil {
			f.current = loaded
			return f.current
		}
	} else if f.seen == ([3]os.FileInfo{}) {
		return f.current // still missing, and reported
	} else {
		f.seen = [3]os.FileInfo{}
	}
	f.report(err)
	return f.current
}

func (f *certificateFiles) stat() (seen [3]os.FileInfo, err error) {
	for i, path := range f.paths {
		if path == "" {
			continue
		}
		if seen[i], err = os.Stat(path); err != nil {
			return seen, fmt.Errorf("TLS certificates: %w", err)
		}
	}
	return seen, nil
}

func same(a, b [3]os.FileInfo) bool {
	for i := range a {
		if (a[i] == nil) != (b[i] == nil) {
			return false
		}
		if a[i] != nil && (!os.SameFile(a[i], b[i]) || a[i].Size() != b[i].Size() || !a[i].ModTime().Equal(b[i].ModTime())) {
			return false
		}
	}
	return true
}

func load(paths [3]string) (*material, error) {
	m := &material{}
	// Links are long-lived and not many: tickets, and with them resumption past a change of authorities, are not worth having.
	m.server = &tls.Config{MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true}
	if paths[0] != "" {
		pair, err := tls.LoadX509KeyPair(paths[0], paths[1])
		if err != nil {
			return nil, fmt.Errorf("TLS certificate %s with key %s: %w", paths[0], paths[1], err)
		}
		m.certificate = &pair
		m.server.Certificates = []tls.Certificate{pair}
	}
	if paths[2] != "" {
		text, err := os.ReadFile(paths[2])
		if err != nil {
			return nil, fmt.Errorf("TLS authorities: %w", err)
		}
		m.authorities = x509.NewCertPool()
		if !m.authorities.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("TLS authorities: %s has no certificate in PEM form", paths[2])
		}
		m.listed = certificatesIn(text)
		m.server.ClientCAs = m.authorities
		m.server.ClientAuth = tls.RequireAndVerifyClientCert
	}
	m.endings = endings(paths, m)
	return m, nil
}
