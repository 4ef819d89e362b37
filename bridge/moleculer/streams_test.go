package moleculer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
)

// number is a value of the object streams.
type number struct {
	I int `json:"i"`
}

// streams is a service of streams of the Go side.
func streams() *sabir.Service {
	s := sabir.NewService("streams")
	sabir.HandleStream(s, "upper", func(_ context.Context, s *sabir.Stream[[]byte, []byte]) error {
		for piece, err := range s.All() {
			if err != nil {
				return err
			}
			if err := s.Send(bytes.ToUpper(piece)); err != nil {
				return err
			}
		}
		return nil
	})
	sabir.HandleStream(s, "double", func(_ context.Context, s *sabir.Stream[number, number]) error {
		for n, err := range s.All() {
			if err != nil {
				return err
			}
			if err := s.Send(number{2 * n.I}); err != nil {
				return err
			}
		}
		return nil
	})
	sabir.HandleStream(s, "size", func(ctx context.Context, s *sabir.Stream[[]byte, map[string]any]) error {
		size := 0
		for piece, err := range s.All() {
			if err != nil {
				return err
			}
			size += len(piece)
		}
		return s.Send(map[string]any{"size": size, "params": moleculer.Params(ctx), "user": sabir.InfoFromContext(ctx).Metadata["user"]})
	})
	sabir.HandleStream(s, "range", func(_ context.Context, s *sabir.Stream[map[string]int, number]) error {
		in, err := s.Recv()
		for i := 0; err == nil && i < in["n"]; i++ {
			err = s.Send(number{i})
		}
		return err
	})
	sabir.HandleStream(s, "download", func(_ context.Context, s *sabir.Stream[map[string]int, []byte]) error {
		in, err := s.Recv()
		if err == nil {
			err = s.Send(bytes.Repeat([]byte{1}, in["size"]))
		}
		return err
	})
	sabir.HandleStream(s, "fails", func(_ context.Context, s *sabir.Stream[map[string]int, number]) error {
		in, err := s.Recv()
		for i := 0; err == nil && i < in["after"]; i++ {
			err = s.Send(number{i})
		}
		if err != nil {
			return err
		}
		return sabir.NewError(sabir.CodeFailedPrecondition, "Broken", "it broke")
	})
	sabir.HandleStream(s, "checked", func(_ context.Context, s *sabir.Stream[order, number]) error {
		_, err := s.Recv()
		return err
	})
	return s
}

// collected has the values that came in a stream to a Moleculer node.
type collected struct {
	Values []json.RawMessage `json:"values"`
	Bytes  int               `json:"bytes"`
	Sum    int               `json:"sum"`
	Object bool              `json:"object"`
	Params any               `json:"params"`
	Meta   string            `json:"meta"`
}

// TestStreamsBothWays runs one pair of nodes of each version, as TestCallsBothWays does.
func TestStreamsBothWays(t *testing.T) {
	versions(t, func(t *testing.T, a *place, js *peer) {
		ended := make(chan error, 1)
		service := streams()
		sabir.HandleStream(service, "ended", func(ctx context.Context, s *sabir.Stream[number, number]) error {
			for {
				if _, err := s.Recv(); err != nil {
					ended <- err
					return err
				}
			}
		})
		n := a.node("go", []sabir.Servable{service, orders()}, moleculer.Config{Expose: []string{"**"}})
		js.must(nil, "wait", "streams")
		if err := n.WaitFor(t.Context(), "v2.js"); err != nil {
			t.Fatal(err)
		}
		t.Run("streams of Moleculer nodes", func(t *testing.T) { streamsOfMoleculerNodes(t, js) })
		t.Run("streams to Moleculer's actions", func(t *testing.T) { streamsToMoleculersActions(t, n, js) })
		t.Run("errors end streams", func(t *testing.T) { errorsEndStreams(t, n, js, ended) })
	})
}

func streamsOfMoleculerNodes(t *testing.T, js *peer) {
	params := map[string]any{"name": "a.txt"}
	for _, c := range []struct {
		action string
		values any
		params any
		want   string
	}{
		{"streams.double", []number{{1}, {2}, {3}}, nil, `[{"i":2} {"i":4} {"i":6}] 0 0 true`},
		{"streams.double", number{4}, number{4}, `[{"i":8}] 0 0 true`}, // params are a stream of one
		{"streams.size", []string{"abc", "defg"}, params, `[{"params":{"name":"a.txt"},"size":7,"user":"Ada"}] 0 0 true`},
		{"streams.upper", []string{"a", "b"}, nil, `[] 2 131 false`},
		{"streams.range", nil, map[string]int{"n": 3}, `[{"i":0} {"i":1} {"i":2}] 0 0 true`},
		{"streams.range", nil, map[string]int{"n": 0}, `[] 0 0 true`},
		{"streams.double", []number{}, nil, `[] 0 0 true`}, // a stream without values
		{"streams.size", []string{}, nil, `[{"params":null,"size":0,"user":"Ada"}] 0 0 true`},
		{"streams.download", nil, map[string]int{"size": 1_000_000}, `[] 1000000 1000000 false`},
	} {
		if _, list := c.values.(number); list {
			c.values = nil
		}
		var got collected
		err := js.do(&got, "stream", c.action, c.values, c.params, map[string]any{"user": "Ada"})
		if text := fmt.Sprintf("%s %d %d %v", got.Values, got.Bytes, got.Sum, got.Object); err != nil || text != c.want {
			t.Errorf("%s: %s, %v\nwant %s", c.action, text, err, c.want)
		}
	}
	// Moleculer's nodes send a megabyte in pieces of 256 KiB.
	var got collected
	if err := js.do(&got, "upload", "streams.size", 1_000_000, 3); err != nil || len(got.Values) != 1 || !strings.Contains(string(got.Values[0]), `"size":3000000`) {
		t.Errorf("an upload: %s, %v", got.Values, err)
	}
}

func streamsToMoleculersActions(t *testing.T, n *sabir.Node, js *peer) {
	sum := 0
	for v, err := range sabir.CallStream[number](t.Context(), n, "js.range", map[string]int{"n": 100}) {
		if err != nil {
			t.Fatal(err)
		}
		sum += v.I
	}
	if sum != 4950 {
		t.Errorf("the sum is %d", sum)
	}
	for v, err := range sabir.CallStream[number](t.Context(), n, "js.empty", sabir.Empty{}) {
		t.Errorf("a stream without values has %v, %v", v, err)
	}
	size := 0
	for piece, err := range sabir.CallStream[[]byte](t.Context(), n, "js.bytes", map[string]int{"n": 3, "size": 700_000}) {
		if err != nil {
			t.Fatal(err)
		}
		size += len(piece)
	}
	if size != 2_100_000 {
		t.Errorf("%d bytes came", size)
	}
	// Values go there and come back one by one.
	both, err := sabir.OpenStream[number, number](t.Context(), n, "js.double")
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	for i := range 5 {
		if err := both.Send(number{i}); err != nil {
			t.Fatal(err)
		}
		if v, err := both.Recv(); err != nil || v.I != 2*i {
			t.Fatalf("%d came back as %+v, %v", i, v, err)
		}
	}
	both.CloseSend()
	if _, err := both.Recv(); err != io.EOF {
		t.Errorf("the end is %v", err)
	}
	// Bytes, with params beside them; the answer is a value.
	ctx := moleculer.WithParams(sabir.WithMetadata(t.Context(), "user", "Eve"), map[string]any{"name": "b.txt"})
	up, err := sabir.OpenStream[[]byte, collected](ctx, n, "js.collect")
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	if err := up.Send(bytes.Repeat([]byte{1}, 1_000_000)); err != nil {
		t.Fatal(err)
	}
	up.CloseSend()
	got, err := up.Recv()
	if err != nil || got.Bytes != 1_000_000 || got.Sum != 1_000_000 || got.Object || fmt.Sprint(got.Params) != "map[name:b.txt]" || got.Meta != "Eve" {
		t.Errorf("there came %+v, %v", got, err)
	}
	if _, err := up.Recv(); err != io.EOF {
		t.Errorf("the end is %v", err)
	}
	none, err := sabir.OpenStream[number, collected](moleculer.WithParams(t.Context(), 7), n, "js.collect")
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	none.CloseSend()
	if got, err := none.Recv(); err != nil || len(got.Values) != 0 || got.Bytes != 0 || fmt.Sprint(got.Params) != "7" || !got.Object {
		t.Errorf("of a stream without values there came %+v, %v", got, err)
	}
	if _, err := sabir.Call[any](t.Context(), n, "js.range", map[string]int{"n": 1}); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "StreamWanted", "")) {
		t.Errorf("a call of a stream: %v", err)
	}
}

func errorsEndStreams(t *testing.T, n *sabir.Node, js *peer, ended chan error) {
	for after := range 2 {
		if err := js.do(nil, "stream", "streams.fails", nil, map[string]int{"after": after}); err == nil || err.Error() != "MoleculerClientError 409 Broken false: it broke" {
			t.Errorf("after %d values: %v", after, err)
		}
	}
	if err := js.do(nil, "stream", "streams.checked", nil, map[string]int{}); err == nil || !strings.HasPrefix(err.Error(), "ValidationError 422") {
		t.Errorf("a value against the rules: %v", err)
	}
	if err := js.do(nil, "stream", "orders.echo", []number{{1}}, nil); err == nil {
		t.Error("a stream to an action that is none was taken")
	}
	if err := js.do(nil, "breaks", "streams.ended"); err == nil || !strings.Contains(err.Error(), "BROKEN") {
		t.Errorf("a broken upload: %v", err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) && !errors.Is(err, sabir.ErrCanceled) {
			t.Errorf("the handler got %v", err)
		}
	case <-time.After(waitLimit):
		t.Error("the handler was not ended")
	}
	var last error
	values := 0
	for _, err := range sabir.CallStream[number](t.Context(), n, "js.breaks", sabir.Empty{}) {
		if last = err; err == nil {
			values++
		}
	}
	if e := sabir.AsError(last); values != 1 || e.Name != "BROKEN" || e.Code != sabir.CodeAborted {
		t.Errorf("after %d values: %v", values, last)
	}
	// A stream that is closed ends for the handler there.
	s, err := sabir.OpenStream[number, number](t.Context(), n, "js.ended")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := s.Send(number{i}); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if line := js.event(); !strings.Contains(line, "ended RequestRejectedError") {
		t.Errorf("the handler there got %s", line)
	}
}

// Packets that brokers may deliver in another order are put back into it, and a flood of what nobody takes ends its stream only.
func TestPacketsOfAStreamComeInTheirOrder(t *testing.T) {
	a := newPlace(t)
	a.node("go", []sabir.Servable{streams()}, moleculer.Config{Expose: []string{"**"}})
	conn, err := natsgo.Connect(a.broker.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers, err := conn.SubscribeSync("MOL-" + a.namespace + ".RES.forger")
	if err != nil {
		t.Fatal(err)
	}
	send := func(id, action string, seq int, more bool, params string) {
		text := fmt.Sprintf(`{"ver":"5","sender":"forger","id":%q,"action":%q,"seq":%d,"stream":%v,"params":%s,"meta":{},"headers":{"$streamObjectMode":true},"level":1}`, id, action, seq, more, params)
		if err := conn.Publish("MOL-"+a.namespace+".REQ.go", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	next := func() string {
		m, err := answers.NextMsg(waitLimit)
		if err != nil {
			t.Fatal(err)
		}
		var r struct {
			Seq    int             `json:"seq"`
			Stream bool            `json:"stream"`
			Data   json.RawMessage `json:"data"`
			Error  *jsError        `json:"error"`
		}
		if err := json.Unmarshal(m.Data, &r); err != nil {
			t.Fatal(err)
		}
		if r.Error != nil {
			return r.Error.Type
		}
		return fmt.Sprintf("%d %v %s", r.Seq, r.Stream, r.Data)
	}
	send("x", "streams.double", 0, true, "null")
	send("x", "streams.double", 3, true, `{"i":3}`)
	send("x", "streams.double", 4, false, `null`)
	send("x", "streams.double", 2, true, `{"i":2}`)
	send("x", "streams.double", 2, true, `{"i":2}`)
	send("y", "streams.double", 1, true, `{"i":9}`) // of no stream
	send("x", "streams.double", 1, true, `{"i":1}`)
	for _, want := range []string{`0 true null`, `1 true {"i":2}`, `2 true {"i":4}`, `3 true {"i":6}`, `4 false null`} {
		if got := next(); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
	// The packet 1 does not come, so none can be taken.
	send("z", "streams.double", 0, true, "null")
	for i := range 1100 {
		send("z", "streams.double", 2+i, true, "{}")
	}
	for got := next(); got != "StreamTooSlow"; got = next() {
		if got != "0 true null" {
			t.Fatalf("the flood is answered with %s", got)
		}
	}
}
