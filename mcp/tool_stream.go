package mcp

import (
	"context"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir/internal/subrequest"
)

// The bounds of a stream's answer, which is for a model's context. A stream that has more ends there, and its tool's answer is what came.
const (
	maxValues      = 1000
	maxValuesBytes = 1 << 20
	maxStreamTime  = 30 * time.Second
)

// stream calls a stream with one input: it reports each value as progress, and answers with all of them.
func (s *server) stream(ctx context.Context, r *sdk.CallToolRequest, t *tool, from *http.Request, input []byte) *sdk.CallToolResult {
	request, end := subrequest.New(ctx, from, http.MethodPost, t.action.Path, input)
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
	events := subrequest.Events{Take: v.take}
	a := subrequest.Do(s.site.Handler, request, events.Write)
	if token != nil && v.count > 0 {
		s.awaitClient(ctx, r.Session)
	}
	if a.Status != 0 { // it is where the time has passed before the first value
		if p := a.Problem(); p != nil {
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

// awaitClient waits until a client over stdio has taken what was sent before, or for a second. The SDK for TypeScript up to 1.32 handles
// notifications after the answer that it reads together with them, and drops those of progress then; what it answers comes after them.
// Over HTTP it reads each message by itself.
func (s *server) awaitClient(ctx context.Context, session *sdk.ServerSession) {
	began := session.InitializeParams()
	if s.own == nil || began == nil || began.ProtocolVersion >= firstWithoutSessions { // later clients take no requests of a server
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = session.Ping(ctx, nil) // the answer follows in any case
}

// streamed keeps the values of a stream's answer.
type streamed struct {
	received func(value []byte)
	full     func() // ends the stream

	values    []byte // as the inside of a JSON list
	count     int
	truncated bool
	ended     bool
	failed    *subrequest.Problem
}

// take takes an event of the answer. It returns false where no more are wanted.
func (v *streamed) take(event string, data []byte) bool {
	switch {
	case event == "end":
		v.ended = true
	case event == "error":
		v.failed = subrequest.ReadProblem(data)
	case v.count == maxValues || len(v.values)+len(data) > maxValuesBytes:
		v.truncated = true
		v.full()
		return false
	default:
		if v.count++; v.count > 1 {
			v.values = append(v.values, ',')
		}
		v.values = append(v.values, data...)
		v.received(data)
	}
	return true
}

func (v *streamed) result() *sdk.CallToolResult {
	text := append([]byte(`{"values":[`), v.values...)
	text = append(text, ']')
	if v.truncated {
		text = append(text, `,"truncated":true`...)
	}
	return structured(append(text, '}'))
}
