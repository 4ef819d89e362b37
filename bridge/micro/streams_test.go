package micro_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/internal/brokers"
)

// streams is a service of the Go side.
func streams() *sabir.Service {
	s := sabir.NewService("flow")
	sabir.HandleStream(s, "chat", func(ctx context.Context, s *sabir.Stream[labIn, labOut]) error {
		for in, err := range s.All() {
			if err != nil {
				return err
			}
			if in.Code != 0 {
				return sabir.NewError(sabir.CodeFailedPrecondition, "SoldOut", in.Text)
			}
			if err := s.Send(labOut{Sum: in.A + in.B, Text: in.Text}); err != nil {
				return err
			}
		}
		return nil
	})
	sabir.HandleStream(s, "count", func(ctx context.Context, s *sabir.Stream[labIn, labOut]) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		for i := range in.A {
			if err := s.Send(labOut{Sum: i + 1, Text: strings.Repeat("x", in.B)}); err != nil {
				return err
			}
		}
		if in.Code != 0 {
			return sabir.NewError(sabir.CodeFailedPrecondition, "SoldOut", in.Text)
		}
		return nil
	})
	sabir.HandleStream(s, "total", func(ctx context.Context, s *sabir.Stream[labIn, labOut]) error {
		sum := 0
		for in, err := range s.All() {
			if err != nil {
				return err
			}
			sum += in.A
		}
		return s.Send(labOut{Sum: sum})
	})
	return s
}

// overBoth runs a test over the HTTP transport of both versions of go-micro, and over gRPC.
func overBoth(t *testing.T, test func(t *testing.T, lab *peer, grpc bool)) {
	brokers.Long(t)
	for _, c := range []struct {
		name, version string
		arguments     []string
	}{{"HTTP of go-micro v5", "v5", nil}, {"HTTP of go-micro v4", "v4", nil}, {"gRPC", "v5", []string{"-grpc"}}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			test(t, startPeer(t, c.version, c.arguments...), c.arguments != nil)
		})
	}
}

func inputs(count int) json.RawMessage {
	var list []labIn
	for i := range count {
		list = append(list, labIn{A: i + 1, B: 1, Text: "tea"})
	}
	text, _ := json.Marshal(list)
	return text
}

func TestClientsOfGoMicroOpenStreams(t *testing.T) {
	overBoth(t, func(t *testing.T, lab *peer, grpc bool) {
		_, at := serving(t, []sabir.Servable{streams()}, micro.Config{Expose: []string{"flow.*"}})
		as := "application/json"
		if grpc {
			as = "application/grpc+json"
		}
		call := func(endpoint, how string, in json.RawMessage) answer {
			return lab.call(order{Service: "flow", Endpoint: endpoint, As: as, Stream: how, In: in, Address: at})
		}
		a := call("Flow.Chat", "turns", inputs(100))
		if len(a.Outs) != 100 || a.Error != "" || a.Outs[99].Sum != 101 || a.Outs[99].Text != "tea" {
			t.Errorf("in turns %d came, %s", len(a.Outs), a.Error)
		}
		a = call("Flow.Chat", "turns", json.RawMessage(`[{"a":1},{"code":409,"text":"none are left"}]`))
		contains(t, "the error", a.Error, `"id":"SoldOut"`, `"code":409`, "none are left")
		a = call("Flow.Count", "all", json.RawMessage(`[{"a":1000,"b":1000}]`))
		for i, out := range a.Outs {
			if out.Sum != i+1 || len(out.Text) != 1000 {
				t.Fatalf("value %d is %d with %d bytes", i, out.Sum, len(out.Text))
			}
		}
		if len(a.Outs) != 1000 || a.Error != "" {
			t.Errorf("%d of 1000 values came, %s", len(a.Outs), a.Error)
		}
		a = call("Flow.Count", "all", json.RawMessage(`[{"a":3,"code":409,"text":"none are left"}]`))
		contains(t, "the error after three values", a.Error, `"id":"SoldOut"`)
		if len(a.Outs) != 3 {
			t.Errorf("%d of 3 values came before the error", len(a.Outs))
		}
		if grpc {
			if a := call("Flow.Total", "all", inputs(100)); a.Error != "" || len(a.Outs) != 1 || a.Outs[0].Sum != 5050 {
				t.Errorf("the total is %+v, %s", a.Outs, a.Error)
			}
		}
		for _, other := range []string{"application/json-rpc", "application/grpc+json"} {
			if grpc {
				break // which has its own content types
			}
			a = lab.call(order{Service: "flow", Endpoint: "Flow.Chat", As: other, Stream: "turns", In: inputs(3), Address: at})
			if len(a.Outs) != 3 || a.Error != "" || a.Outs[2].Sum != 4 {
				t.Errorf("%s: %+v, %s", other, a.Outs, a.Error)
			}
		}
		a = call("Flow.Nope", "all", inputs(1))
		contains(t, "the error of an unknown stream", a.Error, "can't find method Nope")
	})
}

func TestStreamsOfGoMicroAreOpenedByName(t *testing.T) {
	overBoth(t, func(t *testing.T, lab *peer, grpc bool) {
		at := lab.address
		if grpc {
			at = "grpc://" + at
		}
		n := node(t, nil, micro.Config{Services: map[string]micro.Service{"lab": {Addresses: []string{at}, Endpoints: []string{"Lab.Chat", "Lab.Count", "Lab.Total", "Lab.Add", "Lab.Nope"}}}})
		open := func(action string) *sabir.Stream[labOut, labIn] {
			s, err := sabir.OpenStream[labIn, labOut](t.Context(), n, action)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			return s
		}
		chat := open("lab.chat")
		for i := range 100 {
			if err := chat.Send(labIn{A: i, B: 1, Text: "tea"}); err != nil {
				t.Fatal(err)
			}
			if out, err := chat.Recv(); err != nil || out.Sum != i+1 || out.Text != "tea" {
				t.Fatalf("value %d is %+v, %v", i, out, err)
			}
		}
		chat.CloseSend()
		if _, err := chat.Recv(); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
		failing := open("lab.chat")
		if err := failing.Send(labIn{Code: 409, Text: "no"}); err != nil {
			t.Fatal(err)
		}
		_, err := failing.Recv()
		if origin, ok := errors.AsType[*micro.Error](err); !ok || origin.Code != 409 || origin.Detail != "no" || sabir.AsError(err).Name != "lab.chat" {
			t.Errorf("the error is %v", err)
		}
		total := open("lab.total")
		for i := range 50 {
			if err := total.Send(labIn{A: i + 1}); err != nil {
				t.Fatal(err)
			}
		}
		total.CloseSend()
		if out, err := total.Recv(); err != nil || out.Sum != 1275 {
			t.Errorf("the total is %+v, %v", out, err)
		}
		if _, err := total.Recv(); err != io.EOF {
			t.Errorf("after the total: %v", err)
		}
		// go-micro's HTTP server overwrites values that it has not sent yet, so they come slowly here.
		in := labIn{A: 5, B: 10, MS: 200}
		if grpc {
			in = labIn{A: 1000, B: 10_000}
		}
		count, i := open("lab.count"), 0
		if err := count.Send(in); err != nil {
			t.Fatal(err)
		}
		for out, err := range count.All() {
			if i++; err != nil || out.Sum != i || len(out.Text) != in.B {
				t.Fatalf("value %d is %d, %v", i, out.Sum, err)
			}
		}
		if i != in.A {
			t.Errorf("%d of %d values came", i, in.A)
		}
		if s, err := sabir.OpenStream[labIn, labOut](t.Context(), n, "lab.nope"); err == nil {
			s.CloseSend()
			if _, err := s.Recv(); !errors.Is(err, sabir.ErrActionNotFound) {
				t.Errorf("the error of an unknown stream is %v", err)
			}
			s.Close()
		}
	})
}

func TestStreamsEndWithTheProcessOfGoMicro(t *testing.T) {
	overBoth(t, func(t *testing.T, lab *peer, grpc bool) {
		at := lab.address
		if grpc {
			at = "grpc://" + at
		}
		begun, ended := make(chan bool, 1), make(chan error, 1)
		s := sabir.NewService("flow")
		sabir.HandleStream(s, "wait", func(ctx context.Context, s *sabir.Stream[labIn, labOut]) error {
			begun <- true
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		})
		n, served := serving(t, []sabir.Servable{s}, micro.Config{Expose: []string{"flow.*"}, Services: map[string]micro.Service{"lab": {Addresses: []string{at}, Endpoints: []string{"Lab.Chat"}}}})
		chat, err := sabir.OpenStream[labIn, labOut](t.Context(), n, "lab.chat")
		if err != nil {
			t.Fatal(err)
		}
		defer chat.Close()
		if err := chat.Send(labIn{A: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := chat.Recv(); err != nil {
			t.Fatal(err)
		}
		as := "application/json"
		if grpc {
			as = "application/grpc+json"
		}
		lab.send(order{Service: "flow", Endpoint: "Flow.Wait", As: as, Stream: "all", In: json.RawMessage("[{}]"), Address: served}, make(chan answer, 1))
		next(t, "the stream of the client", begun)
		lab.process.Process.Kill()
		if _, err := chat.Recv(); err == nil || err == io.EOF {
			t.Errorf("the stream ended with %v", err)
		} else if e := sabir.AsError(err); e.Name != sabir.ErrLinkLost.Name {
			t.Errorf("the stream ended with %v", err)
		}
		select {
		case <-ended:
		case <-time.After(waitLimit):
			t.Error("the handler of a client that was killed did not end")
		}
	})
}
