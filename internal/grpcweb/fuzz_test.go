package grpcweb

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// FuzzText decodes bodies of application/grpc-web-text that come in parts. What is base64 in one part is the same in two, and nothing
// that ends within a group is taken.
func FuzzText(f *testing.F) {
	f.Add([]byte("AAAAAAIIAQ=="), 4)
	f.Add([]byte("AAA=AA=="), 3)
	f.Add([]byte("####"), 1)
	f.Fuzz(func(t *testing.T, body []byte, size int) {
		read := func(text []byte) ([]byte, error) {
			size := 1 + max(0, size)%1024
			return io.ReadAll(&textReader{ReadCloser: io.NopCloser(iotest.DataErrReader(&inParts{text, size})), notText: errors.New("not in base64")})
		}
		got, err := read([]byte(base64.StdEncoding.EncodeToString(body)))
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%q was read as %q, %v", body, got, err)
		}
		if got, err := read(body); err == nil && (len(body)%4 != 0 || len(got) > len(body)/4*3) {
			t.Fatalf("%q was read as %q", body, got)
		}
	})
}

// inParts reads a text in parts of some bytes.
type inParts struct {
	text []byte
	size int
}

func (r *inParts) Read(p []byte) (int, error) {
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.size)], r.text)
	r.text = r.text[n:]
	return n, nil
}
