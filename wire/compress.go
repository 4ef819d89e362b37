package wire

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// maxRatio is how many times larger than its compressed form a value may be. A reader refuses more before it makes room, so
// that what a peer can make it hold stays in proportion to what the peer sends. A writer leaves such values as they are.
const maxRatio = 256

// compress appends the compressed form of src to dst, which must not overlap it. Where that would not be smaller, or too
// small for maxRatio, it returns dst and false: src is to be sent as it is. Safe for any number of goroutines at once.
func (c Compression) compress(dst, src []byte) ([]byte, bool) {
	start := len(dst)
	var out []byte
	switch c {
	case S2:
		most := s2.MaxEncodedLen(len(src))
		if most < 0 {
			return dst, false
		}
		out = slices.Grow(dst, most)
		out = out[:start+len(s2.Encode(out[start:start+most], src))]
	case Zstd:
		out = zstdEncoder().EncodeAll(src, dst)
	default:
		return dst, false
	}
	if size := len(out) - start; size >= len(src) || len(src) > maxRatio*size {
		return out[:start], false
	}
	return out, true
}

// decompress appends what compress made of a value of at most most bytes to dst, which must not overlap src. How long the
// value is stands in front of src, and is checked against most, maxRatio and afterwards what really came out. After an error
// the bytes of dst are as before. Safe for any number of goroutines at once.
func (c Compression) decompress(dst, src []byte, most int) ([]byte, error) {
	size, err := c.decompressedSize(src)
	if err != nil {
		return dst, err
	}
	if size > uint64(max(most, 0)) {
		return dst, fmt.Errorf("wire: a %s value of %d bytes, at most %d are accepted", c, size, most)
	}
	if size > uint64(len(src))*maxRatio {
		return dst, fmt.Errorf("wire: a %s value of %d bytes in %d, at most %d times as many are accepted", c, size, len(src), maxRatio)
	}

	start, end := len(dst), len(dst)+int(size)
	grown := slices.Grow(dst, int(size))
	room := grown[start:start:end]
	var out []byte
	if c == S2 {
		out, err = s2.Decode(room[:size], src)
	} else {
		out, err = zstdDecoder().DecodeAll(src, room)
	}
	if err != nil {
		return dst, fmt.Errorf("wire: a damaged %s value: %w", c, err)
	}
	if uint64(len(out)) != size {
		return dst, fmt.Errorf("wire: a damaged %s value: %d bytes instead of %d", c, len(out), size)
	}
	copy(grown[start:end], out) // costs nothing where out is room, as both libraries have it
	return grown[:end], nil
}

// decompressedSize is the size that src says of itself.
func (c Compression) decompressedSize(src []byte) (uint64, error) {
	switch c {
	case S2:
		size, err := s2.DecodedLen(src)
		if err != nil || size < 0 {
			return 0, fmt.Errorf("wire: an s2 value that does not say its size: %w", s2.ErrCorrupt)
		}
		return uint64(size), nil
	case Zstd:
		var header zstd.Header
		if err := header.Decode(src); err != nil {
			return 0, fmt.Errorf("wire: a damaged zstd value: %w", err)
		}
		if !header.SingleSegment || header.Skippable || header.DictionaryID != 0 {
			return 0, fmt.Errorf("wire: a zstd value that is not one segment with its size and without a dictionary")
		}
		return header.FrameContentSize, nil
	}
	return 0, fmt.Errorf("wire: a compressed value, and no compression was agreed on")
}

// One encoder and one decoder serve all links: each holds the state of as many values at once as there are processors, made
// when first needed, and lets others wait.
var (
	zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil,
			zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)),
			zstd.WithWindowSize(1<<20),
			zstd.WithSingleSegment(true), // always says the size
			zstd.WithEncoderCRC(false),   // what carries the link has checksums
			zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic("wire: " + err.Error()) // the options above are wrong
		}
		return e
	})
	zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(runtime.GOMAXPROCS(0)),
			zstd.WithDecoderMaxMemory(MaxMessage),
			zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderLowmem(true))
		if err != nil {
			panic("wire: " + err.Error()) // the options above are wrong
		}
		return d
	})
)
