package h2_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/sabir-go/sabir/transport"
)

const (
	batch        = 25
	requestBatch = batch * 677
	replyBatch   = batch * 611
	inFlight     = 4 // batches, as 100 callers make them
)

// BenchmarkRawBatchedEcho is what links over this carrier are compared with: net/http alone, a write for each batch.
func BenchmarkRawBatchedEcho(b *testing.B) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	settings := &http.HTTP2Config{MaxReadFrameSize: 256 << 10, MaxReceiveBufferPerConnection: 1 << 20, MaxReceiveBufferPerStream: 1 << 20}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		control.Flush()
		serveBatches(r.Body, func(reply []byte) error {
			if _, err := w.Write(reply); err != nil {
				return err
			}
			return control.Flush()
		})
	}))
	server.Config.Protocols, server.Config.HTTP2 = protocols, settings
	server.Start()
	defer server.Close()
	client := &http.Transport{Protocols: protocols, HTTP2: settings}
	defer client.CloseIdleConnections()
	body, out := io.Pipe()
	defer out.Close()
	request, _ := http.NewRequest(http.MethodPost, server.URL, body)
	response, err := client.RoundTrip(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	callBatches(b, response.Body, func(request []byte) error {
		_, err := out.Write(request)
		return err
	})
}

// BenchmarkBatchedEcho is the same over the transport's connections.
func BenchmarkBatchedEcho(b *testing.B) {
	l, err := transport.Listen(b.Context(), "h2c://:0", transport.Config{})
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
