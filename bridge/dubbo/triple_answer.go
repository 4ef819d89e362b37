package dubbo

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/internal/protojson"
)

// tripleCall is a request of Triple that is served.
type tripleCall struct {
	server  *tripleServer
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	form    messageForm

	m      *mapping
	inv    *invocation // without arguments
	answer attachments

	wrote  bool // the head of the answer
	events bool // it is a stream of events
}

// route finds the interface and the method of a request.
func (c *tripleCall) route() error {
	name, method, _ := strings.Cut(strings.TrimPrefix(c.r.URL.Path, "/"), "/")
	if m := strings.LastIndexByte(method, '/'); m >= 0 { // a path of the context is before the interface
		name, method = method[:m], method[m+1:]
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	c.m = c.server.mapping(name, c.r.Header)
	if c.m == nil {
		return notServed(c.server.bridge, name, c.r.Header)
	}
	c.inv = &invocation{path: name, method: c.server.bridge.methodName(c.m, method), attachments: attachmentsOf(c.r.Header)}
	delete(c.inv.attachments, "timeout")
	if limit := timeoutOf(c.r.Header); limit > 0 {
		c.inv.attachments["timeout"] = strconv.FormatInt(max(limit.Milliseconds(), 1), 10)
	}
	if consumer := c.r.Header.Get(headerConsumer); consumer != "" {
		c.inv.attachments[applicationKey] = strings.ToValidUTF8(consumer, "")
	}
	return nil
}

func notServed(b *bridge, name string, h http.Header) error {
	return sabir.Errorf(sabir.CodeUnimplemented, sabir.ErrActionNotFound.Name, "Not found exported service: %.200q with the version %.100q and the group %.100q on the node %s", name, h.Get(headerVersion), h.Get(headerGroup), b.node.ID())
}

// serveGRPC answers a call or a stream of gRPC.
func (c *tripleCall) serveGRPC() {
	if c.r.ProtoMajor != 2 && !c.form.web {
		http.Error(c.w, "gRPC needs HTTP/2", http.StatusHTTPVersionNotSupported)
		return
	}
	if c.r.Method != http.MethodPost {
		c.w.Header().Set("Allow", http.MethodPost)
		http.Error(c.w, "gRPC needs POST", http.StatusMethodNotAllowed)
		return
	}
	err := c.route()
	if err != nil {
		c.finish(err)
		return
	}
	action := c.server.bridge.only(c.m, c.inv.method)
	switch messages := action != nil && c.m.inMessages(action); {
	case c.form.codec == protojson.Codec && action == nil:
		err = notFound(c.m, c.inv, c.server.bridge)
	case c.form.codec == protojson.Codec && !messages:
		err = noMessages(c.m, c.inv)
	case action != nil && action.Stream:
		err = c.serveStream(action)
	case messages:
		err = c.serveMessage(action)
	default:
		err = c.serveWrapped()
	}
	c.finish(err)
}

// inMessages reports whether the values of an action travel as messages of Protocol Buffers, and not in wrappers.
func (m *mapping) inMessages(a *sabir.Action) bool {
	return m.protobuf || isMessage(a.In) && isMessage(a.Out)
}

var messageType = reflect.TypeFor[proto.Message]()

func isMessage(t reflect.Type) bool {
	return t != nil && (t.Implements(messageType) || reflect.PointerTo(t).Implements(messageType))
}

// message reads the one message of a call. done frees it.
func (c *tripleCall) message() (data []byte, done func(), err error) {
	c.control.SetReadDeadline(time.Now().Add(bodyLimit))
	held := &c.server.bridge.bodies
	if data, err = readMessage(c.r.Body, c.encoding(), held); err == nil {
		c.control.SetReadDeadline(time.Time{}) // the call may take longer
		return data, func() { held.free(len(data)) }, nil
	}
	return nil, nil, unreadable(err)
}

// unreadable is the error for a message that did not come, or is none.
func unreadable(err error) error {
	code, name := sabir.CodeInvalidArgument, sabir.ErrBadInput.Name
	switch {
	case errors.Is(err, errTooLarge):
		code, name = sabir.CodeResourceExhausted, sabir.ErrMessageTooLarge.Name
	case errors.Is(err, errNoMemory):
		code, name = sabir.CodeResourceExhausted, sabir.ErrTooManyCalls.Name
	case errors.Is(err, errFormat), errors.Is(err, errCompression):
		code = sabir.CodeUnimplemented
	}
	return &refusal{sabir.Errorf(code, name, "the message of the call cannot be read: %w", err)}
}

// refusal is an error that is the status of an answer, whatever the interface says about it.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

// cause is the error that a refusal is.
func cause(err error) error {
	if r, is := errors.AsType[*refusal](err); is {
		return r.error
	}
	return err
}

// serveMessage answers a call whose values are messages of Protocol Buffers.
func (c *tripleCall) serveMessage(action *sabir.Action) error {
	data, done, err := c.message()
	if err != nil {
		return err
	}
	defer done()
	in, err := c.inv.inbound(c.r.Context(), &c.answer)
	if err != nil {
		return err
	}
	held := buffers.Get().(*[]byte)
	out, err := action.Serve(in, c.form.codec, (*held)[:0], data)
	defer func() { putBuffer(held, out) }()
	if err != nil {
		return inMessages(err)
	}
	return c.write(out)
}

// inMessages is an error for a caller that knows no exceptions of Java, which is always a status.
func inMessages(err error) error {
	if err == nil {
		return nil
	}
	if e := sabir.AsError(err); e.Name == sabir.ErrActionNotFound.Name || e.Retryable {
		return err
	}
	return &refusal{err}
}

// serveWrapped answers a call whose values are wrapped.
func (c *tripleCall) serveWrapped() error {
	data, done, err := c.message()
	if err != nil {
		return err
	}
	defer done()
	w, err := readWrapper(data)
	if err != nil && c.m.protobuf { // a message, of a method that is not there
		return notFound(c.m, c.inv, c.server.bridge)
	}
	if err == nil && len(w.values) > maxArguments {
		err = fmt.Errorf("%d arguments: a method has at most %d", len(w.values), maxArguments)
	}
	if err == nil {
		err = c.inv.take(w)
	}
	if err != nil {
		return unreadable(err)
	}
	held := buffers.Get().(*[]byte)
	var out []byte
	if c.inv.method == echoMethod && len(w.values) == 1 {
		out = append((*held)[:0], w.values[0]...)
	} else {
		out, err = c.server.bridge.call(c.r.Context(), c.m, c.inv, &c.answer, (*held)[:0])
	}
	defer func() { putBuffer(held, out) }()
	if err != nil {
		return err
	}
	return c.write(wrapAnswer(out))
}

// take makes a call with the arguments of a wrapper.
func (inv *invocation) take(w *wrapped) error {
	inv.types, inv.each = w.types, w.values
	if len(w.values) == 3 && (inv.method == genericMethod || inv.method == genericAsyncMethod) {
		return inv.readGeneric()
	}
	return nil
}

func wrapAnswer(value []byte) []byte {
	return appendWrapper(make([]byte, 0, len(value)+64), [][]byte{value}, []string{javaTypeOf(value)})
}

// begin writes the head of the answer.
func (c *tripleCall) begin() {
	if c.wrote {
		return
	}
	c.wrote = true
	c.w.Header().Set("Content-Type", c.r.Header.Get("Content-Type"))
	c.w.WriteHeader(http.StatusOK)
}

// write sends a message of the answer.
func (c *tripleCall) write(data []byte) error {
	if len(data) > maxBody {
		return &refusal{sabir.Errorf(sabir.CodeResourceExhausted, sabir.ErrMessageTooLarge.Name, "the answer of %s has %d bytes: %d is the limit of Triple", c.inv.method, len(data), maxBody)}
	}
	c.begin()
	held := buffers.Get().(*[]byte)
	out := appendMessage((*held)[:0], data)
	defer putBuffer(held, out)
	if _, err := c.w.Write(out); err != nil {
		return errGone
	}
	return nil
}

// errGone is the error of an answer that nobody takes.
var errGone = sabir.NewError(sabir.CodeCanceled, sabir.ErrCanceled.Name, "the caller has gone")

// finish ends the answer. An error by which the call was not made is its status; others are exceptions.
func (c *tripleCall) finish(err error) {
	if x := c.exception(err); x != nil {
		c.w.Header().Set(headerException, businessException)
		if data, failed := hessian.Codec.Append(nil, x); failed == nil {
			err = c.write(appendWrapper(nil, [][]byte{data}, []string{x.Class}))
		}
	}
	c.begin()
	h, prefix := c.w.Header(), http.TrailerPrefix
	if c.form.web {
		h, prefix = make(http.Header), ""
	}
	setAttachments(h, prefix, c.answer.taken())
	code, text := tripleStatus(err)
	h.Set(prefix+headerStatus, strconv.Itoa(code))
	if text != "" {
		h.Set(prefix+headerMessage, percentEncode(text))
	}
	if c.form.web {
		c.w.Write(webTrailers(h)) // an error means that the caller is gone
	}
}

// webTrailers is the message of gRPC-Web that ends an answer.
func webTrailers(h http.Header) []byte {
	message := []byte{flagTrailers, 0, 0, 0, 0}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		message = append(message, strings.ToLower(name)+": "+h.Get(name)+"\r\n"...)
	}
	return setMessageLength(message)
}

// exception is the exception that an error is for Java; nil for one that is a status.
func (c *tripleCall) exception(err error) *hessian.Exception {
	if err == nil || err == errGone || c.inv == nil || c.wrote || c.form.status {
		return nil
	}
	if _, is := errors.AsType[*refusal](err); is {
		return nil
	}
	if status, _ := statusOf(err); status != 0 {
		return nil
	}
	x := exceptionOf(c.m, err)
	if c.inv.generic {
		x = genericException(x)
	}
	if _, failed := hessian.Codec.Append(nil, x); failed != nil { // a field of an exception that the handler made
		x = &hessian.Exception{Class: runtimeException, Message: "the exception " + x.Class + " cannot be written"}
	}
	return x
}

// tripleStatus is gRPC's status for an error, and its text.
func tripleStatus(err error) (code int, text string) {
	if err == nil {
		return 0, ""
	}
	e := sabir.AsError(cause(err))
	if e.Name == sabir.ErrActionNotFound.Name {
		return sabir.CodeUnimplemented.GRPCStatus(), e.Message
	}
	return e.Code.GRPCStatus(), e.Message
}
