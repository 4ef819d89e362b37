// Package compression knows the compression methods that a program links. Package transport/compress registers them when it
// is imported, so that programs whose links compress nothing, which are most, do not carry the library that does it.
package compression

import (
	"fmt"
	"slices"
	"sync"
)

// Method compresses one value at a time. All methods are safe for concurrent use.
type Method interface {
	// Compress appends the compressed form of src to dst, which must not overlap it. For a src that it cannot compress it
	// returns dst.
	Compress(dst, src []byte) []byte

	// Size returns how many bytes src announces that it decompresses to. It reads the beginning of src only, so the caller
	// can refuse a value before anything is allocated for it.
	Size(src []byte) (uint64, error)

	// Decompress appends the decompressed src to dst. The caller has checked Size and gives a dst with that capacity; a value that
	// turns out longer is an error and never makes it allocate more.
	Decompress(dst, src []byte) ([]byte, error)
}

var (
	mu      sync.RWMutex
	methods = make(map[string]Method)
)

// Register makes a method available under a name. It panics where the name is taken, since two packages then disagree on
// what the bytes of a link mean.
func Register(name string, m Method) {
	mu.Lock()
	defer mu.Unlock()
	if methods[name] != nil {
		panic("compression: " + name + " is registered twice")
	}
	methods[name] = m
}

// Lookup returns the method of that name, nil if the program does not link it.
func Lookup(name string) Method {
	mu.RLock()
	defer mu.RUnlock()
	return methods[name]
}

// MaxRatio is the ratio of a value's size to its compressed size at most. A reader refuses more before it allocates, so
// that what a peer can make it hold stays in proportion to what the peer sends. A writer leaves such values as they are.
const MaxRatio = 256

// Compress appends the form of src that the method of that name makes of it to dst, which must not overlap it. Where that would not be smaller, or too
// small for MaxRatio, it returns dst and false: src is to be sent as it is. Safe for any number of goroutines at once.
func Compress(name string, dst, src []byte) ([]byte, bool) {
	method := Lookup(name)
	if method == nil {
		return dst, false
	}
	start := len(dst)
	out := method.Compress(dst, src)
	if size := len(out) - start; size == 0 || size >= len(src) || len(src) > MaxRatio*size {
		return out[:start], false
	}
	return out, true
}

// Decompress appends the value that Compress compressed to dst, which must not overlap src. The value may have at most most
// bytes. Its length stands in front of src, and is checked against most, MaxRatio and afterwards the real length. After an
// error the bytes of dst are as before. Safe for any number of goroutines at once.
func Decompress(name string, dst, src []byte, most int) ([]byte, error) {
	method := Lookup(name)
	if method == nil {
		return dst, fmt.Errorf("a compressed value, and no compression was agreed on")
	}
	size, err := method.Size(src)
	if err != nil {
		return dst, fmt.Errorf("%w", err)
	}
	if size > uint64(max(most, 0)) {
		return dst, fmt.Errorf("a %s value of %d bytes, at most %d are accepted", name, size, most)
	}
	if size > uint64(len(src))*MaxRatio {
		return dst, fmt.Errorf("a %s value of %d bytes in %d, at most %d times as many are accepted", name, size, len(src), MaxRatio)
	}

	start, end := len(dst), len(dst)+int(size)
	grown := slices.Grow(dst, int(size))
	out, err := method.Decompress(grown[start:start:end], src)
	if err != nil {
		return dst, fmt.Errorf("a damaged %s value: %w", name, err)
	}
	if uint64(len(out)) != size {
		return dst, fmt.Errorf("a damaged %s value: %d bytes instead of %d", name, len(out), size)
	}
	copy(grown[start:end], out) // costs nothing where out is grown's own memory, as both methods have it
	return grown[:end], nil
}
