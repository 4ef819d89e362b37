package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"connectrpc.com/connect"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/grpcweb"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/protocol"
	"github.com/sabir-go/sabir/internal/protojson"
	"github.com/sabir-go/sabir/internal/trailersonly"
	"github.com/sabir-go/sabir/web"
)

// Serve is an option of sabir.HTTP that offers all actions which the server offers over gRPC, Connect and gRPC-Web too. Those of other
// nodes (Forward of web.Config) are left out, since their types are not known here.
//
// A message may have 4 MiB, as gRPC's own servers take, or what BodyLimit of web.Config says. The time of a call is bounded by
// its RequestTimeout; streams have the deadline of their caller. 4,096 streams may be open at once.
func Serve() gateway.HTTPOption {
	return func(c *httpaccess.Config) {
		d := newDispatcher()
		c.Options = append(c.Options, protocol.Protocol(d))
		for _, m := range d.mounts() {
			m(c)
		}
	}
}

// maxMessage is the most bytes of a message where nobody has set a bound. It is that of other servers of gRPC.
const maxMessage = 4 << 20

// dispatcher serves the actions of one server.
type dispatcher struct {
	services atomic.Pointer[services] // that are offered now
	handlers sync.Map                 // by the most bytes of a message: int to *handlers
	errors   *connect.ErrorWriter
	streams  streams
	health   health
}

func newDispatcher() *dispatcher {
	d := &dispatcher{errors: connect.NewErrorWriter()}
	d.services.Store(&services{})
	d.streams.open = make(map[*context.CancelCauseFunc]struct{})
	d.health.stopped = make(chan struct{})
	return d
}

// mounts are the services of gRPC itself.
func (d *dispatcher) mounts() []gateway.HTTPOption {
	options := []gateway.HTTPOption{web.Mounted("/"+healthName, d.mountHealth)}
	for path, h := range d.reflection() {
		options = append(options, web.With(web.Config{Mount: map[string]http.Handler{path: h}}))
	}
	return options
}

// Offer implements [protocol.Protocol].
func (d *dispatcher) Offer(node *sabir.Node, actions []*sabir.Action) map[*sabir.Action]string {
	offered, problems := newServices(actions)
	for _, err := range problems {
		node.Log().Warn("an action cannot be called over gRPC", "node", node.ID(), "error", err)
	}
	d.services.Store(offered)
	return offered.paths
}

// Refuse implements [protocol.Protocol].
func (d *dispatcher) Refuse(w http.ResponseWriter, r *http.Request, why *sabir.Error) {
	w, r, end := grpcweb.WithoutText(w, r, errNoBase64)
	defer end()
	if why.Code == sabir.CodeUnimplemented && why.Name == sabir.ErrActionNotFound.Name {
		w, why = notFound{w}, sabir.NewError(why.Code, why.Code.String(), why.Message)
	}
	d.fail(w, r, toConnect(why))
}

// fail answers a call that was not begun.
func (d *dispatcher) fail(w http.ResponseWriter, r *http.Request, why *connect.Error) {
	w, end := trailersonly.Wrap(w, r)
	defer end()
	d.errors.Write(w, r, why) // an error means that the caller is gone
}

// notFound answers with HTTP's status for an address that does not exist, where Connect has one for methods that are not implemented.
type notFound struct{ http.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w notFound) WriteHeader(status int) {
	if status == http.StatusNotImplemented {
		status = http.StatusNotFound
	}
	w.ResponseWriter.WriteHeader(status)
}

// Speaks implements [protocol.Protocol].
func (d *dispatcher) Speaks(r *http.Request) bool {
	if r.Method == http.MethodGet {
		return r.URL.Query().Get("connect") == "v1"
	}
	return r.Method == http.MethodPost && (r.Header.Get("Connect-Protocol-Version") != "" || isRPC(r.Header.Get("Content-Type")))
}

// Stop implements [protocol.Protocol].
func (d *dispatcher) Stop() {
	d.streams.stop()
	d.health.stop.Do(func() { close(d.health.stopped) })
}

// errNoBase64 means that a body is not what its content type says.
var errNoBase64 = connect.NewError(connect.CodeInvalidArgument, errors.New("the body is not in base64, as application/grpc-web-text wants it"))

// handlers are connect's for one bound of messages. One serves all actions: which one, it reads from the context of the request.
type handlers struct {
	unary, get, stream *connect.Handler
}

func (d *dispatcher) handlersFor(limit int64) *handlers {
	if known, ok := d.handlers.Load(limit); ok {
		return known.(*handlers)
	}
	// Every message stays in the form in which it came until the action's types are known.
	options := connect.WithHandlerOptions(
		connect.WithCodec(frameCodec{name: "proto"}),
		connect.WithCodec(frameCodec{name: "json", json: true}),
		connect.WithCodec(frameCodec{name: "json; charset=utf-8", json: true}),
		connect.WithReadMaxBytes(int(limit)),
		connect.WithCompressMinBytes(compressFrom),
	)
	const procedure = "/"
	known, _ := d.handlers.LoadOrStore(limit, &handlers{
		unary: connect.NewUnaryHandler(procedure, serveUnary, options),
		get:   connect.NewUnaryHandler(procedure, serveUnary, options, connect.WithIdempotency(connect.IdempotencyNoSideEffects)),
		// A handler of streams both ways would refuse HTTP/1.1, over which one side after the other works. The interceptor serves the
		// stream itself, so the shape of this one does not count.
		stream: connect.NewServerStreamHandler(procedure, func(context.Context, *connect.Request[frame], *connect.ServerStream[frame]) error { return nil },
			options, connect.WithInterceptors(streamInterceptor{&d.streams})),
	})
	return known.(*handlers)
}

// Serve implements [protocol.Protocol].
func (d *dispatcher) Serve(w http.ResponseWriter, r *http.Request, c *protocol.Call) {
	w, r, end := grpcweb.WithoutText(w, r, errNoBase64)
	defer end()
	if unknown := unknownCompression(r.Header); unknown != "" {
		if isGRPC(r.Header.Get("Content-Type")) {
			w.Header().Set("Grpc-Accept-Encoding", "gzip")
		}
		d.fail(w, r, connect.NewError(connect.CodeUnimplemented, fmt.Errorf("messages compressed with %q cannot be read here: send gzip, or none", unknown)))
		return
	}
	limit := c.Body
	if limit == 0 {
		limit = maxMessage
	}
	if err := addMetadata(&c.Inbound, r.Header); err != nil {
		d.fail(w, r, toConnect(sabir.AsError(err)))
		return
	}
	if !c.Action.Stream {
		if r = d.servePlain(w, r, c, limit); r == nil {
			return
		}
	}
	w, sent := trailersonly.Wrap(w, r)
	defer sent()
	only, _ := w.(*trailersonly.Writer)
	own := &call{only: only, Call: c, control: http.NewResponseController(w), format: protobuf.Codec, grpc: isGRPC(r.Header.Get("Content-Type")), http1: r.ProtoMajor == 1}
	if isJSON(r) {
		own.format = protojson.Codec
		if c.Inbound.Strict {
			own.format = protojson.Strict
		}
	}
	h := d.handlersFor(limit)
	handler := h.unary
	switch {
	case c.Action.Stream:
		handler = h.stream
	case readsOnly(c.Action):
		handler = h.get
	}
	handler.ServeHTTP(w, r.WithContext(context.WithValue(c.Inbound.Context, callKey{}, own)))
}

// unknownCompression is how the request's messages are compressed, where that is not known here. It is refused before connect sees it,
// whose answer has a Grpc-Encoding without a value: gRPC's C core, below the clients of Python, C++, Ruby and PHP, takes that for a broken
// connection and fails the calls that follow over it, too.
func unknownCompression(h http.Header) string {
	name := "Content-Encoding"
	switch kind := h.Get("Content-Type"); {
	case isGRPC(kind):
		name = "Grpc-Encoding"
	case strings.HasPrefix(kind, "application/connect+"):
		name = "Connect-Content-Encoding"
	}
	if got := h.Get(name); got != "identity" && got != "gzip" {
		return got
	}
	return ""
}
