package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxMessage bounds a line of a client, in bytes.
const maxMessage = 16 << 20

// clientLines reads the messages of a client over stdio, each on a line of its own. The SDK ends the connection over a line that is no message, and does not
// answer a batch in which a notification is: it gets the messages of one by one, as over HTTP.
type clientLines struct {
	io.Closer
	in     *bufio.Reader
	refuse func(code int64, why string) error // answers a line that is no message
	rest   []byte                             // of messages that have not been read
}

func newClientLines(in io.ReadCloser, refuse func(code int64, why string) error) *clientLines {
	return &clientLines{Closer: in, in: bufio.NewReader(in), refuse: refuse}
}

func (l *clientLines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, over, err := l.line()
		switch {
		case over:
			err = errors.Join(err, l.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message has at most %d bytes", maxMessage)))
		case len(line) > 0:
			err = errors.Join(err, l.take(line))
		}
		if len(l.rest) == 0 && err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line reads the next line. The rest of one that is over the bound is passed over.
func (l *clientLines) line() (line []byte, over bool, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if over = over || len(line)+len(part) > maxMessage; over {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), over, err
		}
	}
}

// take keeps the messages of a line for the SDK, and refuses the others.
func (l *clientLines) take(line []byte) error {
	if !json.Valid(line) {
		return l.refuse(jsonrpc.CodeParseError, "a line is not JSON; each message is JSON on a line of its own")
	}
	messages, single := messagesOf(line)
	if !single && (len(messages) == 0 || len(messages) > maxBatch) {
		return l.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("a batch has at least one message and at most %d", maxBatch))
	}
	var failed error
	for _, m := range messages {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			failed = errors.Join(failed, l.refuse(jsonrpc.CodeInvalidRequest, "this is no message of JSON-RPC 2.0: "+err.Error()))
			continue
		}
		l.rest = append(append(l.rest, m...), '\n')
	}
	return failed
}
