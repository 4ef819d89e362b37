package utp_test

import (
	"io"
	"testing"

	"github.com/anacrolix/utp"
)

// BenchmarkRawBatchedEcho is what the library itself reaches with 100 messages under way: 4 batches of 25 messages, each
// batch one write of 25 x 677 bytes that is answered by one of 25 x 611.
func BenchmarkRawBatchedEcho(b *testing.B) {
	const frames, request, reply, under = 25, 677, 611, 4
	listener, err := utp.NewSocket("udp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	dialler, err := utp.NewSocket("udp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server, err := listener.Accept()
		if err != nil {
			return
		}
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
	client, err := dialler.Dial(listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
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
	dialler.CloseNow()
	listener.CloseNow()
	<-done
}
