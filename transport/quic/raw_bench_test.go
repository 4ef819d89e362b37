package quic_test

import (
	"context"
	"crypto/tls"
	"io"
	"testing"

	"github.com/quic-go/quic-go"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

// BenchmarkRawBatchedEcho measures the library alone, as the reference for BenchmarkBatchedEcho.
func BenchmarkRawBatchedEcho(b *testing.B) {
	client, server := rawPair(b)
	done := make(chan struct{})
	go func() {
		defer close(done)
		transporttest.AnswerBatches(server)
	}()
	transporttest.AskBatches(b, client)
	client.Close()
	<-done
}

// rawPair is both ends of one stream of the library.
func rawPair(b *testing.B) (client, server *quic.Stream) {
	b.Helper()
	files := transporttest.NewAuthority(b, "test authority").Issue(b, b.TempDir(), "127.0.0.1")
	certificate, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		b.Fatal(err)
	}
	protocols := []string{"raw"}
	listener, err := quic.ListenAddr("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: protocols}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { listener.Close() })
	accepted := make(chan *quic.Stream, 1)
	go func() {
		defer close(accepted)
		conn, err := listener.Accept(context.Background())
		if err != nil {
			return
		}
		if stream, err := conn.AcceptStream(context.Background()); err == nil {
			accepted <- stream
		}
	}()
	conn, err := quic.DialAddr(b.Context(), listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: protocols}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.CloseWithError(0, "") })
	if client, err = conn.OpenStream(); err != nil {
		b.Fatal(err)
	}
	if _, err := client.Write([]byte("x")); err != nil {
		b.Fatal(err)
	}
	if server = <-accepted; server == nil {
		b.Fatal("nothing was accepted")
	}
	if _, err := io.ReadFull(server, make([]byte, 1)); err != nil {
		b.Fatal(err)
	}
	return client, server
}

// BenchmarkBatchedEcho is the same over the transport's connections.
func BenchmarkBatchedEcho(b *testing.B) {
	transporttest.BenchmarkStream(b, "quic://:0", transport.Config{})
}
