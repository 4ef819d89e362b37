package mcp

import (
	"bytes"
	"context"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The bounds of a stream's answer, which is for a model's context. A stream that has more ends there, and its tool's answer is what came.
const (
	maxValues      = 1000
	maxValuesBytes = 1 << 20
	maxStreamTime  = 30 * time.Second
)

// stream calls a stream with one input: it reports each value as progress, and answers with all of them.
func (s *server) stream(ctx context.Context, r *sdk.CallToolRequest, t *tool, from *http.Request, input []byte) *sdk.CallToolResult {
	request, end := request(ctx, from, http.MethodPost, t.action.Path, input)
	defer end()
	request.Header.Set("Accept", "text/event-stream")
	limit := time.AfterFunc(maxStreamTime, end)
	defer limit.Stop()
	v := &streamed{}
	token := r.Params.GetProgressToken()
	v.received = func(value []byte) {
		if token == nil {
			return
		}
		// It waits where the client reads slowly, and so the handler of the stream does.
		_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(v.count), Message: string(value)})
	}
	v.full = end
	a := s.do(request, v.write)
	if a.status != 0 { // it is where the time has passed before the first value
		if p := a.problem(); p != nil {
			return failed(p)
		}
	}
	if v.failed != nil {
		return failed(v.failed)
	}
	if !v.ended {
		v.truncated = true
	}
	return v.result()
}

// streamed reads the server-sent events of a stream's answer.
type streamed struct {
	received func(value []byte)
	full     func() // ends the stream

	line      []byte // the part of one that has come
	event     string
	data      []byte
	values    []byte // as the inside of a JSON list
	count     int
	truncated bool
	ended     bool
	failed    *problem
}

// write takes a part of the answer.
func (v *streamed) write(p []byte) {
	for len(p) > 0 && !v.truncated {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			v.line = append(v.line, p...)
			return
		}
		v.line = append(v.line, p[:i]...)
		v.takeLine(v.line)
		v.line, p = v.line[:0], p[i+1:]
	}
}

// takeLine takes one line (html.spec.whatwg.org, 9.2.6), in the form in which package httpstream writes them.
func (v *streamed) takeLine(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(": "))
	switch {
	case len(line) == 0:
		v.takeEvent()
		v.event, v.data = "", v.data[:0]
	case string(name) == "event":
		v.event = string(value)
	case string(name) == "data":
		v.data = append(v.data, value...)
	}
}

func (v *streamed) takeEvent() {
	switch {
	case v.event == "end":
		v.ended = true
	case v.event == "error":
		v.failed = readProblem(v.data)
	case len(v.data) == 0: // a heartbeat
	case v.count == maxValues || len(v.values)+len(v.data) > maxValuesBytes:
		v.truncated = true
		v.full()
	default:
		if v.count++; v.count > 1 {
			v.values = append(v.values, ',')
		}
		v.values = append(v.values, v.data...)
		v.received(v.data)
	}
}

func (v *streamed) result() *sdk.CallToolResult {
	text := append([]byte(`{"values":[`), v.values...)
	text = append(text, ']')
	if v.truncated {
		text = append(text, `,"truncated":true`...)
	}
	return structured(append(text, '}'))
}
