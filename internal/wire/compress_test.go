package wire

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"runtime"

	"github.com/sabir-go/sabir/internal/compression"
)

// deflate stands for the methods that package transport/compress registers. The tests of this package do not use those,
// because "go mod tidy" of each program that imports sabir would download the library behind them.
type deflate struct{}

func init() {
	compression.Register(string(S2), deflate{})
	compression.Register(string(Zstd), deflate{})
}

func (deflate) Compress(dst, src []byte) []byte {
	out := bytes.NewBuffer(binary.AppendUvarint(dst, uint64(len(src))))
	w, _ := flate.NewWriter(out, flate.BestSpeed) // the level is one that there is
	w.Write(src)                                  // a buffer takes everything
	w.Close()
	return out.Bytes()
}

func (deflate) Size(src []byte) (uint64, error) {
	size, n := binary.Uvarint(src)
	if n <= 0 {
		return 0, errors.New("no size")
	}
	return size, nil
}

func (deflate) Decompress(dst, src []byte) ([]byte, error) {
	_, n := binary.Uvarint(src)
	out := bytes.NewBuffer(dst)
	_, err := io.Copy(out, flate.NewReader(bytes.NewReader(src[n:])))
	return out.Bytes(), err
}

// allocated is the number of bytes that f allocates, and whatever else runs meanwhile.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
