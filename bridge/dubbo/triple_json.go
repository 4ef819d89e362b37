package dubbo

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/introspect"
)

// serveJSON answers a call of Triple in JSON: POST /interface/method, whose body is a list of arguments, an object with them, or the one argument, or GET with them in the query.
// As Java has it, PUT, PATCH and DELETE are POST, and what the body leaves out is taken from the query. A stream of answers is one of server-sent events.
func (c *tripleCall) serveJSON() {
	out, err := c.callJSON()
	if err != nil {
		c.refuseJSON(err)
		return
	}
	if c.wrote { // events
		return
	}
	setAttachments(c.w.Header(), "", c.answer.taken())
	c.w.Header().Set("Content-Type", "application/json")
	c.control.SetWriteDeadline(time.Now().Add(bodyLimit))
	c.w.Write(out) // an error means that the caller is gone
	c.control.SetWriteDeadline(time.Time{})
}

func (c *tripleCall) callJSON() ([]byte, error) {
	kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	isJSON := err == nil && (kind == jsonType || strings.HasSuffix(kind, "+json") && !strings.HasPrefix(kind, "application/grpc"))
	asked := isJSON // by a browser, before a page of another site may send this
	switch c.r.Method {
	case http.MethodPut, http.MethodPatch, http.MethodDelete:
		asked = true
	case http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		c.w.Header().Set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE")
		return nil, &statusError{http.StatusMethodNotAllowed, "want GET or POST"}
	}
	if !asked && c.server.bridge.pages.fromOtherSite(c.r.Header) {
		return nil, &statusError{http.StatusForbidden, "a page of another site asks: want POST of application/json"}
	}
	get := c.r.Method == http.MethodGet || c.r.Method == http.MethodHead
	if c.r.Header.Get("Content-Type") != "" && !get && !isJSON && !c.isForm() {
		return nil, &statusError{http.StatusUnsupportedMediaType, fmt.Sprintf("the content type %.100q is not spoken: want application/json", c.r.Header.Get("Content-Type"))}
	}
	if err := c.route(); err != nil {
		return nil, err
	}
	action := c.server.bridge.only(c.m, c.inv.method)
	c.control.SetReadDeadline(time.Now().Add(bodyLimit))
	held := &c.server.bridge.bodies
	body, err := readAll(http.MaxBytesReader(c.w, c.r.Body, maxBody+1), maxBody, held)
	if err != nil {
		return nil, unreadable(err)
	}
	defer held.free(len(body))
	c.control.SetReadDeadline(time.Time{})
	if get {
		body = nil
	}
	count, format, input := c.requestOf(body)
	if action == nil {
		if action = c.server.bridge.byCount(c.m, c.inv.method, count); action == nil {
			return nil, notFound(c.m, c.inv, c.server.bridge)
		}
	}
	if action.Stream && action.Shape == introspect.ServerStream {
		c.events = true
		return nil, c.serveEvents(action, format, input)
	}
	if action.Stream {
		return nil, &statusError{http.StatusNotImplemented, c.inv.method + " is a stream, which JSON does not carry: call it by tri://"}
	}
	in, err := c.inv.inbound(c.r.Context(), &c.answer)
	if err != nil {
		return nil, err
	}
	return action.Serve(in, format, nil, input)
}

// byCount is the action that is the one overload with so many parameters; nil for none.
func (b *bridge) byCount(m *mapping, name string, count int) *sabir.Action {
	var found *method
	for _, one := range m.methods {
		if one.name != name || len(one.types) != count {
			continue
		}
		if found != nil {
			return nil
		}
		found = one
	}
	if found == nil {
		return nil
	}
	return b.served(m, found.action)
}

// countElements is how many arguments a body has.
func countElements(body []byte) int {
	var list []stdjson.RawMessage
	switch body = bytes.TrimSpace(body); {
	case len(body) == 0:
		return 0
	case body[0] != '[', stdjson.Unmarshal(body, &list) != nil:
		return 1
	}
	return len(list)
}

// statusError is an error with a status of HTTP.
type statusError struct {
	status  int
	message string
}

func (e *statusError) Error() string { return e.message }

// refuseJSON answers with an error, in the form that Java's Triple has for it.
func (c *tripleCall) refuseJSON(err error) {
	status, message := http.StatusInternalServerError, ""
	if own, is := err.(*statusError); is {
		status, message = own.status, own.message
	} else {
		e := sabir.AsError(cause(err))
		message = e.Message
		kind, _ := statusOf(err)
		switch {
		case kind == statusNoService, e.Name == sabir.ErrActionNotFound.Name:
			status = http.StatusNotFound
		case kind == statusServerTimeout:
			status = http.StatusGatewayTimeout
		case kind != 0:
			status = http.StatusServiceUnavailable
		case e.Name == sabir.ErrMessageTooLarge.Name:
			status = http.StatusRequestEntityTooLarge
		case e.Name == sabir.ErrBadInput.Name, e.Name == sabir.ErrValidationFailed.Name:
			status = http.StatusBadRequest
		}
	}
	text, _ := json.Codec.Append(nil, struct { // of texts, which have a form in any case
		Message string `json:"message"`
		Status  string `json:"status"`
	}{strings.ToValidUTF8(message, ""), strconv.Itoa(status)})
	if c.events {
		c.beginEvents(status)
		_ = c.writeEvent(text) // the same
		return
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(status)
	c.w.Write(text) // an error means that the caller is gone
}

// jsonArguments is the codec of arguments in a list of JSON, or of the one argument.
type jsonArguments struct {
	declared bool // the method is declared with parameters, and as many as there are arguments
}

// Name implements codec.Codec.
func (jsonArguments) Name() string { return json.Name }

// Append implements codec.Codec.
func (jsonArguments) Append(dst []byte, v any) ([]byte, error) {
	if isEmpty(v) {
		return append(dst, "null"...), nil
	}
	return json.Codec.Append(dst, v)
}

// Decode implements codec.Codec.
func (j jsonArguments) Decode(data []byte, v any) error {
	data = bytes.TrimSpace(data)
	target := reflect.ValueOf(v).Elem()
	if len(data) == 0 || isEmpty(v) {
		return nil
	}
	p := positionsOf(target.Type())
	switch {
	case p.err != nil:
		return p.err
	case data[0] == '{' && p.fields != nil:
		return decodeNamed(nil, data, v)
	case data[0] != '[', p.fields == nil && takesList(target.Type(), data): // which is the one argument
		return json.Codec.Decode(data, v)
	}
	var list []stdjson.RawMessage
	if err := json.Codec.Decode(data, &list); err != nil {
		return err
	}
	if len(list) != 1 || list[0][0] != '{' && list[0][0] != 'n' {
		target = pointed(target)
		v, p = target.Addr().Interface(), positionsOf(target.Type())
	}
	if len(list) == 1 && (p.fields == nil || !p.tagged && list[0][0] == '{') {
		return json.Codec.Decode(list[0], v)
	}
	if err := p.checkCount(len(list), j.declared); err != nil {
		return err
	}
	for i, one := range list {
		if err := json.Codec.Decode(one, target.Field(p.fields[i]).Addr().Interface()); err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	return nil
}

// takesList reports whether a list of JSON may be a value of the type. Bytes are a text, in base64.
func takesList(t reflect.Type, list []byte) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return t.Elem().Kind() != reflect.Uint8 || !bytes.HasPrefix(bytes.TrimSpace(list[1:]), []byte{'"'})
	case reflect.Interface:
		return true
	}
	return false
}
