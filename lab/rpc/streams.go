package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// streams is a library that carries bytes: what the contenders that use it bare have in common.
type streams struct {
	// serve accepts connections and runs handle on a goroutine for each.
	serve func(address string, handle func(io.ReadWriter)) (stop func(), err error)
	// dial opens n connections, or n streams in one.
	dial func(address string, n int) (all []io.ReadWriter, stop func(), err error)
}

// asStreams is connections as what they are used for.
func asStreams[T io.ReadWriter](conns []T) []io.ReadWriter {
	all := make([]io.ReadWriter, len(conns))
	for i, conn := range conns {
		all[i] = conn
	}
	return all
}

// serveConns runs handle on a goroutine for each connection of a listener, until it is closed.
func serveConns(accept func() (io.ReadWriter, error), handle func(io.ReadWriter)) {
	for {
		conn, err := accept()
		if err != nil {
			return
		}
		go handle(conn)
	}
}

// dialAll opens n connections or none.
func dialAll[T io.ReadWriteCloser](n int, dial func() (T, error)) ([]io.ReadWriter, func(), error) {
	var conns []T
	closeConns := func() {
		for _, conn := range conns {
			conn.Close()
		}
	}
	for range n {
		conn, err := dial()
		if err != nil {
			closeConns()
			return nil, nil, err
		}
		conns = append(conns, conn)
	}
	return asStreams(conns), closeConns, nil
}

// bare has a stream for each caller, on which a message has its length ahead.
func (s streams) bare(name string) work.Contender {
	return work.Contender{
		Name:  name,
		Serve: func(address string) (func(), error) { return s.serve(address, serveFrames) },
		Dial: func(address string, callers int) (*work.Client, error) {
			all, stop, err := s.dial(address, callers)
			if err != nil {
				return nil, err
			}
			return &work.Client{Close: stop, Say: func(caller int) work.RoundTrip {
				return work.ProtoSay(frames(all[caller]))(caller)
			}}, nil
		},
	}
}

// frameLimit is far more than any message here has.
const frameLimit = 1 << 20

const frameHead = 4

func writeFrame(to io.Writer, buffer []byte, m *message.Proto) ([]byte, error) {
	buffer, err := proto.MarshalOptions{}.MarshalAppend(append(buffer[:0], make([]byte, frameHead)...), m)
	if err != nil {
		return buffer, err
	}
	binary.LittleEndian.PutUint32(buffer, uint32(len(buffer)-frameHead))
	_, err = to.Write(buffer)
	return buffer, err
}

func readFrame(from io.Reader, buffer []byte) (*message.Proto, []byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, buffer, err
	}
	size := int(binary.LittleEndian.Uint32(head[:]))
	if size > frameLimit {
		return nil, buffer, fmt.Errorf("a frame of %d bytes", size)
	}
	if cap(buffer) < size {
		buffer = make([]byte, size)
	}
	if _, err := io.ReadFull(from, buffer[:size]); err != nil {
		return nil, buffer, err
	}
	m := new(message.Proto)
	return m, buffer, proto.Unmarshal(buffer[:size], m)
}

func serveFrames(conn io.ReadWriter) {
	in := bufio.NewReader(conn)
	var reading, writing []byte
	for {
		request, buffer, err := readFrame(in, reading)
		if err != nil {
			return
		}
		reading = buffer
		request.Answer()
		if writing, err = writeFrame(conn, writing, request); err != nil {
			return
		}
	}
}

func frames(conn io.ReadWriter) func(*message.Proto) (*message.Proto, error) {
	in := bufio.NewReader(conn)
	var reading, writing []byte
	return func(request *message.Proto) (reply *message.Proto, err error) {
		if writing, err = writeFrame(conn, writing, request); err != nil {
			return nil, err
		}
		reply, reading, err = readFrame(in, reading)
		return reply, err
	}
}

// batched is the raw batched echo: one stream, which begins with the size of the batches.
func (s streams) batched(name string) work.Contender {
	return work.Contender{
		Name:  name,
		Serve: func(address string) (func(), error) { return s.serve(address, serveBatches) },
		Dial: func(address string, callers int) (*work.Client, error) {
			all, stop, err := s.dial(address, 1)
			if err != nil {
				return nil, err
			}
			var reading sync.WaitGroup
			return &work.Client{
				Close: func() { stop(); reading.Wait() },
				Batch: func(messages int, deliver func([]byte)) (func([]byte) error, error) {
					conn := all[0]
					if _, err := conn.Write(binary.LittleEndian.AppendUint32(nil, uint32(messages))); err != nil {
						return nil, err
					}
					reading.Go(func() {
						reply := make([]byte, messages*message.ReplyBytes)
						for {
							if _, err := io.ReadFull(conn, reply); err != nil {
								return
							}
							deliver(reply)
						}
					})
					return func(request []byte) error {
						_, err := conn.Write(request)
						return err
					}, nil
				},
			}, nil
		},
	}
}

func serveBatches(conn io.ReadWriter) {
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return
	}
	messages := binary.LittleEndian.Uint32(head[:])
	if messages > work.BatchMessages {
		return
	}
	request := make([]byte, messages*message.RequestBytes)
	var reply []byte
	for {
		if _, err := io.ReadFull(conn, request); err != nil {
			return
		}
		reply = work.AnswerBatch(reply, request)
		if _, err := conn.Write(reply); err != nil {
			return
		}
	}
}
