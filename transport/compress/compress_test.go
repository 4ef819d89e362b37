package compress_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/sabir-go/sabir/internal/compression"
	_ "github.com/sabir-go/sabir/transport/compress"
)

// maxMessage is the largest message that links take.
const maxMessage = 1 << 30

var compressions = []string{"s2", "zstd"}

// orders is text that compresses about as well as JSON and structs with strings do.
func orders(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"id":%d,"customer":"c-%d","city":"Genoa","items":[%d,%d],"paid":%t}`, i*7919, i*i%977, i%13, i%7, i%3 == 0)
	}
	return b.Bytes()[:size]
}

func TestCompressedValueComesBackBehindWhatWasInTheBuffer(t *testing.T) {
	for _, c := range compressions {
		for _, size := range []int{300, 4 << 10, 64<<10 + 1, 3 << 20} {
			t.Run(fmt.Sprint(c, "/", size), func(t *testing.T) {
				value := orders(size)
				packed, smaller := compression.Compress(c, []byte("head"), value)
				if !smaller || !bytes.HasPrefix(packed, []byte("head")) || len(packed) > len(value)*2/3 {
					t.Fatalf("compress: smaller %t, %d bytes of %d", smaller, len(packed), len(value))
				}
				got, err := compression.Decompress(c, []byte("before"), packed[4:], size)
				if err != nil || !bytes.Equal(got, append([]byte("before"), value...)) {
					t.Fatalf("decompress: %d bytes, error %v", len(got), err)
				}
			})
		}
	}
}

func TestValueThatDoesNotGetSmallerIsLeftAsItIs(t *testing.T) {
	noise := make([]byte, 8<<10)
	rand.Read(noise)
	for _, c := range append(compressions, "") {
		for name, value := range map[string][]byte{"noise": noise, "empty": {}} {
			if out, smaller := compression.Compress(c, []byte("head"), value); smaller || string(out) != "head" {
				t.Errorf("%q, %s: smaller %t, buffer %q", c, name, smaller, out)
			}
		}
	}
}

func TestValueThatWouldLookLikeABombIsLeftAsItIs(t *testing.T) {
	zeros := make([]byte, 4<<20)
	for _, c := range compressions {
		packed, smaller := compression.Compress(c, nil, zeros)
		if !smaller {
			continue
		}
		if _, err := compression.Decompress(c, nil, packed, len(zeros)); err != nil {
			t.Errorf("%s sends what it would not take: %v", c, err)
		}
	}
	if _, smaller := compression.Compress("zstd", nil, zeros); smaller {
		t.Error("zstd makes zeros smaller than compression.MaxRatio allows, and they were sent so")
	}
}

// TestDecompressRefuses holds also that nothing was allocated: a refusal allocates far less than what was announced.
func TestDecompressRefuses(t *testing.T) {
	value := orders(64 << 10)
	s2Value, _ := compression.Compress("s2", nil, value)
	zstdValue, _ := compression.Compress("zstd", nil, value)
	zeros := make([]byte, 64<<20)
	streaming, err := zstd.NewWriter(nil, zstd.WithSingleSegment(false), zstd.WithWindowSize(1<<10))
	if err != nil {
		t.Fatal(err)
	}
	oneSegment, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
	if err != nil {
		t.Fatal(err)
	}
	packedZeros := oneSegment.EncodeAll(zeros, nil)
	for _, tc := range []struct {
		name string
		c    string
		data []byte
		most int
		want string
	}{
		{"s2 above the limit", "s2", s2Value, len(value) - 1, "at most 65535 are accepted"},
		{"zstd above the limit", "zstd", zstdValue, len(value) - 1, "at most 65535 are accepted"},
		{"s2 announcing 1 GiB in few bytes", "s2", []byte{0x80, 0x80, 0x80, 0x80, 0x04, 0, 'a'}, maxMessage, "at most 256 times"},
		{"s2 bomb", "s2", s2.Encode(nil, zeros), 32 << 20, "at most 33554432 are accepted"},
		{"zstd bomb", "zstd", packedZeros, maxMessage, "at most 256 times"},
		{"s2 cut short", "s2", s2Value[:len(s2Value)-3], maxMessage, "damaged s2"},
		{"zstd cut short", "zstd", zstdValue[:len(zstdValue)-3], maxMessage, "damaged zstd"},
		{"zstd twice", "zstd", append(zstdValue[:len(zstdValue):len(zstdValue)], zstdValue...), maxMessage, "damaged zstd"},
		{"zstd without a size", "zstd", streaming.EncodeAll(value, nil), maxMessage, "not one segment"},
		{"zstd skippable frame", "zstd", []byte{0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 7}, maxMessage, "not one segment"},
		{"s2 empty", "s2", nil, maxMessage, "does not say its size"},
		{"zstd empty", "zstd", nil, maxMessage, "damaged zstd"},
		{"nothing agreed on", "", s2Value, maxMessage, "no compression was agreed on"},
		{"a limit below zero", "s2", s2Value, -1, "at most -1 are accepted"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := compression.Decompress(tc.c, []byte("kept"), tc.data, tc.most)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want one with %q", err, tc.want)
			}
			if string(got) != "kept" {
				t.Fatalf("the buffer became %d bytes", len(got))
			}
			if strings.Contains(tc.name, "bomb") || strings.Contains(tc.name, "announcing") {
				if grown := allocated(func() { compression.Decompress(tc.c, nil, tc.data, tc.most) }); grown > 1<<20 {
					t.Errorf("refusing took %d bytes of memory", grown)
				}
			}
		})
	}
}

// allocated is the number of bytes that f allocates, and whatever else runs meanwhile.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// FuzzDecompress holds that a value that is accepted is within the limit and what was announced, and that what is not leaves
// the buffer alone.
func FuzzDecompress(f *testing.F) {
	for _, size := range []int{0, 1, 300, 5000} {
		value := orders(size)
		f.Add(true, 1<<16, s2.Encode(nil, value))
		packed, _ := compression.Compress("zstd", nil, value)
		f.Add(false, 1<<16, packed)
	}
	f.Add(true, maxMessage, []byte{0x80, 0x80, 0x80, 0x80, 0x04, 0, 'a'})
	f.Add(false, maxMessage, []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0x0b, 0, 0, 0})
	f.Fuzz(func(t *testing.T, fast bool, most int, data []byte) {
		c := "zstd"
		if fast {
			c = "s2"
		}
		most = min(most, 16<<20)
		got, err := compression.Decompress(c, []byte("kept"), data, most)
		if !bytes.HasPrefix(got, []byte("kept")) || err != nil && len(got) != 4 {
			t.Fatalf("the buffer became %d bytes, error %v", len(got), err)
		}
		if err != nil {
			return
		}
		value := got[4:]
		if len(value) > max(most, 0) || len(value) > compression.MaxRatio*len(data) {
			t.Fatalf("%d bytes out of %d, the limit is %d", len(value), len(data), most)
		}
		packed, smaller := compression.Compress(c, nil, value)
		if !smaller {
			return
		}
		if again, err := compression.Decompress(c, nil, packed, len(value)); err != nil || !bytes.Equal(again, value) {
			t.Fatalf("not the same after compressing it anew: %v", err)
		}
	})
}

func BenchmarkCompress(b *testing.B) {
	for _, c := range compressions {
		for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%dKiB", c, size>>10), func(b *testing.B) {
				value := orders(size)
				var packed []byte
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					packed, _ = compression.Compress(c, packed[:0], value)
				}
				b.ReportMetric(float64(size)/float64(len(packed)), "ratio")
			})
		}
	}
}

func BenchmarkDecompress(b *testing.B) {
	for _, c := range compressions {
		for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%dKiB", c, size>>10), func(b *testing.B) {
				packed, _ := compression.Compress(c, nil, orders(size))
				var value []byte
				var err error
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if value, err = compression.Decompress(c, value[:0], packed, size); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
