package transporttest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"github.com/sabir-go/sabir/internal/transports"
)

func bytesArriveBothWays(t *testing.T, s *streamTest) {
	dialled, accepted := s.pair(t)
	send(t, dialled, "ping")
	expect(t, accepted, "ping")
	send(t, accepted, "pong, and longer")
	expect(t, dialled, "pong, and longer")
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if n, err := c.Write([]byte(text)); err != nil || n != len(text) {
		t.Fatalf("wrote %d of %d bytes: %v", n, len(text), err)
	}
}

func expect(t *testing.T, c net.Conn, text string) {
	t.Helper()
	got := make([]byte, len(text))
	if n, err := io.ReadFull(c, got); err != nil || string(got) != text {
		t.Fatalf("read %q (%v), want %q", got[:n], err, text)
	}
}

func manyConnections(t *testing.T, s *streamTest) {
	const count = 100
	l := s.listen(t)
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() {
		for range count {
			c, err := l.Accept()
			if err != nil {
				t.Errorf("accept: %v", err)
				return
			}
			guard(t, c)
			group.Go(func() { io.CopyN(c, c, 8) })
		}
	})
	for i := range count {
		group.Go(func() {
			c, err := s.dialTo(t.Context(), l.Addr())
			if err != nil {
				t.Errorf("dial: %v", err)
				l.Close() // so that no test waits for it
				return
			}
			guard(t, c)
			want := binary.BigEndian.AppendUint64(nil, uint64(i))
			got := make([]byte, len(want))
			if _, err := c.Write(want); err != nil {
				t.Errorf("write: %v", err)
			}
			if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("connection %d read %x (%v)", i, got, err)
			}
		})
	}
}

func intactUnderConcurrency(t *testing.T, s *streamTest) {
	const connections, messages, largest = 4, 24, 1 << 20
	l := s.listen(t)
	var group sync.WaitGroup
	defer group.Wait()
	for i := range connections {
		dialled, accepted := s.connect(t, l)
		for side, c := range []net.Conn{dialled, accepted} {
			seed := rand.NewPCG(uint64(i), uint64(side))
			group.Go(func() {
				if err := writeMessages(c, rand.New(seed), messages, largest); err != nil {
					t.Errorf("write: %v", err)
				}
			})
			group.Go(func() {
				if err := readMessages(c, messages, largest); err != nil {
					t.Errorf("read: %v", err)
				}
			})
		}
	}
}

// writeMessages writes messages of random sizes from 1 byte on: a length, a checksum and the bytes.
func writeMessages(w io.Writer, random *rand.Rand, count, largest int) error {
	body := make([]byte, largest)
	for i := range body {
		body[i] = byte(random.Uint32())
	}
	for i := range count {
		size := 1 + random.IntN(1<<random.IntN(21))
		if i == 0 {
			size = largest
		}
		at := random.IntN(largest - size + 1)
		sum := sha256.Sum256(body[at : at+size])
		message := append(binary.BigEndian.AppendUint32(nil, uint32(size)), sum[:]...)
		message = append(message, body[at:at+size]...)
		// In two writes at any place, for the borders of writes mean nothing.
		cut := random.IntN(len(message) + 1)
		for _, part := range [][]byte{message[:cut], message[cut:]} {
			if n, err := w.Write(part); err != nil || n != len(part) {
				return fmt.Errorf("message %d: %d of %d bytes: %w", i, n, len(part), err)
			}
		}
	}
	return nil
}

func readMessages(r io.Reader, count, largest int) error {
	head := make([]byte, 4+sha256.Size)
	for i := range count {
		if _, err := io.ReadFull(r, head); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		size := int(binary.BigEndian.Uint32(head))
		if size > largest {
			return fmt.Errorf("message %d: a length of %d bytes", i, size)
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(r, body); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		if sum := sha256.Sum256(body); !bytes.Equal(sum[:], head[4:]) {
			return fmt.Errorf("message %d of %d bytes is damaged", i, size)
		}
	}
	return nil
}

func writesDoNotMix(t *testing.T, s *streamTest) {
	const writers, writes, size = 4, 8, 100_000 // more than buffers hold
	dialled, accepted := s.pair(t)
	var group sync.WaitGroup
	defer group.Wait()
	for i := range writers {
		group.Go(func() {
			block := bytes.Repeat([]byte{byte('a' + i)}, size)
			for range writes {
				if _, err := dialled.Write(block); err != nil {
					t.Errorf("write: %v", err)
				}
			}
		})
	}
	block := make([]byte, size)
	for i := range writers * writes {
		if _, err := io.ReadFull(accepted, block); err != nil {
			t.Errorf("read: %v", err)
			dialled.Close()
			return
		}
		if bytes.Count(block, block[:1]) != size {
			t.Errorf("block %d holds bytes of several writes", i)
		}
	}
}

func buffersArriveInOrder(t *testing.T, s *streamTest) {
	dialled, accepted := s.pair(t)
	var want []byte
	var buffers net.Buffers
	for i := range 50 {
		part := bytes.Repeat([]byte{byte(i)}, i*100) // the first is empty
		want = append(want, part...)
		buffers = append(buffers, part)
	}
	written := make(chan error, 1)
	go func() {
		n, err := transports.WriteBuffers(dialled, &buffers)
		if err == nil && (n != int64(len(want)) || len(buffers) != 0) {
			err = fmt.Errorf("%d of %d bytes written, %d buffers left", n, len(want), len(buffers))
		}
		written <- err
	}()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(accepted, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the buffers did not arrive as they were written: %v", err)
	}
	if err := Receive(t, written); err != nil {
		t.Error(err)
	}
}

func emptyWriteIsNothing(t *testing.T, s *streamTest) {
	dialled, accepted := s.pair(t)
	if n, err := dialled.Write(nil); n != 0 || err != nil {
		t.Errorf("an empty write gave %d, %v", n, err)
	}
	if n, err := accepted.Read(nil); n != 0 || err != nil {
		t.Errorf("a read into nothing gave %d, %v", n, err)
	}
	send(t, dialled, "x")
	expect(t, accepted, "x")
}
