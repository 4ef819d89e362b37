package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// tcpNode is the limit for two nodes that Go's TCP sets: frames of 64 bytes, as many as there are in one write, and no process,
// no mailbox and no codec. A publication is a loop over the subscribers.
type tcpNode struct {
	direct
	listener net.Listener // nil where nobody connects

	lock     sync.Mutex
	counters map[string]*counter
	conns    []net.Conn
}

const (
	tcpFrame = 64
	tcpWrite = 64 << 10
)

// What a connection is for is the first byte of its first frame; a name follows the number of its bytes.
const (
	tcpPing = iota
	tcpAnswer
	tcpPublish
)

func startTCP(s setup) (node, error) {
	n := &tcpNode{direct: direct{channels: startChannels(s)}, counters: map[string]*counter{}}
	listener, err := net.Listen("tcp", s.Address)
	if err != nil {
		return nil, err
	}
	n.listener = listener
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				if err := n.serve(conn); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
					s.Fail(err)
				}
			}()
		}
	}()
	return n, nil
}

func (n *tcpNode) stop() {
	n.direct.stop()
	n.listener.Close()
	n.lock.Lock()
	defer n.lock.Unlock()
	for _, conn := range n.conns {
		conn.Close()
	}
}

func (n *tcpNode) keep(conn net.Conn) {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.conns = append(n.conns, conn)
}

func (n *tcpNode) dial(address string, what byte, name string) (net.Conn, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	n.keep(conn)
	first := make([]byte, tcpFrame)
	first[0], first[1] = what, byte(len(name))
	copy(first[2:], name)
	_, err = conn.Write(first)
	return conn, err
}

func (n *tcpNode) serve(conn net.Conn) error {
	n.keep(conn)
	first := make([]byte, tcpFrame)
	if _, err := io.ReadFull(conn, first); err != nil {
		return err
	}
	switch first[0] {
	case tcpPing:
		n.lock.Lock()
		to := n.counters[string(first[2:2+first[1]])]
		n.lock.Unlock()
		if to == nil {
			return errNoProcess
		}
		return tcpFrames(conn, func(frames []byte) error {
			for ; len(frames) > 0; frames = frames[tcpFrame:] {
				to.add(messageIn(frames))
			}
			return nil
		})
	case tcpAnswer:
		return tcpFrames(conn, func(frames []byte) error {
			for rest := frames; len(rest) > 0; rest = rest[tcpFrame:] {
				messageIn(rest).answer().into(rest)
			}
			_, err := conn.Write(frames)
			return err
		})
	}
	_, err := conn.Write(first) // it is kept for the publication
	return err
}

// tcpFrames calls handle with all whole frames that have come, again and again.
func tcpFrames(conn net.Conn, handle func(frames []byte) error) error {
	buffer, have := make([]byte, tcpWrite), 0
	for {
		came, err := conn.Read(buffer[have:])
		if err != nil {
			return err
		}
		have += came
		whole := have - have%tcpFrame
		if err := handle(buffer[:whole]); err != nil {
			return err
		}
		have = copy(buffer, buffer[whole:have])
	}
}

func (m Message) into(frame []byte) {
	binary.LittleEndian.PutUint64(frame, uint64(m.Value))
	binary.LittleEndian.PutUint64(frame[8:], m.Sequence)
}

func messageIn(frame []byte) Message {
	return Message{int64(binary.LittleEndian.Uint64(frame)), binary.LittleEndian.Uint64(frame[8:])}
}

func (n *tcpNode) receive(name string, to *counter) error {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.counters[name] = to
	return nil
}

func (n *tcpNode) send(to place, count uint64) (func() error, error) {
	conn, err := n.dial(to.Node, tcpPing, to.Name)
	if err != nil {
		return nil, err
	}
	return func() error {
		go func() {
			buffer := make([]byte, 0, tcpWrite)
			for i := range count {
				buffer = buffer[:len(buffer)+tcpFrame]
				messageAt(i).into(buffer[len(buffer)-tcpFrame:])
				if len(buffer) < tcpWrite && i+1 < count {
					continue
				}
				if _, err := conn.Write(buffer); err != nil {
					return // the other side misses the rest, and says so
				}
				buffer = buffer[:0]
			}
		}()
		return nil
	}, nil
}

func (n *tcpNode) answer(string) error { return nil }

// calling has a connection for each caller.
func (n *tcpNode) calling(to place, body func(func(Message) (Message, error)) error) error {
	conn, err := n.dial(to.Node, tcpAnswer, "")
	if err != nil {
		return err
	}
	defer conn.Close()
	frame := make([]byte, tcpFrame)
	return body(func(m Message) (Message, error) {
		m.into(frame)
		if _, err := conn.Write(frame); err != nil {
			return Message{}, err
		}
		_, err := io.ReadFull(conn, frame)
		return messageIn(frame), err
	})
}

// callBatches has the requests of all callers in one write, and their replies as well: nobody waits for a single one.
func (n *tcpNode) callBatches(d time.Duration, to place, callers int) (child.Sample, error) {
	conn, err := n.dial(to.Node, tcpAnswer, "")
	if err != nil {
		return child.Sample{}, err
	}
	defer conn.Close()
	frames, sequence := make([]byte, callers*tcpFrame), uint64(0)
	s, err := child.Closed(d, 1, func(int) func() error {
		return func() error {
			for i := range callers {
				messageAt(sequence + uint64(i)).into(frames[i*tcpFrame:])
			}
			if _, err := conn.Write(frames); err != nil {
				return err
			}
			if _, err := io.ReadFull(conn, frames); err != nil {
				return err
			}
			for i := range callers {
				if got, want := messageIn(frames[i*tcpFrame:]), messageAt(sequence+uint64(i)).answer(); got != want {
					return fmt.Errorf("reply %+v, want %+v", got, want)
				}
			}
			sequence += uint64(callers)
			return nil
		}
	})
	s.Operations *= int64(callers)
	return s, err
}

// publisher writes one frame to each node that has subscribed.
func (n *tcpNode) publisher() (func(Message) error, error) {
	return func(m Message) error {
		n.lock.Lock()
		defer n.lock.Unlock()
		frame := make([]byte, tcpFrame)
		m.into(frame)
		for _, conn := range n.conns {
			if _, err := conn.Write(frame); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func (n *tcpNode) subscribe(node string, count int, to *tally) error {
	conn, err := n.dial(node, tcpPublish, "")
	if err != nil {
		return err
	}
	frame := make([]byte, tcpFrame)
	if _, err := io.ReadFull(conn, frame); err != nil {
		return err
	}
	if err := n.direct.subscribe("", count, to); err != nil {
		return err
	}
	pass, err := n.direct.publisher()
	go func() {
		if _, err := io.ReadFull(conn, frame); err == nil {
			pass(messageIn(frame))
		}
	}()
	return err
}
