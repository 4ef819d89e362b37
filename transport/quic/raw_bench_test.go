package quic_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"testing"

	"github.com/quic-go/quic-go"

	"github.com/sabir-go/sabir/transport/transporttest"
)

// BenchmarkRawBatchedEcho is what the library itself reaches with 100 messages under way: 4 batches of 25 messages, each
// batch one write of 25 x 677 bytes that is answered by one of 25 x 611.
func BenchmarkRawBatchedEcho(b *testing.B) {
	const frames, request, reply, under = 25, 677, 611, 4
	client, server := rawPair(b)
	done := make(chan error, 1)
	go func() {
		in, out := make([]byte, frames*request), make([]byte, frames*reply)
		for {
			if _, err := io.ReadFull(server, in); err != nil {
				done <- err
				return
			}
			if _, err := server.Write(out); err != nil {
				done <- err
				return
			}
		}
	}()
	out, in := make([]byte, frames*request), make([]byte, frames*reply)
	batches := 0
	for range under {
		if _, err := client.Write(out); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := io.ReadFull(client, in); err != nil {
			b.Fatal(err)
		}
		if _, err := client.Write(out); err != nil {
			b.Fatal(err)
		}
		batches++
	}
	b.ReportMetric(float64(frames*batches)/b.Elapsed().Seconds(), "messages/s")
	client.Close()
	if err := <-done; !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		b.Error(err)
	}
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
