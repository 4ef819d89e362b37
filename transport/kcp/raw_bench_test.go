package kcp_test

import (
	"net"
	"testing"

	"github.com/xtaci/kcp-go/v5"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

// BenchmarkRawBatchedEcho measures the library alone, as the reference for BenchmarkBatchedEcho.
func BenchmarkRawBatchedEcho(b *testing.B) {
	listener, err := kcp.ListenWithOptions("127.0.0.1:0", nil, 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server, err := listener.AcceptKCP()
		if err != nil {
			return
		}
		defer server.Close()
		tuneRaw(server)
		transporttest.AnswerBatches(server)
	}()
	client, err := kcp.DialWithOptions(listener.Addr().(*net.UDPAddr).String(), nil, 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	tuneRaw(client)
	transporttest.AskBatches(b, client)
	client.Close()
	listener.Close() // which ends what the server reads
	<-done
}

func tuneRaw(s *kcp.UDPSession) {
	//lint:ignore SA1019 there is no other way to have small writes share a packet
	s.SetStreamMode(true)
	s.SetWriteDelay(false)
	s.SetACKNoDelay(false)
	s.SetNoDelay(1, 10, 2, 1)
	s.SetWindowSize(640, 1280)
}

// BenchmarkBatchedEcho is the same over the transport's connections.
func BenchmarkBatchedEcho(b *testing.B) {
	transporttest.BenchmarkStream(b, "kcp://:0", transport.Config{})
}
