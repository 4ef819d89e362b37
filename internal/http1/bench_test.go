package http1

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/sabir-go/sabir/web/exchange"
)

const benchBody = `{"id":42,"name":"Ada Lovelace","email":"ada@example.com","age":36}`

const benchRequest = "POST /users/update HTTP/1.1\r\nHost: localhost:3000\r\nContent-Type: application/json\r\nContent-Length: 66\r\n\r\n" + benchBody

func echo(x *exchange.Exchange) {
	x.Type = "application/json"
	x.Out = append(x.Out, x.Body...)
}

// The client's side is in these figures, about half of them.
func BenchmarkServe(b *testing.B) {
	for _, pipelined := range []int{1, 10} {
		b.Run(fmt.Sprintf("pipelined=%d", pipelined), func(b *testing.B) {
			_, addr := serve(b, &handler{take: func(*exchange.Exchange) bool { return true }, serve: echo})
			const clients = 32
			requests := []byte(strings.Repeat(benchRequest, pipelined))
			first := dial(b, addr)
			first.send(benchRequest)
			answer := make([]byte, 4<<10)
			size, err := first.Conn.Read(answer)
			if err != nil {
				b.Fatal(err)
			}
			conns := make([]net.Conn, clients)
			for i := range conns {
				conns[i] = dial(b, addr)
			}
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for _, c := range conns {
				wg.Go(func() {
					answers := make([]byte, size*pipelined)
					for range b.N / clients / pipelined {
						if _, err := c.Write(requests); err != nil {
							b.Error(err)
							return
						}
						if _, err := io.ReadFull(c, answers); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for about, request := range map[string]string{
		"small": benchRequest,
		"browser": "POST /users/update HTTP/1.1\r\nHost: localhost:3000\r\nConnection: keep-alive\r\nContent-Length: 66\r\nsec-ch-ua: \"Chromium\";v=\"130\"\r\n" +
			"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36\r\nContent-Type: application/json\r\n" +
			"Accept: */*\r\nOrigin: http://localhost:3000\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nReferer: http://localhost:3000/\r\n" +
			"Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-GB,en;q=0.9\r\n\r\n",
	} {
		b.Run(about, func(b *testing.B) {
			var x exchange.Exchange
			in := []byte(request)
			b.ReportAllocs()
			for b.Loop() {
				x.Reset()
				if _, v := parse(in, &x); v != whole {
					b.Fatal(v)
				}
			}
		})
	}
}

func BenchmarkAppendAnswer(b *testing.B) {
	s := NewServer(Config{Handler: &handler{}})
	x := exchange.Exchange{Type: "application/json", ID: "0123456789abcdef", Out: []byte(benchBody)}
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out, _ = s.appendResponse(out[:0], &x, false)
	}
}
