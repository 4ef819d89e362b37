package grpc_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/transport"
)

func listen(t *testing.T, address string, config transport.Config) (transport.Listener, string) {
	t.Helper()
	l, err := transport.Listen(t.Context(), address, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	u, _ := schemes.Parse(l.Addr())
	return l, u.Host
}

func TestDiallingWhatIsNoNodeSaysWhatAnswers(t *testing.T) {
	foreign, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	go server.Serve(foreign)
	defer server.Stop()
	_, err = transport.Dial(t.Context(), "grpc://"+foreign.Addr().String(), transport.Config{})
	if err == nil || !strings.Contains(err.Error(), "unknown service sabir.Link") {
		t.Errorf("a server of other services: %v", err)
	}

	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	address := "grpc://" + web.Listener.Addr().String()
	if _, err = transport.Dial(t.Context(), address, transport.Config{}); err == nil || !strings.Contains(err.Error(), address) {
		t.Errorf("a web server of HTTP/1.1: %v", err)
	}

	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	_, err = transport.Dial(t.Context(), "grpc://"+mute.Addr().String(), transport.Config{DialTimeout: 50 * time.Millisecond})
	if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
		t.Errorf("a server that says nothing: %v", err)
	}
}

func TestASilentStrangerIsCutOff(t *testing.T) {
	brokers.Long(t)
	t.Parallel() // it takes the five seconds that a handshake may take
	_, host := listen(t, "grpc://:0", transport.Config{})
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Errorf("the connection was not closed: %v", err)
	}
}

func TestAMessageOfAStrangerIsBounded(t *testing.T) {
	l, host := listen(t, "grpc://:0", transport.Config{})
	client, err := grpc.NewClient("passthrough:///"+host, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s, err := client.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/sabir.Link/Connect", grpc.ForceCodecV2(bytesCodec{}))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	for _, size := range []int{128 << 10, 128<<10 + 1} {
		if err := s.SendMsg(mem.BufferSlice{mem.SliceBuffer(make([]byte, size))}); err != nil {
			t.Fatal(err)
		}
	}
	n, err := io.Copy(io.Discard, conn)
	if n != 128<<10 || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("%d bytes came, then %v", n, err)
	}
}

func TestCertificatesAreNotTakenInTheClear(t *testing.T) {
	config := mutualTLS(t)
	_, listening := transport.Listen(t.Context(), "grpc://:0", config)
	_, dialling := transport.Dial(t.Context(), "grpc://127.0.0.1:1", config)
	_, without := transport.Listen(t.Context(), "grpc+tls://:0", transport.Config{})
	for err, want := range map[error]string{listening: "grpc+tls://", dialling: "grpc+tls://", without: "certificate"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one that names %s", err, want)
		}
	}
}

func TestTLSAgreesOnHTTP2(t *testing.T) {
	config := mutualTLS(t)
	_, host := listen(t, "grpc+tls://:0", config)
	offered := config.TLS.Clone()
	offered.NextProtos = []string{"http/1.1", "h2"}
	offered.ServerName = "127.0.0.1"
	verify := offered.VerifyConnection
	offered.VerifyConnection = func(state tls.ConnectionState) error {
		state.ServerName = "127.0.0.1"
		return verify(state)
	}
	conn, err := tls.Dial("tcp", host, offered)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if agreed := conn.ConnectionState().NegotiatedProtocol; agreed != "h2" {
		t.Errorf("agreed on %q", agreed)
	}
}
