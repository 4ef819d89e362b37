package web

import (
	"strconv"
	"sync"
)

// buffer is a reusable slice for the input of one request.
type buffer struct{ bytes []byte }

const (
	firstBuffer = 4 << 10
	maxPooled   = 64 << 10 // larger buffers are left to the garbage collector
)

var bufferPool = sync.Pool{New: func() any { return &buffer{make([]byte, 0, firstBuffer)} }}

func takeBuffer() *buffer { return bufferPool.Get().(*buffer) }

func (b *buffer) put() {
	if cap(b.bytes) <= maxPooled {
		bufferPool.Put(b)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
