package trpc

import (
	"context"
	"net/http"
	"slices"

	"github.com/sabir-go/sabir/internal/subrequest"
)

// subscribe answers a subscription: the values of a stream as Server-Sent Events, in tRPC's form. What fails is an event too, since a page's
// EventSource shows no other answer to its program. The events have no ids: a client that comes again has the stream from its beginning.
func (s *server) subscribe(w http.ResponseWriter, r *http.Request, c call) {
	ctx, gone := context.WithCancel(r.Context())
	defer gone()
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx would keep the values back
	out := &lines{w: w, control: http.NewResponseController(w), gone: gone}
	out.write([]byte("event: connected\ndata: {}\n\n"))
	send := func(event string, data []byte) {
		if c.superjson {
			data = appendSuperjson(nil, data)
		}
		out.write(slices.Concat([]byte(event+"data: "), data, []byte("\n\n")))
	}
	const failed = "event: serialized-error\n"
	if c.refused != nil {
		send(failed, c.refused.text())
		return
	}

	request, done := subrequest.New(ctx, r, http.MethodPost, c.action.Path, c.input)
	defer done()
	request.Header.Set("Accept", "text/event-stream")
	var problem *subrequest.Problem
	ended := false
	events := subrequest.Events{Take: func(event string, data []byte) bool {
		switch event {
		case "end":
			ended = true
		case "error":
			problem = subrequest.ReadProblem(data)
		default:
			send("", data)
		}
		return true
	}, Quiet: func() { out.write([]byte(":\n\n")) }}
	a := subrequest.Do(s.site.Handler, request, events.Write)
	if !ended && problem == nil && ctx.Err() == nil {
		if problem = a.Problem(); problem == nil || a.Status == 0 { // such as in the middle of a value, when the node stops
			problem = &subrequest.Problem{Status: http.StatusServiceUnavailable, Code: "Unavailable", Name: "ServiceUnavailable", Retryable: true,
				Message: "the stream was broken off: subscribe again"}
		}
	}
	switch {
	case ended:
		out.write([]byte("event: return\ndata: \n\n"))
	case problem != nil:
		send(failed, shapeOf(problem).at(c.path).text())
	}
}
