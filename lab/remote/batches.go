package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
)

// batches are the limit where many call at once: the payloads that wait go together, in one write or one message, and so do
// the answers. Who answers sends back what it gets, as without batches.
type batches struct {
	waiting chan []byte
	ended   chan struct{}
	replies []chan []byte
}

func newBatches(callers int) *batches {
	b := &batches{waiting: make(chan []byte, waiting), ended: make(chan struct{}), replies: make([]chan []byte, callers)}
	for i := range b.replies {
		b.replies[i] = make(chan []byte, 1)
	}
	return b
}

// send writes what waits until stop is called, or nothing can be written; then callers get no answer, and the lab says so.
func (b *batches) send(write func([]byte) error) {
	var batch []byte
	for {
		select {
		case payload := <-b.waiting:
			batch = append(batch[:0], payload...)
		case <-b.ended:
			return
		}
		runtime.Gosched() // others that have just got their answers call again
		for range len(b.waiting) {
			batch = append(batch, <-b.waiting...)
		}
		if write(batch) != nil {
			return
		}
	}
}

// deliver hands each payload of a batch to its caller.
func (b *batches) deliver(batch []byte) {
	for payload := range slices.Chunk(batch, payloadBytes) {
		if caller, ok := callerOf(payload); ok && caller < len(b.replies) {
			b.replies[caller] <- payload
		}
	}
}

func (b *batches) echoes() []echo {
	echoes := make([]echo, len(b.replies))
	for i := range echoes {
		echoes[i] = func(request []byte) ([]byte, error) {
			select {
			case b.waiting <- request:
				return <-b.replies[i], nil
			case <-b.ended:
				return nil, errors.New("the connection has ended")
			}
		}
	}
	return echoes
}

// dialRawBatches has all callers on one connection.
func dialRawBatches(address string, _ settings, callers int) ([]echo, func(), error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, nil, err
	}
	b := newBatches(callers)
	go b.send(func(batch []byte) error {
		_, err := conn.Write(batch)
		return err
	})
	go func() {
		in := bufio.NewReaderSize(conn, copyBytes)
		for {
			payload := make([]byte, payloadBytes)
			if _, err := io.ReadFull(in, payload); err != nil {
				return
			}
			b.deliver(payload)
		}
	}()
	return b.echoes(), func() { close(b.ended); conn.Close() }, nil
}

// dialBatches has a message for each batch.
func (connect overBus) dialBatches(address string, s settings, callers int) ([]echo, func(), error) {
	b := newBatches(callers)
	publish, stop, err := connect(address, back(s), b.deliver)
	if err != nil {
		return nil, nil, err
	}
	go b.send(func(batch []byte) error { return publish(there(s), slices.Clone(batch)) })
	return b.echoes(), func() { close(b.ended); stop() }, nil
}
