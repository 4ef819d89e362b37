package gomicro

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"io"
)

// Deflate compresses a text by zlib and writes it in hexadecimal, as go-micro's registries over mDNS and Consul have what they say of nodes.
func Deflate(text []byte) string {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	w.Write(text) // into memory
	w.Close()
	return hex.EncodeToString(packed.Bytes())
}

// Inflate reads what Deflate wrote, up to MaxService bytes.
func Inflate(text string) ([]byte, error) {
	packed, err := hex.DecodeString(text)
	if err != nil {
		return nil, err
	}
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, MaxService+1))
	if err != nil {
		return nil, err
	}
	if len(plain) > MaxService {
		return nil, fmt.Errorf("the record has more than %d bytes", MaxService)
	}
	return plain, nil
}
