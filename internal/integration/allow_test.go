package integration

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	_ "github.com/sabir-go/sabir/transport/http"
	_ "github.com/sabir-go/sabir/transport/quic"
	"github.com/sabir-go/sabir/transport/tcp"
	"github.com/sabir-go/sabir/web/auth"
)

// authority signs the certificates of the nodes of a test.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	text, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(text)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key}
}

// config is the TLS of a node with the DNS name, and the SPIFFE ID if there is one.
func (a *authority) config(t *testing.T, name, spiffe string) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
	if spiffe != "" {
		id, err := url.Parse(spiffe)
		if err != nil {
			t.Fatal(err)
		}
		template.URIs = []*url.URL{id}
	}
	text, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{text}, PrivateKey: key}}, RootCAs: pool, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert}
}

// auditLog is a log that a test reads while nodes write it.
type auditLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *auditLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *auditLog) has(parts ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(line, part)
		}
		if all {
			return true
		}
	}
	return false
}

func startAllowed(t *testing.T, node *sabir.Node) *sabir.Node {
	t.Helper()
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Stop(context.Background()) })
	return node
}

// vaultNode serves what only some may call: an action and a stream for nodes, an action for a service, and a handler of events.
func vaultNode(t *testing.T, ca *authority, log *auditLog, came chan string, options ...cluster.Option) *sabir.Node {
	t.Helper()
	vault := sabir.NewService("vault")
	open := func(ctx context.Context, _ sabir.Empty) (string, error) {
		who, _ := auth.FromContext(ctx)
		return who.Subject, nil
	}
	sabir.Handle(vault, "open", open, sabir.Allow{Nodes: []string{"orders-*", "spiffe://example.org/mail"}, Audited: true})
	sabir.HandleStream(vault, "watch", func(_ context.Context, s *sabir.Stream[sabir.Empty, int]) error { return s.Send(1) },
		sabir.Allow{Nodes: []string{"orders-*", "spiffe://example.org/mail"}, Audited: true})
	sabir.Handle(vault, "charge", open, sabir.Allow{Nodes: []string{"orders-*"}, Services: []string{"billing"}, Audited: true})
	sabir.On(vault, "vault.note", func(_ context.Context, from string) error { came <- from; return nil },
		sabir.Allow{Nodes: []string{"orders-*"}, Audited: true})
	options = append(options, cluster.Config{TLS: ca.config(t, "vault", "")})
	return startAllowed(t, sabir.NewNode(sabir.NodeID("vault"), sabir.Logger(slog.New(slog.NewTextHandler(log, nil))), sabir.Serve(vault),
		sabir.Join("tls://127.0.0.1:0", options...)))
}

// callerNode joins the cluster of the vault with a certificate of the name. Its service billing and its service other call the vault.
func callerNode(t *testing.T, ca *authority, vault *sabir.Node, id, name, spiffe string) *sabir.Node {
	t.Helper()
	var services []sabir.Servable
	for _, service := range []string{"billing", "other"} {
		s := sabir.NewService(service + "-" + id)
		if service == "billing" {
			s = sabir.NewService("billing", sabir.Version(2))
		}
		sabir.Handle(s, "charge", func(ctx context.Context, _ sabir.Empty) (string, error) {
			return sabir.Call[string](ctx, sabir.NodeFromContext(ctx), "vault.charge", sabir.Empty{})
		})
		services = append(services, s)
	}
	n := startAllowed(t, sabir.NewNode(sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(services...),
		sabir.Join("tls://127.0.0.1:0", cluster.Config{Seeds: []string{vault.Info().Addr}, TLS: ca.config(t, name, spiffe)})))
	if err := n.WaitFor(t.Context(), "vault"); err != nil {
		t.Fatal(err)
	}
	return n
}

// The id that a node gives itself is not its identity.
func TestRulesGoByTheCertificatesOfNodes(t *testing.T) {
	ca, log, came := newAuthority(t), &auditLog{}, make(chan string, 10)
	vault := vaultNode(t, ca, log, came)
	for _, test := range []struct {
		id, name, spiffe string
		open, note       bool
	}{
		{"a", "orders-1", "", true, true},
		{"orders-2", "mallory", "", false, false},
		{"c", "mail-1", "spiffe://example.org/mail", true, false},
		{"d", "mail-2", "spiffe://example.org/mail/other", false, false},
	} {
		n := callerNode(t, ca, vault, test.id, test.name, test.spiffe)
		verdict := map[bool]string{true: "verdict=allowed", false: "verdict=refused"}
		_, err := sabir.Call[string](t.Context(), n, "vault.open", sabir.Empty{})
		if (err == nil) != test.open || err != nil && !errors.Is(err, sabir.ErrCallerRefused) {
			t.Errorf("%s calls: %v", test.name, err)
		}
		if !log.has("msg=audit", "node="+test.id, test.name, "action=vault.open", verdict[test.open]) {
			t.Errorf("%s calls: the audit does not say so", test.name)
		}
		err = nil
		for _, failed := range sabir.CallStream[int](t.Context(), n, "vault.watch", sabir.Empty{}) {
			err = failed
		}
		if (err == nil) != test.open || err != nil && !errors.Is(err, sabir.ErrCallerRefused) {
			t.Errorf("%s opens a stream: %v", test.name, err)
		}
		if err := sabir.Emit(t.Context(), n, "vault.note", test.name); err != nil {
			t.Errorf("%s emits: %v", test.name, err)
		}
		got := ""
		if len(came) > 0 {
			got = <-came
		}
		if (got == test.name) != test.note || !log.has("node="+test.id, "action=vault.note", verdict[test.note]) {
			t.Errorf("%s emits: %q came", test.name, got)
		}
	}
}

func TestRulesGoByTheServiceThatCallsWhereItsNodeMaySpeakForIt(t *testing.T) {
	ca, log := newAuthority(t), &auditLog{}
	vault := vaultNode(t, ca, log, make(chan string, 10))
	orders := callerNode(t, ca, vault, "a", "orders-1", "")
	mallory := callerNode(t, ca, vault, "b", "mallory", "")
	for about, test := range map[string]struct {
		node   *sabir.Node
		action string
		want   bool
	}{
		"the service":                      {orders, "v2.billing.charge", true},
		"another service of the node":      {orders, "other-a.charge", false},
		"no service":                       {orders, "vault.charge", false},
		"a service that another node says": {mallory, "v2.billing.charge", false},
	} {
		_, err := sabir.Call[string](t.Context(), test.node, test.action, sabir.Empty{})
		if (err == nil) != test.want {
			t.Errorf("%s: %v", about, err)
		}
	}
	if !log.has("service=v2.billing", "action=vault.charge", "verdict=allowed") || !log.has("node=b", "mallory", "verdict=refused") {
		t.Error("the audit lacks a decision")
	}
}

func TestANodeWithRulesDoesNotJoinWhereNamesAreNotProven(t *testing.T) {
	ca := newAuthority(t)
	for name, join := range map[string]sabir.NodeOption{
		"without certificates":                       sabir.Join("tcp://127.0.0.1:0"),
		"over a transport whose links show no names": sabir.Join("https://127.0.0.1:0", cluster.Config{TLS: ca.config(t, "vault", "")}),
	} {
		t.Run(name, func(t *testing.T) {
			s := sabir.NewService("vault", sabir.Allow{Nodes: []string{"orders-*"}})
			sabir.Handle(s, "open", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil })
			n := sabir.NewNode(sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(s), join)
			if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "over tls:// or quic:// with cluster.Config.TLS") {
				n.Stop(context.Background())
				t.Errorf("%v", err)
			}
		})
	}
}

// A node that was taken over can say of its calls that they are anybody's, even the system's.
func TestPrincipalsAreTakenFromNodesThatVouchOnly(t *testing.T) {
	ca := newAuthority(t)
	for about, test := range map[string]struct {
		options []cluster.Option
		want    string
	}{
		"nobody was named":      {nil, ""},
		"the node was named":    {[]cluster.Option{cluster.Config{Vouchers: []string{"gateway-*", "orders-*"}}}, "ada"},
		"another one was named": {[]cluster.Option{cluster.Config{Vouchers: []string{"gateway-*"}}}, ""},
	} {
		vault := vaultNode(t, ca, &auditLog{}, make(chan string, 10), test.options...)
		n := callerNode(t, ca, vault, "a", "orders-1", "")
		got, err := sabir.Call[string](auth.As(t.Context(), auth.Principal{Subject: "ada"}), n, "vault.open", sabir.Empty{})
		if err != nil || got != test.want {
			t.Errorf("%s: %q, %v", about, got, err)
		}
	}
}

// files writes the certificate of a node with the DNS name, its key and the authority into files, and returns the TLS that follows them.
func (a *authority) files(t *testing.T, name string) *tls.Config {
	t.Helper()
	pair := a.config(t, name, "").Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	paths := map[string]string{}
	for file, block := range map[string]pem.Block{
		"node.crt": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]},
		"node.key": {Type: "PRIVATE KEY", Bytes: key},
		"ca.crt":   {Type: "CERTIFICATE", Bytes: a.certificate.Raw},
	} {
		paths[file] = filepath.Join(folder, file)
		if err := os.WriteFile(paths[file], pem.EncodeToMemory(&block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, err := tcp.Certificates(paths["node.crt"], paths["node.key"], paths["ca.crt"])
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestNamesInCertificateFilesAreProvenWhicheverNodeDials(t *testing.T) {
	ca := newAuthority(t)
	for _, dials := range []string{"orders-1", "vault"} {
		for _, scheme := range []string{"tls", "quic"} {
			t.Run(dials+" over "+scheme, func(t *testing.T) {
				open := sabir.NewAction[sabir.Empty, sabir.Empty]("vault.open")
				vault := sabir.NewService("vault", sabir.Allow{Nodes: []string{"orders-*"}})
				open.Handle(vault, func(context.Context, sabir.Empty) (none sabir.Empty, err error) { return none, nil })
				join := func(id string, seeds ...string) *sabir.Node {
					options := []sabir.NodeOption{sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)),
						sabir.Join(scheme+"://127.0.0.1:0", cluster.Config{TLS: ca.files(t, id), Seeds: seeds})}
					if id == "vault" {
						options = append(options, sabir.Serve(vault))
					}
					return startAllowed(t, sabir.NewNode(options...))
				}
				other := map[string]string{"orders-1": "vault", "vault": "orders-1"}[dials]
				nodes := map[string]*sabir.Node{other: join(other)}
				nodes[dials] = join(dials, nodes[other].Info().Addr)
				if _, err := open.Call(t.Context(), nodes["orders-1"], sabir.Empty{}, sabir.WaitForNode(10*time.Second)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
