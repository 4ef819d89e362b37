package rpc_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/protobuf"
)

// postFrames sends bytes as a request of gRPC and returns the answer with its body read.
func postFrames(t *testing.T, connection *http.Client, url string, body io.Reader, headers map[string]string) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "POST", url, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer, err := connection.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, got
}

// framed is a message of gRPC with its envelope.
func framed(t *testing.T, message any) []byte {
	t.Helper()
	out, err := protobuf.Codec.Append(make([]byte, 5), message)
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint32(out[1:], uint32(len(out)-5))
	return out
}

// inPieces gives one byte with each read, so that a request has as many frames of HTTP/2.
type inPieces struct{ io.Reader }

func (p inPieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(1, len(b))]) }

// Short messages that come whole are served in another way than all others, of which a caller may notice nothing.
func TestAMessageOfAnyLengthIsReadHoweverItsBytesCome(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	connection := client(t, false)
	for _, size := range []int{0, 1, 1000, 8<<10 - 10, 8<<10 - 9, 8<<10 - 8, 8<<10 - 7, 8 << 10, 100_000} {
		sent := framed(t, text{strings.Repeat("é", size/2) + strings.Repeat("x", size%2)})
		bodies := map[string]io.Reader{"whole": bytes.NewReader(sent), "without a length": struct{ io.Reader }{bytes.NewReader(sent)}}
		if size <= 1000 {
			bodies["in pieces"] = inPieces{bytes.NewReader(sent)}
		}
		for about, body := range bodies {
			answer, got := postFrames(t, connection, url+"/test.v1.Calc/Echo", body, nil)
			if status := answer.Trailer.Get("Grpc-Status"); status != "0" || !bytes.Equal(got, sent) {
				t.Errorf("%d bytes %s: status %q, %d bytes of %d", size, about, status, len(got), len(sent))
			}
			if kind := answer.Header.Get("Content-Type"); kind != "application/grpc" {
				t.Errorf("%d bytes %s: the content type is %q", size, about, kind)
			}
		}
		for about, body := range map[string][]byte{"twice": append(sent, sent...), "with a byte behind it": append(sent, 0)} {
			answer, _ := postFrames(t, connection, url+"/test.v1.Calc/Echo", bytes.NewReader(body), nil)
			if status := answer.Header.Get("Grpc-Status"); status != "12" && status != "13" {
				t.Errorf("%d bytes %s: status %q", size, about, status)
			}
		}
	}
}

func TestATimeLimitOfGRPCIsReadInEachUnit(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	connection := client(t, false)
	for limit, want := range map[string]string{
		"20m": "4", "20000u": "4", "20000000n": "4", "1n": "4", "0m": "4", "0S": "4",
		"x": "3", "5": "3", "5x": "3", "-5m": "3", "+5m": "4", "999999999m": "3", "m": "3",
	} {
		answer, _ := postFrames(t, connection, url+"/test.v1.Calc/Wait", bytes.NewReader(make([]byte, 5)), map[string]string{"Grpc-Timeout": limit})
		if status := answer.Header.Get("Grpc-Status") + answer.Trailer.Get("Grpc-Status"); status != want {
			t.Errorf("%s: status %q, want %s", limit, status, want)
		}
	}
	for _, limit := range []string{"1H", "99999999H", "5M", "99999999S", "60S"} {
		answer, _ := postFrames(t, connection, url+"/test.v1.Calc/Add", bytes.NewReader(framed(t, sumIn{1, 2})), map[string]string{"Grpc-Timeout": limit})
		if status := answer.Trailer.Get("Grpc-Status"); status != "0" {
			t.Errorf("%s: status %q", limit, status)
		}
	}
}

func TestAnAnswerFromAKibibyteOnIsCompressedForThoseWhoReadGzip(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	connection := client(t, false)
	for _, test := range []struct {
		accepted   string
		size       int
		compressed bool
	}{
		{"", 5000, false}, {"identity", 5000, false}, {"deflate,identity", 5000, false}, {"gzip", 500, false}, {"x-gzip", 5000, false},
		{"gzip", 5000, true}, {"identity, deflate, gzip", 5000, true}, {"gzip,deflate", 100_000, true},
	} {
		about := fmt.Sprintf("%d bytes for %q", test.size, test.accepted)
		answer, got := postFrames(t, connection, url+"/test.v1.Calc/Repeat", bytes.NewReader(framed(t, sumIn{A: int64(test.size)})), map[string]string{"Grpc-Accept-Encoding": test.accepted})
		if status := answer.Trailer.Get("Grpc-Status"); status != "0" || len(got) < 5 {
			t.Errorf("%s: status %q, %d bytes", about, status, len(got))
			continue
		}
		if size := binary.BigEndian.Uint32(got[1:]); int(size) != len(got)-5 || (got[0] == 1) != test.compressed {
			t.Errorf("%s: an envelope of %v before %d bytes", about, got[:5], len(got)-5)
		}
		message := got[5:]
		if test.compressed {
			if answer.Header.Get("Grpc-Encoding") != "gzip" {
				t.Errorf("%s: headers %v", about, answer.Header)
			}
			z, err := gzip.NewReader(bytes.NewReader(message))
			if err != nil {
				t.Fatal(err)
			}
			if message, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		var repeated text
		if err := protobuf.Codec.Decode(message, &repeated); err != nil || repeated.Text != strings.Repeat("x", test.size) {
			t.Errorf("%s: %d letters, %v", about, len(repeated.Text), err)
		}
	}
}
