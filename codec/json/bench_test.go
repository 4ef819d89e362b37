package json_test

import (
	stdjson "encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec/json"
)

func decodedUser(b *testing.B) *user {
	u := new(user)
	if err := json.Codec.Decode([]byte(userText), u); err != nil {
		b.Fatal(err)
	}
	return u
}

func BenchmarkAppendIntoReusedBuffer(b *testing.B) {
	u, buffer := decodedUser(b), make([]byte, 0, 1024)
	b.SetBytes(int64(len(userText)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := json.Codec.Append(buffer, u); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendIntoNewBuffer(b *testing.B) {
	u := decodedUser(b)
	b.SetBytes(int64(len(userText)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := json.Codec.Append(nil, u); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendEncodingJSON(b *testing.B) {
	u := decodedUser(b)
	b.SetBytes(int64(len(userText)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := stdjson.Marshal(u); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data := []byte(userText)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := json.Codec.Decode(data, new(user)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeEncodingJSON(b *testing.B) {
	data := []byte(userText)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := stdjson.Unmarshal(data, new(user)); err != nil {
			b.Fatal(err)
		}
	}
}

// A list long enough that brackets have to be followed one by one.
func BenchmarkDecodeList(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint(n, " users"), func(b *testing.B) {
			data := []byte("[" + strings.Repeat(userText+",", n-1) + userText + "]")
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := json.Codec.Decode(data, new([]user)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
