package mesh

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/internal/wire"
)

// lines is a log that a test reads while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestRefusalsAreLoggedOnceASecondForEachCause(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var log lines
		a := startLogging(t, "a", &log)
		for second := range 3 {
			for range 1000 { // which say nothing: all but the last 256 of them are closed for those that follow
				conn, err := a.dialConn(t.Context(), a.OwnAddress())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
			}
			time.Sleep(time.Second)
			bubbletest.Wait()
			if got := strings.Count(log.String(), "\n"); got > 2*(second+1) {
				t.Fatalf("logged %d lines of %d refusals in %d seconds:\n%s", got, 1000*(second+1), second+1, log.String())
			}
		}
		if got := sumOf(log.String()); got != 3000-maxPendingHandshakes {
			t.Errorf("the log counts %d refusals, want %d:\n%s", got, 3000-maxPendingHandshakes, log.String())
		}
	})
}

// sumOf adds up the refusals of a log: lines of one, and those that count more.
func sumOf(log string) (sum int) {
	for line := range strings.Lines(log) {
		var n int
		if _, counted, ok := strings.Cut(line, "count="); ok {
			fmt.Sscan(counted, &n)
		} else if strings.Contains(line, "connection refused") {
			n = 1
		}
		sum += n
	}
	return sum
}

func startLogging(t *testing.T, id string, log io.Writer) *Mesh {
	m, err := New(&host{}, Config{Node: id, Info: Info{Instance: instances.Add(1)}, Log: slog.New(slog.NewTextHandler(log, nil)),
		Address: "mem://" + t.Name(), Config: joining.Config{Cluster: "default", Connections: 1}})
	if err == nil {
		err = m.Listen(t.Context())
	}
	if err == nil {
		err = m.Enter(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop(t, m)
		time.Sleep(10 * time.Second) // probes of gossip end after that
	})
	return m
}

func TestAnOrdinaryEndOfAConnectionIsNotLogged(t *testing.T) {
	for what, err := range map[string]error{
		"the other side closed it":    &wire.HandshakeError{Reason: wire.ReasonLost, Err: io.EOF},
		"the dial was given up":       &wire.HandshakeError{Reason: wire.ReasonCanceled, Err: context.Canceled},
		"the node dialled itself":     &wire.HandshakeError{Reason: wire.ReasonSelf},
		"one of the two nodes leaves": &wire.HandshakeError{Reason: wire.ReasonRefused, ByPeer: true},
	} {
		var log lines
		m := &Mesh{log: slog.New(slog.NewTextHandler(&log, nil))}
		m.refusals.log = m.log
		one, two := net.Pipe()
		m.refused(one, err)
		one.Close()
		two.Close()
		if log.String() != "" {
			t.Errorf("%s: %s", what, log.String())
		}
	}
}

func TestARefusalThatAnOperatorMustKnowIsLogged(t *testing.T) {
	for _, reason := range []wire.Reason{wire.ReasonKey, wire.ReasonCluster, wire.ReasonSameNode, wire.ReasonVersion, wire.ReasonTimeout} {
		var log lines
		m := &Mesh{log: slog.New(slog.NewTextHandler(&log, nil))}
		m.refusals.log = m.log
		one, two := net.Pipe()
		m.refused(one, &wire.HandshakeError{Reason: reason})
		one.Close()
		two.Close()
		if !strings.Contains(log.String(), string(reason)) {
			t.Errorf("%s: logged %q", reason, log.String())
		}
	}
}

// handshakeOfTLS returns the errors of both sides where the client does not accept the server's certificate.
func handshakeOfTLS(t *testing.T) (client, server error) {
	t.Helper()
	files := transporttest.NewAuthority(t, "one").Issue(t, t.TempDir(), "server")
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	ended := make(chan error, 1)
	go func() { ended <- tls.Server(far, &tls.Config{Certificates: []tls.Certificate{pair}}).Handshake() }()
	client = tls.Client(near, &tls.Config{ServerName: "server", RootCAs: x509.NewCertPool()}).Handshake()
	return client, <-ended
}

func TestARefusalForACertificateNamesTheSideWhoseItIs(t *testing.T) {
	client, server := handshakeOfTLS(t)
	for want, err := range map[string]error{
		"this node does not accept the certificate of the other": client,
		"it may not accept the certificate of this node":         server,
	} {
		var log lines
		m := &Mesh{log: slog.New(slog.NewTextHandler(&log, nil))}
		m.refusals.log = m.log
		one, two := net.Pipe()
		m.refused(one, &wire.HandshakeError{Reason: wire.ReasonLost, Err: err})
		one.Close()
		two.Close()
		if !strings.Contains(log.String(), want) {
			t.Errorf("%v: logged %q, want %q", err, log.String(), want)
		}
	}
}

func TestANewerNodesKindOfConnectionIsNoWarning(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var log lines
		a := startLogging(t, "a", &log)
		config := a.wire
		config.Node = "newer"
		for range 2 {
			conn, err := a.dialConn(t.Context(), a.OwnAddress())
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := wire.Handshake(t.Context(), conn, config, true, "holograms"); err == nil {
				t.Error("a kind of connection that nobody knows is served")
			}
			conn.Close()
		}
		time.Sleep(2 * time.Second)
		bubbletest.Wait()
		if got := log.String(); strings.Contains(got, "WARN") || strings.Count(got, causeNewer) != 2 {
			t.Errorf("the log says\n%s", got)
		}
	})
}
