package httpstream_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpstream"
)

// tick is a small value as streams often have it.
type tick struct {
	Symbol string  `json:"symbol"`
	Price  float64 `json:"price"`
	Volume int     `json:"volume"`
}

// bench serves an action that sends b.N values, one that takes what comes, and their likes for bytes.
func bench(b *testing.B, settings ...setting) *served {
	block := make([]byte, 32<<10)
	all := sabir.NewService("b")
	sabir.HandleStream(all, "ticks", func(_ context.Context, s *sabir.Stream[number, tick]) error {
		in, err := s.Recv()
		for i := 0; err == nil && i < in.N; i++ {
			err = s.Send(tick{"ACME", 12.25, i})
		}
		return err
	})
	sabir.HandleStream(all, "take", func(_ context.Context, s *sabir.Stream[tick, number]) error {
		n := 0
		for _, err := range s.All() {
			if err != nil {
				return err
			}
			n++
		}
		return s.Send(number{n})
	})
	sabir.HandleStream(all, "blocks", func(_ context.Context, s *sabir.Stream[number, []byte]) error {
		in, err := s.Recv()
		for i := 0; err == nil && i < in.N; i++ {
			err = s.Send(block)
		}
		return err
	})
	swallow := func(_ context.Context, s *sabir.Stream[[]byte, number]) error {
		n := 0
		for part, err := range s.All() {
			if err != nil {
				return err
			}
			n += len(part)
		}
		return s.Send(number{n})
	}
	sabir.HandleStream(all, "swallow", swallow)
	sabir.HandleStream(all, "borrow", swallow, sabir.Use(httpstream.ReuseUploadBuffers()))
	s := serve(b, patient, settings...)
	if err := s.node.Add(context.Background(), all); err != nil {
		b.Fatal(err)
	}
	return s
}

func benchAnswer(b *testing.B, path, accept string, settings ...setting) int64 {
	s := bench(b, settings...)
	b.ReportAllocs()
	b.ResetTimer()
	answer := s.ask(b, "POST", path, `{"n":`+itoa(b.N)+`}`, "Content-Type", jsonBody, "Accept", accept)
	buf := make([]byte, 256<<10)
	var size int64
	for {
		n, err := answer.Body.Read(buf)
		size += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	return size
}

func itoa(n int) string { return string(appendInt(nil, n)) }

func appendInt(dst []byte, n int) []byte {
	if n >= 10 {
		dst = appendInt(dst, n/10)
	}
	return append(dst, byte('0'+n%10))
}

func BenchmarkValues(b *testing.B) {
	b.Run("sse", func(b *testing.B) { benchAnswer(b, "/b.ticks", sseAccept) })
	b.Run("ndjson", func(b *testing.B) { benchAnswer(b, "/b.ticks", linesBody) })
	b.Run("ndjson-h2", func(b *testing.B) { benchAnswer(b, "/b.ticks", linesBody, http2) })
	b.Run("websocket", func(b *testing.B) {
		s := bench(b)
		b.ReportAllocs()
		p := s.open(b, "/b.ticks")
		b.ResetTimer()
		p.say(`{"value":{"n":` + itoa(b.N) + `}}`)
		r := bufio.NewReaderSize(p.r, 64<<10)
		for range b.N {
			h, err := ws.ReadHeader(r)
			if err == nil {
				_, err = r.Discard(int(h.Length))
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		p.conn.Close()
	})
}

func BenchmarkInputs(b *testing.B) {
	b.Run("ndjson", func(b *testing.B) {
		s := bench(b)
		lines := bytes.Repeat([]byte(`{"symbol":"ACME","price":12.25,"volume":1}`+"\n"), b.N)
		b.ReportAllocs()
		b.ResetTimer()
		answer := s.askWith(b, "POST", "/b.take", bytes.NewReader(lines), "Content-Type", linesBody, "Accept", jsonBody)
		if text := readAll(b, answer); text != `{"n":`+itoa(b.N)+`}` {
			b.Fatal(text)
		}
	})
	b.Run("websocket", func(b *testing.B) {
		s := bench(b)
		var frame bytes.Buffer
		ws.WriteFrame(&frame, ws.MaskFrame(ws.NewTextFrame([]byte(`{"value":{"symbol":"ACME","price":12.25,"volume":1}}`))))
		frames := bytes.Repeat(frame.Bytes(), b.N)
		p := s.open(b, "/b.take")
		b.ReportAllocs()
		b.ResetTimer()
		p.conn.Write(frames)
		p.say(`{"end":true}`)
		p.want(`{"value":{"n":` + itoa(b.N) + `}}`)
	})
}

func BenchmarkBytes(b *testing.B) {
	b.Run("download", func(b *testing.B) {
		b.SetBytes(32 << 10)
		benchAnswer(b, "/b.blocks", "")
	})
	b.Run("download-net/http", func(b *testing.B) { // what a handler of net/http does on the same machine
		s := bench(b, func(_ *served, w *httptest.Server) {
			w.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				block := make([]byte, 32<<10)
				for range b.N {
					w.Write(block)
				}
			})
		})
		b.SetBytes(32 << 10)
		b.ResetTimer()
		answer := s.ask(b, "GET", "/", "")
		io.CopyBuffer(struct{ io.Writer }{io.Discard}, answer.Body, make([]byte, 256<<10))
	})
	upload := func(path string) func(b *testing.B) {
		return func(b *testing.B) {
			s := bench(b, func(_ *served, w *httptest.Server) {
				inner := w.Config.Handler
				w.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/raw" {
						inner.ServeHTTP(w, r)
						return
					}
					io.CopyBuffer(struct{ io.Writer }{io.Discard}, r.Body, make([]byte, 32<<10))
				})
			})
			b.SetBytes(32 << 10)
			b.ReportAllocs()
			b.ResetTimer()
			body := io.LimitReader(endless{make([]byte, 256<<10)}, int64(b.N)*32<<10)
			r, err := http.NewRequest("POST", s.web.URL+path, body)
			if err != nil {
				b.Fatal(err)
			}
			r.ContentLength = int64(b.N) * 32 << 10
			r.Header.Set("Content-Type", bytesBody)
			answer, err := s.web.Client().Do(r)
			if err != nil {
				b.Fatal(err)
			}
			readAll(b, answer)
			answer.Body.Close()
		}
	}
	b.Run("upload", upload("/b.swallow"))
	b.Run("upload-borrow", upload("/b.borrow"))
	b.Run("upload-net/http", upload("/raw"))
}

type endless struct{ block []byte }

func (e endless) Read(p []byte) (int, error) { return copy(p, e.block), nil }
