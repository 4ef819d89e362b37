package compress

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxValue bounds the memory of one decoded value; internal/wire takes no larger messages.
const maxValue = 1 << 30

// zstdMethod writes one frame of Zstandard (RFC 8878) for each value, as a single segment that announces its size.
type zstdMethod struct{}

func (zstdMethod) Compress(dst, src []byte) []byte { return encoder().EncodeAll(src, dst) }

func (zstdMethod) Size(src []byte) (uint64, error) {
	var header zstd.Header
	if err := header.Decode(src); err != nil {
		return 0, fmt.Errorf("a damaged zstd value: %w", err)
	}
	if !header.SingleSegment || header.Skippable || header.DictionaryID != 0 {
		return 0, errors.New("a zstd value that is not one segment with its size and without a dictionary")
	}
	return header.FrameContentSize, nil
}

func (zstdMethod) Decompress(dst, src []byte) ([]byte, error) { return decoder().DecodeAll(src, dst) }

// One encoder and one decoder serve all links. Each keeps the state of as many values at once as there are processors, makes
// it when it is first needed, and lets further callers wait.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil,
			zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)),
			zstd.WithWindowSize(1<<20),
			zstd.WithSingleSegment(true), // always contains the size
			zstd.WithEncoderCRC(false),   // what carries the link has checksums
			zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic("transport/compress: " + err.Error()) // the options above are wrong
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(runtime.GOMAXPROCS(0)),
			zstd.WithDecoderMaxMemory(maxValue),
			zstd.WithDecodeAllCapLimit(true), // so that a value longer than in its header allocates nothing
			zstd.WithDecoderLowmem(true))
		if err != nil {
			panic("transport/compress: " + err.Error()) // the options above are wrong
		}
		return d
	})
)
