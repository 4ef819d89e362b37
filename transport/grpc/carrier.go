package grpc

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

const (
	// largestSent and largestReceived bound a message in bytes.
	largestSent     = 64 << 10
	largestReceived = 128 << 10
)

// codec passes bytes through.
type codec struct{}

// message is bytes of a received message.
type message struct{ data mem.BufferSlice }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	data, ok := v.(mem.BufferSlice)
	if !ok {
		return nil, fmt.Errorf("a %T is not bytes", v)
	}
	return data, nil
}

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(*message)
	if !ok {
		return fmt.Errorf("a %T does not take bytes", v)
	}
	data.Ref() // gRPC frees its own
	m.data = data
	return nil
}

func (codec) Name() string { return "sabir" }

// stream has the methods common to the streams of client and server.
type stream interface {
	SendMsg(m any) error
	RecvMsg(m any) error
}

// carrier is one side of a stream, without its end.
type carrier struct {
	stream stream
	in     *mem.Reader // of a message that was not read whole
}

func (c *carrier) Read(p []byte) (int, error) {
	for c.in == nil || c.in.Remaining() == 0 {
		c.free()
		var m message
		if err := c.stream.RecvMsg(&m); err != nil {
			return 0, err
		}
		c.in = m.data.Reader()
		m.data.Free() // the reader has its own
	}
	return c.in.Read(p)
}

func (c *carrier) free() {
	if c.in != nil {
		c.in.Close()
		c.in = nil
	}
}

// Send copies, for gRPC writes after SendMsg has returned.
func (c *carrier) Send(parts [][]byte) error {
	total := 0
	for _, part := range parts {
		total += len(part)
	}
	at, from := 0, 0 // where to go on: parts[at][from:]
	for total > 0 {
		size := min(total, largestSent)
		buf := pool.Get(size)
		for filled := 0; filled < size; {
			n := copy((*buf)[filled:size], parts[at][from:])
			filled, from = filled+n, from+n
			if from == len(parts[at]) {
				at, from = at+1, 0
			}
		}
		total -= size
		if err := c.stream.SendMsg(mem.BufferSlice{mem.NewBuffer(buf, pool)}); err != nil {
			return err
		}
	}
	return nil
}
