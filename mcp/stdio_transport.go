package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir/internal/subrequest"
)

// maxLine bounds a message to a client, in bytes. The client of the SDK for TypeScript takes 10 MiB at once, what it has of the next message
// too, and ends the connection over more; so a message stays well below.
const maxLine = 8 << 20

// stdioTransport is the SDK's transport for a pair of streams. It leaves out the answers to cancelled requests, and sends an error in
// place of an answer that clients could not take. What is no message from the client is answered, where the SDK would end the connection.
type stdioTransport struct {
	in       io.ReadCloser
	out      io.WriteCloser
	requests inFlight
}

func (t *stdioTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	w := &answerWriter{WriteCloser: t.out, requests: &t.requests}
	c, err := (&sdk.IOTransport{Reader: newClientLines(t.in, w.refuse), Writer: w, MaxLineLength: -1}).Connect(ctx) // clientLines has a bound
	return stdioConnection{c, w}, err
}

// stdioConnection follows the messages of the client.
type stdioConnection struct {
	sdk.Connection
	answers *answerWriter
}

func (c stdioConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		r, ok := m.(*jsonrpc.Request)
		if !ok || err != nil {
			return m, err
		}
		if r.IsCall() && !c.answers.requests.begin(r.ID, r.Method, "") {
			why := fmt.Sprintf("a request with the id %.100s has not been answered yet: give each an id of its own", fmt.Sprint(r.ID.Raw()))
			if err := c.answers.refuse(jsonrpc.CodeInvalidRequest, why); err != nil {
				return nil, err
			}
			continue
		}
		if r.Method == cancelledMethod {
			var params cancelParams
			if json.Unmarshal(r.Params, &params) == nil {
				if id, ok := params.id(); ok {
					c.answers.requests.cancel(id, "")
				}
			}
		}
		return m, nil
	}
}

// answerWriter looks at lines on their way to the client. The SDK writes each at once.
type answerWriter struct {
	io.WriteCloser
	requests *inFlight
	mu       sync.Mutex // what is refused is answered while the SDK writes
}

func (w *answerWriter) Write(line []byte) (int, error) {
	if checked := w.check(line); checked != nil {
		if err := w.write(checked); err != nil {
			return 0, err
		}
	}
	return len(line), nil
}

func (w *answerWriter) write(line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.WriteCloser.Write(line)
	return err
}

// refuse answers a line of the client of which the id is not known.
func (w *answerWriter) refuse(code int64, why string) error {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why}})
	if err != nil { // it has texts and a number only
		panic(err)
	}
	return w.write(append(text, '\n'))
}

// check returns what is sent for a message: nil for nothing.
func (w *answerWriter) check(m []byte) []byte {
	id, ok := answeredID(m)
	if !ok {
		return m
	}
	r := w.requests.end(id)
	switch {
	case r != nil && r.cancelled:
		return nil
	case len(m) <= maxLine:
		return m
	}
	instead := &jsonrpc.Response{ID: id}
	why := fmt.Sprintf("the answer has %d bytes as a message, and clients over stdio take %d: ask for less", len(m), maxLine)
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
