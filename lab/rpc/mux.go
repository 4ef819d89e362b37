package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
	"github.com/sabir-go/sabir/lab/sockets"
)

// The bare multiplexer says what one connection with many callers can carry in Go when nothing else is done: no codec,
// no names, no deadlines, no errors, no limits; the server answers on the goroutine that reads. It is a limit, not a
// peer: no library that does a library's work can reach it.

func muxContenders() []work.Contender {
	return []work.Contender{bareMux("bare Go mux", "tcp"), bareMux("bare Go mux, unix", "unix")}
}

func bareMux(name, network string) work.Contender {
	return work.Contender{
		Name:  name,
		Serve: func(address string) (func(), error) { return sockets.AcceptEach(network, address, muxServe) },
		Dial: func(address string, callers int) (*work.Client, error) {
			conn, err := net.Dial(network, address)
			if err != nil {
				return nil, err
			}
			m := newMux(conn, callers)
			return &work.Client{Close: func() { conn.Close() }, Say: m.caller}, nil
		},
	}
}

// A frame is the length of its body, the caller's number and the body.
const (
	muxHeader = 8
	muxBuffer = 64 << 10
)

// mux is the client's side. A caller has one call at a time, so its number finds it.
type mux struct {
	conn  net.Conn
	slots []muxSlot

	lock    sync.Mutex
	pending []byte // frames that wait for the next write
	spare   []byte // the buffer of the last write
	writing bool   // a caller is writing, and will take what is pending too
}

type muxSlot struct {
	reply  []byte
	answer chan error
}

func newMux(conn net.Conn, callers int) *mux {
	m := &mux{conn: conn, slots: make([]muxSlot, callers)}
	for i := range m.slots {
		m.slots[i] = muxSlot{make([]byte, message.RequestBytes), make(chan error, 1)}
	}
	go m.read()
	return m
}

func (m *mux) caller(caller int) work.RoundTrip {
	slot, request := &m.slots[caller], message.NewBytes(message.RequestBytes)
	return func(sequence int, full bool) error {
		message.MarkBytes(request, caller, sequence)
		if err := m.send(caller, request); err != nil {
			return err
		}
		if err := <-slot.answer; err != nil {
			return err
		}
		return message.CheckBytes(request, slot.reply, full)
	}
}

// send adds a frame to what is pending. Whoever finds nobody writing writes for all, after one yield in which the others
// that are ready add theirs.
func (m *mux) send(caller int, body []byte) error {
	m.lock.Lock()
	m.pending = appendFrame(m.pending, caller, body)
	if m.writing {
		m.lock.Unlock()
		return nil
	}
	m.writing = true
	m.lock.Unlock()
	runtime.Gosched()
	m.lock.Lock()
	for len(m.pending) > 0 {
		batch := m.pending
		m.pending = m.spare[:0]
		m.lock.Unlock()
		_, err := m.conn.Write(batch)
		m.lock.Lock()
		m.spare = batch
		if err != nil {
			m.writing = false
			m.lock.Unlock()
			return err
		}
	}
	m.writing = false
	m.lock.Unlock()
	return nil
}

func (m *mux) read() {
	in := bufio.NewReaderSize(m.conn, muxBuffer)
	for {
		caller, body, err := nextFrame(in)
		if err == nil && (caller >= len(m.slots) || len(body) != message.RequestBytes) {
			err = fmt.Errorf("a frame for caller %d with %d bytes", caller, len(body))
		}
		if err != nil {
			for i := range m.slots {
				select {
				case m.slots[i].answer <- err:
				default:
				}
			}
			return
		}
		copy(m.slots[caller].reply, body)
		in.Discard(muxHeader + len(body))
		m.slots[caller].answer <- nil
	}
}

// muxServe sends every frame back and writes when its read buffer holds no further whole frame.
func muxServe(conn net.Conn) {
	in := bufio.NewReaderSize(conn, muxBuffer)
	var out []byte
	for {
		caller, body, err := nextFrame(in)
		if err != nil {
			return
		}
		out = appendFrame(out, caller, body)
		in.Discard(muxHeader + len(body))
		if wholeFrameWaits(in) {
			continue
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
		out = out[:0]
	}
}

func appendFrame(dst []byte, caller int, body []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(body)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(caller))
	return append(dst, body...)
}

// nextFrame returns the next frame without taking it out of the buffer.
func nextFrame(in *bufio.Reader) (caller int, body []byte, err error) {
	head, err := in.Peek(muxHeader)
	if err != nil {
		return 0, nil, err
	}
	size := int(binary.LittleEndian.Uint32(head))
	if size > muxBuffer-muxHeader {
		return 0, nil, fmt.Errorf("a frame of %d bytes: %w", size, io.ErrShortBuffer)
	}
	frame, err := in.Peek(muxHeader + size)
	if err != nil {
		return 0, nil, err
	}
	return int(binary.LittleEndian.Uint32(frame[4:])), frame[muxHeader:], nil
}

func wholeFrameWaits(in *bufio.Reader) bool {
	if in.Buffered() < muxHeader {
		return false
	}
	head, err := in.Peek(muxHeader)
	return err == nil && in.Buffered() >= muxHeader+int(binary.LittleEndian.Uint32(head))
}
