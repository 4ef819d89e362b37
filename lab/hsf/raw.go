package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
)

// The bare echo has frames of a length and a call's number, and as many bytes as the values have in the codec; nothing reads or
// writes values. Both sides write what is there in one go.

// headBytes is the length of the number and of what comes after, 4 bytes, and the number, 8.
const headBytes = 12

// rawSizes are the bytes of the values in a request, its method's name included, and in a reply.
var rawSizes = map[string]map[string][2]int{
	"json":    {ping: {6, 6}, parse: {24, len(wantedJSON)}, noError: {9, 4}, asyncError: {12, 40}, panics: {7, 40}},
	"hessian": {ping: {6, 5}, parse: {24, 156}, noError: {9, 3}, asyncError: {12, 40}, panics: {7, 40}},
}

// rawCallers is the greatest number of callers.
const rawCallers = 256

func serveRaw(address string, _ Setting) (func(), error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerRaw(conn)
		}
	}()
	return func() { listener.Close() }, nil
}

// answerRaw reads the size of replies and then requests; replies are written when no more requests have come.
func answerRaw(conn net.Conn) {
	defer conn.Close()
	in, out := bufio.NewReaderSize(conn, 64<<10), bufio.NewWriterSize(conn, 64<<10)
	var size [4]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return
	}
	reply := make([]byte, headBytes+binary.LittleEndian.Uint32(size[:]))
	binary.LittleEndian.PutUint32(reply, uint32(len(reply)-4))
	for {
		head, err := in.Peek(headBytes)
		if err != nil {
			return
		}
		copy(reply[4:], head[4:headBytes])
		if _, err := in.Discard(4 + int(binary.LittleEndian.Uint32(head))); err != nil {
			return
		}
		if _, err := out.Write(reply); err != nil {
			return
		}
		if in.Buffered() == 0 && out.Flush() != nil {
			return
		}
	}
}

// rawConn is one of the client's connections.
type rawConn struct {
	conn    net.Conn
	waiting []chan int // by the caller: the length of the reply's value
	gone    chan struct{}

	lock    sync.Mutex
	frames  []byte // not written yet
	spare   []byte
	writing bool
}

func dialRaw(address, method string, connections int, s Setting) (*client, error) {
	sizes, known := rawSizes[s.Codec][method]
	if !known {
		return nil, fmt.Errorf("no sizes are known of %q in %q", method, s.Codec)
	}
	var all []*rawConn
	closing := sync.OnceFunc(func() {
		for _, c := range all {
			c.conn.Close()
		}
	})
	for range max(connections, 1) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_, err = conn.Write(binary.LittleEndian.AppendUint32(nil, uint32(sizes[1])))
		}
		if err != nil {
			closing()
			return nil, err
		}
		c := &rawConn{conn: conn, waiting: make([]chan int, rawCallers), gone: make(chan struct{})}
		for i := range c.waiting {
			c.waiting[i] = make(chan int, 1)
		}
		all = append(all, c)
		go c.read()
	}
	return &client{close: closing, call: func(caller int) func(bool) error {
		c := all[caller%len(all)]
		value := make([]byte, sizes[0])
		return func(bool) error { return c.call(caller, value, sizes[1]) }
	}}, nil
}

func (c *rawConn) call(caller int, value []byte, want int) error {
	if err := c.write(uint64(caller), value); err != nil {
		return err
	}
	select {
	case got := <-c.waiting[caller]:
		if got != want {
			return errShape
		}
		return nil
	case <-c.gone:
		return errors.New("the connection broke")
	}
}

// write leaves the frame to who writes already, or writes it with all that others leave meanwhile.
func (c *rawConn) write(id uint64, value []byte) error {
	c.lock.Lock()
	c.frames = binary.LittleEndian.AppendUint32(c.frames, uint32(headBytes-4+len(value)))
	c.frames = append(binary.LittleEndian.AppendUint64(c.frames, id), value...)
	if c.writing {
		c.lock.Unlock()
		return nil
	}
	c.writing = true
	c.lock.Unlock()
	runtime.Gosched() // the others' requests come along
	for {
		c.lock.Lock()
		frames := c.frames
		if len(frames) == 0 {
			c.writing = false
			c.lock.Unlock()
			return nil
		}
		c.frames, c.spare = c.spare[:0], frames
		c.lock.Unlock()
		if _, err := c.conn.Write(frames); err != nil {
			return err
		}
	}
}

func (c *rawConn) read() {
	defer close(c.gone)
	in := bufio.NewReaderSize(c.conn, 64<<10)
	for {
		head, err := in.Peek(headBytes)
		if err != nil {
			return
		}
		length, id := int(binary.LittleEndian.Uint32(head)), binary.LittleEndian.Uint64(head[4:])
		if id >= uint64(len(c.waiting)) {
			return
		}
		if _, err := in.Discard(4 + length); err != nil {
			return
		}
		c.waiting[id] <- length - (headBytes - 4)
	}
}
