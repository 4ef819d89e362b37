package dubbo

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/gateway"
)

// fromOtherSite reports whether a page of another site makes a browser ask: what GET calls may change something.
func fromOtherSite(h http.Header) bool {
	site := h.Get("Sec-Fetch-Site")
	return h.Get("Origin") != "" || site != "" && site != "none" && site != "same-origin"
}

// queryArguments is the codec of arguments in the query of a URL, by the names that they have in JSON. An input that is no struct is the one parameter.
type queryArguments struct{ jsonArguments }

// Decode implements codec.Codec.
func (queryArguments) Decode(data []byte, v any) error {
	values, err := url.ParseQuery(string(data))
	if err != nil {
		return err
	}
	target := reflect.TypeOf(v).Elem()
	if p := positionsOf(target); p.err != nil {
		return p.err
	} else if p.fields == nil {
		if len(values) > 1 {
			return errors.New("several parameters for an action that takes one argument")
		}
		for _, list := range values {
			return json.Decode(jsonOf(list, target), v)
		}
		return nil
	}
	object := make(map[string]stdjson.RawMessage)
	for f := range target.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		list, has := values[name]
		if !has {
			list, has = values[strings.ToLower(name[:1])+name[1:]]
		}
		if has && f.IsExported() && name != "-" {
			object[name] = jsonOf(list, f.Type)
		}
	}
	text, err := stdjson.Marshal(object)
	if err != nil {
		return err
	}
	return json.Decode(text, v)
}

// jsonOf is the values of a parameter as JSON for a type: a text where that is one, a list where it takes several.
func jsonOf(values []string, t reflect.Type) stdjson.RawMessage {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem().Kind() != reflect.Uint8 {
		list := make([]stdjson.RawMessage, len(values))
		for i := range values {
			list[i] = jsonOf(values[i:i+1], t.Elem())
		}
		text, _ := stdjson.Marshal(list) // of JSON
		return text
	}
	last := values[len(values)-1]
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		if stdjson.Valid([]byte(last)) {
			return stdjson.RawMessage(last)
		}
	case reflect.Struct, reflect.Map, reflect.Interface:
		if stdjson.Valid([]byte(last)) {
			return stdjson.RawMessage(last)
		}
	}
	text, _ := stdjson.Marshal(last) // what is no number is refused as a text
	return text
}

// serveEvents answers with a stream of answers as server-sent events, each of which is a value in JSON.
func (c *tripleCall) serveEvents(action *sabir.Action, format codec.Codec, input []byte) error {
	in, err := c.inv.inbound(c.r.Context(), nil)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(c.r.Context())
	defer end(nil)
	if in.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, in.Limit)
		defer cancel()
	}
	unhook := context.AfterFunc(c.server.streams, func() { end(context.Cause(c.server.streams)) })
	defer unhook()
	in.Context = gateway.WithAnswer(ctx, &c.answer)
	stream, err := action.Open(in, format)
	if err != nil {
		return err
	}
	defer stream.Close()
	if err := stream.Send(input); err != nil && err != io.EOF {
		return unreadable(err)
	}
	stream.CloseSend()
	for {
		value, err := stream.Recv()
		if err == io.EOF {
			c.beginEvents(http.StatusOK)
			return nil
		}
		if err == nil && len(value) > maxBody {
			err = sabir.Errorf(sabir.CodeResourceExhausted, sabir.ErrMessageTooLarge.Name, "a value of %s has %d bytes: %d is the limit of Triple", c.inv.method, len(value), maxBody)
		}
		if err != nil {
			if why := context.Cause(ctx); why != nil && !errors.Is(why, context.Canceled) && !errors.Is(why, context.DeadlineExceeded) {
				err = why
			}
			return err
		}
		c.beginEvents(http.StatusOK)
		if c.writeEvent(value) != nil {
			return errGone
		}
	}
}

// beginEvents writes the head of a stream of events.
func (c *tripleCall) beginEvents(status int) {
	if c.wrote {
		return
	}
	c.wrote = true
	c.w.Header().Set("Content-Type", eventStream)
	c.w.Header().Set("Cache-Control", "no-cache")
	c.w.WriteHeader(status)
	_ = c.control.Flush() // an error means that the caller is gone
}

// writeEvent sends an event. Its error means that the caller is gone, or does not read.
func (c *tripleCall) writeEvent(data []byte) error {
	c.control.SetWriteDeadline(time.Now().Add(bodyLimit))
	defer c.control.SetWriteDeadline(time.Time{})
	if _, err := c.w.Write(append(append([]byte("data:"), data...), "\n\n"...)); err != nil {
		return err
	}
	return c.control.Flush()
}

const eventStream = "text/event-stream"
