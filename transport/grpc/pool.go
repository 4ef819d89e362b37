package grpc

import "sync"

// pool is the buffers of messages that are sent. gRPC's own has none between 32 KiB and 1 MiB, and clears each before use.
var pool = &buffers{tiers: [...]tier{{size: 4 << 10}, {size: 16 << 10}, {size: largestSent}}}

// buffers implements mem.BufferPool for what Send asks for.
type buffers struct{ tiers [3]tier }

type tier struct {
	size int
	free sync.Pool
}

// Get returns a buffer of that many bytes, at most largestSent, that may hold anything.
func (b *buffers) Get(length int) *[]byte {
	for i := range b.tiers {
		t := &b.tiers[i]
		if length > t.size {
			continue
		}
		buf, ok := t.free.Get().(*[]byte)
		if !ok {
			fresh := make([]byte, t.size)
			buf = &fresh
		}
		*buf = (*buf)[:length]
		return buf
	}
	buf := make([]byte, length)
	return &buf
}

// Put takes a buffer back.
func (b *buffers) Put(buf *[]byte) {
	for i := range b.tiers {
		if cap(*buf) == b.tiers[i].size {
			b.tiers[i].free.Put(buf)
			return // it may be another's by now
		}
	}
}
