package utp_test

import (
	"testing"

	"github.com/anacrolix/utp"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

// BenchmarkRawBatchedEcho measures the library alone, as the reference for BenchmarkBatchedEcho.
func BenchmarkRawBatchedEcho(b *testing.B) {
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
		transporttest.AnswerBatches(server)
	}()
	client, err := dialler.Dial(listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	transporttest.AskBatches(b, client)
	dialler.CloseNow()
	listener.CloseNow()
	<-done
}

// BenchmarkBatchedEcho is the same over the transport's connections.
func BenchmarkBatchedEcho(b *testing.B) {
	transporttest.BenchmarkStream(b, "utp://:0", transport.Config{})
}
