package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/sabir-go/sabir"
)

// callStream opens a stream, sends it the values of the input, and prints those that come back, one a line.
func (c *cli) callStream(ctx context.Context, args []string, flags callFlags, limited bool) error {
	lines := len(args) == 2 && args[1] == "-"
	var only []byte
	if !lines {
		var err error
		if only, err = c.readInput(ctx, args[1:]); err != nil {
			return err
		}
	}
	g, err := c.openJoined(ctx, "--stream")
	if err != nil {
		return err
	}
	defer g.Close()
	g.to = flags.to
	streamCtx, cancel := context.WithCancel(ctx)
	if limited {
		streamCtx, cancel = context.WithTimeout(ctx, c.timeout)
	}
	defer cancel()
	stream, err := sabir.OpenStream[json.RawMessage, json.RawMessage](streamCtx, g.node, args[0], g.options()...)
	if err != nil {
		return named(g, g.fromCluster(err), args[0])
	}
	defer stream.Close()
	send := func() error { return stream.Send(only) }
	if lines {
		send = func() error { return sendLines(c.stdin, stream.Send) }
	}
	var sender sender
	sender.run(send, stream.CloseSend, cancel)
	for value, err := range stream.All() {
		if err != nil {
			if failed := sender.failed(); failed != nil {
				return failed
			}
			if ctx.Err() != nil {
				return nil // Ctrl-C ends it
			}
			return g.fromCluster(err)
		}
		var line bytes.Buffer
		if json.Compact(&line, value) != nil {
			line.Write(value)
		}
		line.WriteByte('\n')
		if _, err := io.WriteString(c.stdout, printable(line.String())); err != nil {
			return nil // the reader has gone
		}
	}
	return sender.failed()
}

// sender sends the input in a goroutine of its own, which a read of stdin may keep for ever: it is not waited for.
type sender struct {
	mu  sync.Mutex
	err error
}

// run sends and then announces that nothing follows. When that fails for another reason than the stream's end, it cancels the
// call.
func (s *sender) run(send func() error, done func(), giveUp func()) {
	go func() {
		err := send()
		if err == nil || errors.Is(err, io.EOF) {
			done()
			return
		}
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
		giveUp()
	}()
}

// failed returns the error that kept the input from being sent, if the input itself was wrong.
func (s *sender) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, isUsage := errors.AsType[*usageError](s.err); isUsage {
		return s.err
	}
	return nil
}

// maxLine bounds one value from stdin: 1 MiB.
const maxLine = 1 << 20

// sendLines sends each line that is not empty, which must be JSON.
func sendLines(from io.Reader, send func(json.RawMessage) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		if err := checkJSON(text); err != nil {
			return usagef("line %d of stdin is not JSON: %v", n, err)
		}
		if err := send(bytes.Clone(text)); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return usagef("stdin cannot be read: %v", err)
	}
	return nil
}
