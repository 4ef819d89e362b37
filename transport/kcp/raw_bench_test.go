package kcp_test

import (
	"io"
	"net"
	"testing"

	"github.com/xtaci/kcp-go/v5"
)

// BenchmarkRawBatchedEcho is what the library itself reaches with 100 messages under way: 4 batches of 25 messages, each
// batch one write of 25 x 677 bytes that is answered by one of 25 x 611.
func BenchmarkRawBatchedEcho(b *testing.B) {
	const frames, request, reply, under = 25, 677, 611, 4
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
		in, out := make([]byte, frames*request), make([]byte, frames*reply)
		for {
			if _, err := io.ReadFull(server, in); err != nil {
				return
			}
			if _, err := server.Write(out); err != nil {
				return
			}
		}
	}()
	client, err := kcp.DialWithOptions(listener.Addr().(*net.UDPAddr).String(), nil, 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	tuneRaw(client)
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
