package main

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
	"github.com/sabir-go/sabir/lab/sockets"
)

// The raw rows have no calls, no codec and no frames: both sides know how many bytes come. They say what the sockets
// cost.

func rawContenders() []work.Contender {
	return []work.Contender{
		raw("raw TCP echo", "tcp", message.RequestBytes), raw("raw unix echo", "unix", message.RequestBytes), rawTLS(), rawSized(),
		{
			Name: "raw copy",
			Serve: func(address string) (func(), error) {
				return sockets.AcceptEach("tcp", address, func(conn net.Conn) { copyBack(conn) })
			},
			Dial: func(address string, callers int) (*work.Client, error) {
				conns, err := sockets.DialEach("tcp", address, callers)
				if err != nil {
					return nil, err
				}
				return &work.Client{Close: sockets.CloseAll(conns), Echo: func(caller, size int) work.RoundTrip {
					return rawCopy(conns[caller], caller, size)
				}}, nil
			},
		},
		{
			Name:  "raw TCP push",
			Serve: func(address string) (func(), error) { return sockets.AcceptEach("tcp", address, countFrames) },
			Dial: func(address string, callers int) (*work.Client, error) {
				conns, err := sockets.DialEach("tcp", address, callers)
				if err != nil {
					return nil, err
				}
				return &work.Client{Close: sockets.CloseAll(conns), Push: func(caller, size int) (*work.Pushing, error) {
					return rawPush(conns[caller], size), nil
				}}, nil
			},
		},
	}
}

// raw is the echo of a known number of bytes, one connection per caller. The echo mode sends the size ahead, once.
func raw(name, network string, size int) work.Contender {
	return work.Contender{
		Name:  name,
		Serve: func(address string) (func(), error) { return sockets.AcceptEach(network, address, rawServe) },
		Dial: func(address string, callers int) (*work.Client, error) {
			conns, err := sockets.DialEach(network, address, callers)
			if err != nil {
				return nil, err
			}
			return &work.Client{
				Close: sockets.CloseAll(conns), Fixed: true,
				Say:  func(caller int) work.RoundTrip { return rawEcho(conns[caller], caller, size) },
				Echo: func(caller, size int) work.RoundTrip { return rawEcho(conns[caller], caller, size) },
			}, nil
		},
	}
}

// rawTLS is the echo over TLS.
func rawTLS() work.Contender {
	return work.Contender{
		Name: "raw TLS echo",
		Serve: func(address string) (func(), error) {
			config := bothEnds()
			return sockets.AcceptEach("tcp", address, func(conn net.Conn) { rawServe(tls.Server(conn, config)) })
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			conns, err := sockets.DialEach("tcp", address, callers)
			if err != nil {
				return nil, err
			}
			config := bothEnds()
			for i := range conns {
				conns[i] = tls.Client(conns[i], config)
			}
			return &work.Client{
				Close: sockets.CloseAll(conns), Fixed: true,
				Say:  func(caller int) work.RoundTrip { return rawEcho(conns[caller], caller, message.RequestBytes) },
				Echo: func(caller, size int) work.RoundTrip { return rawEcho(conns[caller], caller, size) },
			}, nil
		},
	}
}

// rawSized is the echo of messages whose length stands before each, one connection per caller.
func rawSized() work.Contender {
	return work.Contender{
		Name: "raw TCP echo, lengths",
		Serve: func(address string) (func(), error) {
			return sockets.AcceptEach("tcp", address, func(conn net.Conn) {
				reader := bufio.NewReaderSize(conn, 64<<10)
				var buffer []byte
				for {
					var err error
					if buffer, err = readSized(reader, buffer); err != nil {
						return
					}
					if _, err := conn.Write(buffer); err != nil {
						return
					}
				}
			})
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			conns, err := sockets.DialEach("tcp", address, callers)
			if err != nil {
				return nil, err
			}
			return &work.Client{Close: sockets.CloseAll(conns), Echo: func(caller, size int) work.RoundTrip {
				return rawSizedEcho(conns[caller], caller, size)
			}}, nil
		},
	}
}

const lengthBytes = 4

// readSized reads a message with its length before it.
func readSized(from io.Reader, buffer []byte) ([]byte, error) {
	var head [lengthBytes]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return buffer, err
	}
	size := lengthBytes + int(binary.LittleEndian.Uint32(head[:]))
	if cap(buffer) < size {
		buffer = make([]byte, size)
	}
	buffer = buffer[:size]
	copy(buffer, head[:])
	_, err := io.ReadFull(from, buffer[lengthBytes:])
	return buffer, err
}

func rawSizedEcho(conn net.Conn, caller, size int) work.RoundTrip {
	request := binary.LittleEndian.AppendUint32(nil, uint32(size))
	request = append(request, message.NewBytes(size)...)
	reply := make([]byte, len(request))
	return func(sequence int, full bool) error {
		message.MarkBytes(request[lengthBytes:], caller, sequence)
		if _, err := conn.Write(request); err != nil {
			return err
		}
		if _, err := io.ReadFull(conn, reply); err != nil {
			return err
		}
		return message.CheckBytes(request[lengthBytes:], reply[lengthBytes:], full)
	}
}

// rawServe reads the size of the messages, then sends back each message when it has it whole.
func rawServe(conn net.Conn) {
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return
	}
	buffer := make([]byte, binary.LittleEndian.Uint32(head[:]))
	for {
		if _, err := io.ReadFull(conn, buffer); err != nil {
			return
		}
		if _, err := conn.Write(buffer); err != nil {
			return
		}
	}
}

func rawEcho(conn net.Conn, caller, size int) work.RoundTrip {
	request, reply := message.NewBytes(size), make([]byte, size)
	started := false
	return func(sequence int, full bool) error {
		if !started {
			if _, err := conn.Write(binary.LittleEndian.AppendUint32(nil, uint32(size))); err != nil {
				return err
			}
			started = true
		}
		message.MarkBytes(request, caller, sequence)
		if _, err := conn.Write(request); err != nil {
			return err
		}
		if _, err := io.ReadFull(conn, reply); err != nil {
			return err
		}
		return message.CheckBytes(request, reply, full)
	}
}

// copyBack sends back what comes, 64 KiB at a time; a read and a write each, no splicing in the kernel.
func copyBack(conn net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		if _, err := conn.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// rawCopy writes and reads at the same time, from two goroutines.
func rawCopy(conn net.Conn, caller, size int) work.RoundTrip {
	request, reply := message.NewBytes(size), make([]byte, size)
	written := make(chan error, 1)
	return func(sequence int, full bool) error {
		message.MarkBytes(request, caller, sequence)
		go func() {
			_, err := conn.Write(request)
			written <- err
		}()
		if _, err := io.ReadFull(conn, reply); err != nil {
			return err
		}
		if err := <-written; err != nil {
			return err
		}
		return message.CheckBytes(request, reply, full)
	}
}

// countFrames counts messages that have their length ahead, until a length of zero; then it sends the two counts.
func countFrames(conn net.Conn) {
	in := bufio.NewReaderSize(conn, 64<<10)
	var head [4]byte
	var messages, bytes uint64
	var buffer []byte
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return
		}
		size := int(binary.LittleEndian.Uint32(head[:]))
		if size == 0 {
			out := binary.LittleEndian.AppendUint64(nil, messages)
			conn.Write(binary.LittleEndian.AppendUint64(out, bytes))
			messages, bytes = 0, 0
			continue
		}
		if len(buffer) < size {
			buffer = make([]byte, size)
		}
		if _, err := io.ReadFull(in, buffer[:size]); err != nil {
			return
		}
		messages++
		bytes += uint64(size)
	}
}

func rawPush(conn net.Conn, size int) *work.Pushing {
	out := bufio.NewWriterSize(conn, 64<<10)
	frame := append(binary.LittleEndian.AppendUint32(nil, uint32(size)), message.NewBytes(size)...)
	return &work.Pushing{
		Send: func() error {
			_, err := out.Write(frame)
			return err
		},
		Finish: func() (int64, int64, error) {
			var counts [16]byte
			if _, err := out.Write(make([]byte, 4)); err != nil {
				return 0, 0, err
			}
			if err := out.Flush(); err != nil {
				return 0, 0, err
			}
			if _, err := io.ReadFull(conn, counts[:]); err != nil {
				return 0, 0, err
			}
			return int64(binary.LittleEndian.Uint64(counts[:])), int64(binary.LittleEndian.Uint64(counts[8:])), nil
		},
	}
}

var tcpStreams, unixStreams = overSockets("tcp"), overSockets("unix")

func overSockets(network string) streams {
	return streams{
		serve: func(address string, handle func(io.ReadWriter)) (func(), error) {
			return sockets.AcceptEach(network, address, func(conn net.Conn) { handle(conn) })
		},
		dial: func(address string, n int) ([]io.ReadWriter, func(), error) {
			conns, err := sockets.DialEach(network, address, n)
			if err != nil {
				return nil, nil, err
			}
			return asStreams(conns), sockets.CloseAll(conns), nil
		},
	}
}
