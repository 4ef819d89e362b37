package http_test

import (
	"bufio"
	"io"
	"net"
	"testing"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

// BenchmarkRawBatchedEcho is the reference for links over this carrier: the WebSocket library alone, a frame for each batch.
func BenchmarkRawBatchedEcho(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	go func() {
		raw, err := listener.Accept()
		if err != nil {
			return
		}
		defer raw.Close()
		if _, err := ws.Upgrade(raw); err != nil {
			b.Error(err)
			return
		}
		transporttest.AnswerBatches(&frameEnd{raw: raw, in: bufio.NewReaderSize(raw, 64<<10)})
	}()
	raw, _, _, err := ws.Dial(b.Context(), "ws://"+listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer raw.Close()
	transporttest.AskBatches(b, &frameEnd{raw: raw, in: bufio.NewReaderSize(raw, 64<<10), client: true})
}

// frameEnd is one side of a WebSocket whose messages are one frame each.
type frameEnd struct {
	raw    net.Conn
	in     *bufio.Reader
	client bool
	out    []byte
}

func (e *frameEnd) Read(p []byte) (int, error) {
	h, err := ws.ReadHeader(e.in)
	if err != nil {
		return 0, err
	}
	n, err := io.ReadFull(e.in, p[:h.Length])
	if h.Masked {
		ws.Cipher(p[:n], h.Mask, 0)
	}
	return n, err
}

func (e *frameEnd) Write(p []byte) (int, error) {
	h := ws.Header{Fin: true, OpCode: ws.OpBinary, Length: int64(len(p)), Masked: e.client}
	if e.client {
		h.Mask = ws.NewMask()
	}
	e.out = e.out[:0]
	if err := ws.WriteHeader(outOf{e}, h); err != nil {
		return 0, err
	}
	at := len(e.out)
	e.out = append(e.out, p...)
	if e.client {
		ws.Cipher(e.out[at:], h.Mask, 0)
	}
	_, err := e.raw.Write(e.out)
	return len(p), err
}

type outOf struct{ end *frameEnd }

func (o outOf) Write(p []byte) (int, error) {
	o.end.out = append(o.end.out, p...)
	return len(p), nil
}

// BenchmarkBatchedEcho is the same over the transport's connections.
func BenchmarkBatchedEcho(b *testing.B) {
	transporttest.BenchmarkStream(b, "http://:0", transport.Config{})
}
