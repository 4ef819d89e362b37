package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir/internal/subrequest"
)

// maxLine bounds a message to a client, in bytes. The client of the SDK for TypeScript takes 10 MiB at once, what it has of the next message
// too, and ends the connection over more; so a message stays well below.
const maxLine = 8 << 20

// stdioTransport is the SDK's transport for a pair of streams. It leaves out the answers to cancelled requests, and sends an error in
// place of an answer that clients could not take.
type stdioTransport struct {
	in       io.ReadCloser
	out      io.WriteCloser
	requests inFlight
}

func (t *stdioTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := (&sdk.IOTransport{Reader: t.in, Writer: answerWriter{t.out, &t.requests}}).Connect(ctx)
	return stdioConnection{c, &t.requests}, err
}

// stdioConnection follows the messages of the client.
type stdioConnection struct {
	sdk.Connection
	requests *inFlight
}

func (c stdioConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && err == nil {
		if r.IsCall() {
			c.requests.begin(r.ID, r.Method, "")
		}
		if r.Method == cancelledMethod {
			var params cancelParams
			if json.Unmarshal(r.Params, &params) == nil {
				if id, ok := params.id(); ok {
					c.requests.cancel(id, "")
				}
			}
		}
	}
	return m, err
}

// answerWriter looks at lines on their way to the client. The SDK writes each at once, with the answers of a batch in one: an answer of a
// batch must reach the SDK in any case, as it waits for all of them.
type answerWriter struct {
	io.WriteCloser
	requests *inFlight
}

func (w answerWriter) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("[")) {
		return len(line), w.writeBatch(line)
	}
	checked := w.check(line, maxLine)
	if checked == nil {
		return len(line), nil
	}
	if _, err := w.WriteCloser.Write(checked); err != nil {
		return 0, err
	}
	return len(line), nil
}

func (w answerWriter) writeBatch(line []byte) error {
	var answers, kept []json.RawMessage
	if err := json.Unmarshal(line, &answers); err != nil {
		return err
	}
	for _, a := range answers {
		if checked := w.check(a, maxLine/len(answers)); checked != nil {
			kept = append(kept, checked)
		}
	}
	if kept == nil {
		return nil
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	_, err = w.WriteCloser.Write(append(text, '\n'))
	return err
}

// check returns what is sent for a message: nil for nothing.
func (w answerWriter) check(m []byte, most int) []byte {
	id, ok := answeredID(m)
	if !ok {
		return m
	}
	r := w.requests.end(id)
	switch {
	case r != nil && r.cancelled:
		return nil
	case len(m) <= most:
		return m
	}
	instead := &jsonrpc.Response{ID: id}
	why := fmt.Sprintf("the answer has %d bytes as a message, and clients over stdio take %d: ask for less", len(m), most)
	if r != nil && r.method == "tools/call" {
		text, err := json.Marshal(failed(&subrequest.Problem{Code: "ResourceExhausted", Name: "MessageTooLarge", Message: why}))
		if err != nil { // it has texts only
			panic(err)
		}
		instead.Result = text
	} else {
		instead.Error = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: why}
	}
	text, err := jsonrpc.EncodeMessage(instead)
	if err != nil {
		panic(err)
	}
	return append(text, '\n')
}
