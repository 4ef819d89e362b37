package http_test

import (
	"bufio"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir/transport"
)

const (
	batch        = 25
	requestBatch = batch * 677
	replyBatch   = batch * 611
	inFlight     = 4 // batches, as 100 callers make them
)

// BenchmarkRawBatchedEcho is what links over this carrier are compared with: the WebSocket library alone, a frame for
// each batch.
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
		end := &frameEnd{raw: raw, in: bufio.NewReaderSize(raw, 64<<10)}
		serveBatches(end, end.write)
	}()
	raw, _, _, err := ws.Dial(b.Context(), "ws://"+listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer raw.Close()
	end := &frameEnd{raw: raw, in: bufio.NewReaderSize(raw, 64<<10), client: true}
	callBatches(b, end, end.write)
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

func (e *frameEnd) write(p []byte) error {
	h := ws.Header{Fin: true, OpCode: ws.OpBinary, Length: int64(len(p)), Masked: e.client}
	if e.client {
		h.Mask = ws.NewMask()
	}
	e.out = e.out[:0]
	if err := ws.WriteHeader(outOf{e}, h); err != nil {
		return err
	}
	at := len(e.out)
	e.out = append(e.out, p...)
	if e.client {
		ws.Cipher(e.out[at:], h.Mask, 0)
	}
	_, err := e.raw.Write(e.out)
	return err
}

type outOf struct{ end *frameEnd }

func (o outOf) Write(p []byte) (int, error) {
	o.end.out = append(o.end.out, p...)
	return len(p), nil
}

// BenchmarkBatchedEcho is the same over the transport's connections.
func BenchmarkBatchedEcho(b *testing.B) {
	l, err := transport.Listen(b.Context(), "http://:0", transport.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		serveBatches(conn, func(reply []byte) error {
			_, err := conn.Write(reply)
			return err
		})
	}()
	conn, err := transport.Dial(b.Context(), l.Addr(), transport.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	callBatches(b, conn, func(request []byte) error {
		_, err := conn.Write(request)
		return err
	})
}

// serveBatches answers each batch of requests with one of replies.
func serveBatches(in io.Reader, write func([]byte) error) {
	request, reply := make([]byte, requestBatch), make([]byte, replyBatch)
	for {
		if _, err := io.ReadFull(in, request); err != nil {
			return
		}
		if err := write(reply); err != nil {
			return
		}
	}
}

// callBatches keeps some batches in flight, and reports the calls in them.
func callBatches(b *testing.B, in io.Reader, write func([]byte) error) {
	turns := make(chan struct{}, inFlight)
	for range inFlight {
		turns <- struct{}{}
	}
	var reader sync.WaitGroup
	b.ResetTimer()
	reader.Go(func() {
		reply := make([]byte, replyBatch)
		for range b.N {
			if _, err := io.ReadFull(in, reply); err != nil {
				b.Error(err)
				return
			}
			turns <- struct{}{}
		}
	})
	request := make([]byte, requestBatch)
	for range b.N {
		<-turns
		if err := write(request); err != nil {
			b.Fatal(err)
		}
	}
	reader.Wait()
	b.ReportMetric(float64(b.N)*batch/b.Elapsed().Seconds(), "calls/s")
}
