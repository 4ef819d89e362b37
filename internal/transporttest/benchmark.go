package transporttest

import (
	"io"
	"net"
	"testing"

	"github.com/sabir-go/sabir/transport"
)

// Benchmark measures a transport in one process: "echo" sends 677 bytes and waits for them to come back, one after the
// other, and "stream" writes 64 KiB at a time to a peer that only reads.
func Benchmark(b *testing.B, listen string, config transport.Config) {
	b.Run("echo", func(b *testing.B) {
		c := benchmarkPeer(b, listen, config, func(peer net.Conn) { io.CopyBuffer(bare{peer}, bare{peer}, make([]byte, 4096)) })
		message := make([]byte, 677)
		b.ReportAllocs()
		b.SetBytes(int64(len(message)))
		for b.Loop() {
			if _, err := c.Write(message); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(c, message); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("stream", func(b *testing.B) {
		c := benchmarkPeer(b, listen, config, func(peer net.Conn) {
			buffer := make([]byte, 64<<10)
			for {
				if _, err := peer.Read(buffer); err != nil {
					return
				}
			}
		})
		block := make([]byte, 64<<10)
		b.ReportAllocs()
		b.SetBytes(int64(len(block)))
		for b.Loop() {
			if _, err := c.Write(block); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// bare hides the shortcuts inside the kernel (splice) that io.Copy would take, and that a link cannot.
type bare struct{ io.ReadWriter }

func benchmarkPeer(b *testing.B, listen string, config transport.Config, serve func(net.Conn)) net.Conn {
	b.Helper()
	l, err := transport.Listen(b.Context(), listen, config)
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		peer, err := l.Accept()
		if err != nil {
			return
		}
		defer peer.Close()
		serve(peer)
	}()
	b.Cleanup(func() { <-served })
	b.Cleanup(func() { l.Close() })
	c, err := transport.Dial(b.Context(), l.Addr(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}
