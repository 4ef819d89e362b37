package rpc_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/protobuf"
)

// webFrame is a message as gRPC-Web frames it.
func webFrame(t *testing.T, value any) []byte {
	t.Helper()
	message, err := protobuf.Codec.Append(nil, value)
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// askWeb sends the body of a call over gRPC-Web.
func askWeb(t *testing.T, url, kind string, body []byte) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "POST", url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", kind)
	request.Header.Set("X-Request-Id", "same")
	response, err := client(t, true).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, answer
}

// decodeParts decodes base64 whose parts have padding of their own.
func decodeParts(t *testing.T, text []byte) (decoded []byte) {
	t.Helper()
	for i := 0; i < len(text); i += 4 {
		part, err := base64.StdEncoding.DecodeString(string(text[i:min(i+4, len(text))]))
		if err != nil {
			t.Fatalf("%q at %d: %v", text, i, err)
		}
		decoded = append(decoded, part...)
	}
	return decoded
}

// npm's grpc-web and protobuf-ts send it unless they are told otherwise.
func TestGRPCWebInBase64IsThatInBytes(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	for method, in := range map[string]any{"Add": &sumIn{1, 2}, "Count": &sumIn{1, 40}, "Buy": &sabir.Empty{}, "SignUp": &signUp{}, "Repeat": &sumIn{A: 100_000}, "None": &sabir.Empty{}} {
		for _, suffix := range []string{"", "+proto"} {
			body := webFrame(t, in)
			text := base64.StdEncoding.EncodeToString(body)
			if len(body) > 4 { // in two parts
				text = base64.StdEncoding.EncodeToString(body[:4]) + base64.StdEncoding.EncodeToString(body[4:])
			}
			plain, want := askWeb(t, url+"/test.v1.Calc/"+method, "application/grpc-web"+suffix, body)
			encoded, got := askWeb(t, url+"/test.v1.Calc/"+method, "application/grpc-web-text"+suffix, []byte(text))
			if kind := encoded.Header.Get("Content-Type"); method != "None" && kind != "application/grpc-web-text"+suffix {
				t.Errorf("%s: the answer is %q", method, kind)
			}
			if encoded.StatusCode != plain.StatusCode || encoded.Header.Get("Grpc-Status") != plain.Header.Get("Grpc-Status") {
				t.Errorf("%s: %s %v, in bytes %s %v", method, encoded.Status, encoded.Header, plain.Status, plain.Header)
			}
			if decoded := decodeParts(t, got); !bytes.Equal(sortedTrailers(decoded), sortedTrailers(want)) {
				t.Errorf("%s: %q, in bytes %q", method, decoded, want)
			}
		}
	}
}

// sortedTrailers returns an answer whose last frame, of trailers, has its lines in order.
func sortedTrailers(answer []byte) []byte {
	for rest := answer; len(rest) >= 5; {
		size := int(binary.BigEndian.Uint32(rest[1:5]))
		if rest[0]&0x80 != 0 {
			lines := strings.SplitAfter(string(rest[5:]), "\r\n")
			slices.Sort(lines)
			return append(bytes.Clone(answer[:len(answer)-len(rest)+5]), strings.Join(lines, "")...)
		}
		rest = rest[min(5+size, len(rest)):]
	}
	return answer
}

func TestWhatIsNoBase64IsRefused(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()})
	for _, body := range []string{"AAA", "####", "AA=A", "AAAAAAQ=\nAA=="} {
		response, answer := askWeb(t, url+"/test.v1.Calc/Add", "application/grpc-web-text", []byte(body))
		if status := response.Header.Get("Grpc-Status"); status != "3" {
			t.Errorf("%q: %s %v %q", body, response.Status, response.Header, answer)
		}
	}
}

func TestAStreamOfGRPCWebInBase64ComesAsItIsSent(t *testing.T) {
	s := sabir.NewService("steps")
	next := make(chan struct{})
	sabir.HandleStream(s, "take", func(ctx context.Context, stream *sabir.Stream[sabir.Empty, text]) error {
		for _, say := range []string{"a", "be", "see"} { // each with another padding
			if err := stream.Send(text{say}); err != nil {
				return err
			}
			select {
			case <-next:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}, sabir.ServerStream())
	url, _ := serve(t, []sabir.Servable{s})
	request, err := http.NewRequestWithContext(t.Context(), "POST", url+"/steps.Steps/Take", strings.NewReader("AAAAAAA="))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/grpc-web-text")
	response, err := client(t, true).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for _, say := range []string{"a", "be", "see"} {
		want := base64.StdEncoding.EncodeToString(webFrame(t, &text{say}))
		got := make([]byte, len(want))
		if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
		next <- struct{}{}
	}
	rest, err := io.ReadAll(response.Body)
	if trailers := decodeParts(t, rest); err != nil || !bytes.Contains(trailers, []byte("grpc-status: 0")) {
		t.Errorf("%q %v", trailers, err)
	}
}
