package conformance

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
)

var streamBehaviours = []behaviour{
	{"values go both ways over a stream, in order", streamBothWays},
	{"one question gets many answers", streamAnswers},
	{"many values get one answer after the caller's last", streamCollects},
	{"what was sent before the handler's end arrives before the end", streamTail},
	{"closing a stream early cancels the handler's context", streamClosed},
	{"the caller's context ends a stream on both sides", streamCancelled},
	{"the caller's Recv returns the handler's error", streamError},
	{"the handler's panic ends the stream with an error that tells nothing", streamPanic},
	{"a value that breaks a rule ends the stream for both sides", streamValidation},
	{"a sender waits when the receiver does not take, in both directions", streamBackPressure},
	{"stream values of 5 MB arrive whole, both ways", streamLarge},
	{"streams beside each other do not hold each other up", streamsBeside},
	{"a server stream takes one value of its caller, and ends the caller's direction with it", streamServer},
	{"a client stream answers with one value, and a second is its handler's mistake", streamClient},
	{"a handler that returns the io.EOF of Recv ends its stream without an error", streamEndsWithInput},
	{"stream values of another shape are matched by their names", streamShapes},
	{"sending after CloseSend is an error, and after the end of the stream io.EOF", streamSendAfterEnd},
	{"a call of a stream and a stream of a call are errors that say so", streamMixedUp},
	{"metadata, request id, caller and level reach the handler of a stream", streamContext},
	{"a stream of an unknown action is not found", streamUnknown},
	{"a stream can be opened to a node by name", streamToNode},
}

// double sends back twice what it receives.
func double(_ context.Context, s *sabir.Stream[int, int]) error {
	for in, err := range s.All() {
		if err != nil {
			return err
		}
		if err := s.Send(2 * in); err != nil {
			return err
		}
	}
	return nil
}

// open opens a stream from ann that is closed when the test ends.
func open[In, Out any](t testing.TB, w *threeNodes, action string, options ...sabir.CallOption) *sabir.Stream[Out, In] {
	t.Helper()
	s, err := sabir.OpenStream[In, Out](brief(t), w.ann, action, options...)
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

func streamBothWays(t *testing.T, s *suite) {
	w := s.threeNodes
	stream := open[int, int](t, w, remoteStream(t, w, double))
	const values = 500
	sent := make(chan error, 1)
	go func() {
		for i := range values {
			if err := stream.Send(i); err != nil {
				sent <- err
				return
			}
		}
		stream.CloseSend()
		sent <- nil
	}()
	next := 0
	for out, err := range stream.All() {
		must(t, err)
		if out != 2*next {
			t.Fatalf("value %d is %d", next, out)
		}
		next++
	}
	if err := <-sent; err != nil || next != values {
		t.Errorf("%d values came back, sending gave %v", next, err)
	}
}

func streamAnswers(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remoteStream(t, w, func(_ context.Context, s *sabir.Stream[int, int]) error {
		n, err := s.Recv()
		if err != nil {
			return err
		}
		for i := range n {
			if err := s.Send(i); err != nil {
				return err
			}
		}
		return nil
	})
	var got []int
	for out, err := range sabir.CallStream[int](brief(t), w.ann, action, 5) {
		must(t, err)
		got = append(got, out)
	}
	if !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("got %v", got)
	}
}

func streamCollects(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remoteStream(t, w, func(_ context.Context, s *sabir.Stream[int, int]) error {
		sum := 0
		for in, err := range s.All() {
			if err != nil {
				return err
			}
			sum += in
		}
		return s.Send(sum)
	})
	stream := open[int, int](t, w, action)
	for i := range 101 {
		must(t, stream.Send(i))
	}
	stream.CloseSend()
	if sum, err := stream.Recv(); err != nil || sum != 5050 {
		t.Errorf("got %d, %v", sum, err)
	}
	if _, err := stream.Recv(); err != io.EOF {
		t.Errorf("after the last: %v", err)
	}
}

func streamTail(t *testing.T, s *suite) {
	w := s.threeNodes
	returned := make(chan struct{})
	action := remoteStream(t, w, func(_ context.Context, s *sabir.Stream[int, int]) error {
		defer close(returned)
		return errors.Join(s.Send(1), s.Send(2), errOutOfStock)
	})
	stream := open[int, int](t, w, action)
	get(t, "the handler's return", returned)
	first, err1 := stream.Recv()
	second, err2 := stream.Recv()
	_, err3 := stream.Recv()
	if first != 1 || second != 2 || err1 != nil || err2 != nil || !errors.Is(err3, errOutOfStock) {
		t.Errorf("got %d, %v, %d, %v, %v", first, err1, second, err2, err3)
	}
}

func streamClosed(t *testing.T, s *suite) {
	w := s.threeNodes
	began, ended := make(chan struct{}), make(chan error, 1)
	action := remoteStream(t, w, func(ctx context.Context, s *sabir.Stream[int, int]) error {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	})
	stream := open[int, int](t, w, action)
	get(t, "the stream at the handler", began)
	stream.Close()
	if err := get(t, "the end of the handler's context", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the handler saw %v", err)
	}
	if _, err := stream.Recv(); !errors.Is(err, sabir.ErrCanceled) {
		t.Errorf("Recv after Close: %v", err)
	}
	stream.Close() // again does nothing
}

func streamCancelled(t *testing.T, s *suite) {
	w := s.threeNodes
	ended := make(chan error, 1)
	action := remoteStream(t, w, func(ctx context.Context, s *sabir.Stream[int, int]) error {
		_ = s.Send(1)
		_, err := s.Recv()
		ended <- err
		return err
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := sabir.OpenStream[int, int](ctx, w.ann, action)
	must(t, err)
	defer stream.Close()
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := stream.Recv(); !errors.Is(err, sabir.ErrCanceled) {
		t.Errorf("the caller got %v", err)
	}
	if err := get(t, "the end of the handler's Recv", ended); !errors.Is(err, sabir.ErrCanceled) {
		t.Errorf("the handler got %v", err)
	}
}

func streamError(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remoteStream(t, w, func(context.Context, *sabir.Stream[int, int]) error { return errOutOfStock.WithData(stock{Left: 3}) })
	_, err := open[int, int](t, w, action).Recv()
	if e := sabir.AsError(err); !errors.Is(err, errOutOfStock) || e.Node != "bob" {
		t.Errorf("got %+v", e)
	}
	if data, err := sabir.DataAs[stock](err); err != nil || data.Left != 3 {
		t.Errorf("the data is %+v, %v", data, err)
	}
}

func streamPanic(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remoteStream(t, w, func(context.Context, *sabir.Stream[int, int]) error { panic("secret 4711") })
	_, err := open[int, int](t, w, action).Recv()
	if !errors.Is(err, sabir.ErrPanic) || contains(err.Error(), "4711") {
		t.Errorf("got %v", err)
	}
}

func streamValidation(t *testing.T, s *suite) {
	w := s.threeNodes
	ended := make(chan error, 1)
	action := remoteStream(t, w, func(_ context.Context, s *sabir.Stream[greeting, int]) error {
		for _, err := range s.All() {
			if err != nil {
				ended <- err
				return err
			}
		}
		return nil
	})
	stream := open[greeting, int](t, w, action)
	must(t, stream.Send(greeting{"Ada"}))
	must(t, stream.Send(greeting{"a name that is much too long"}))
	if _, err := stream.Recv(); !errors.Is(err, sabir.ErrValidationFailed) {
		t.Errorf("the caller got %v", err)
	}
	if err := get(t, "the end at the handler", ended); !errors.Is(err, sabir.ErrValidationFailed) {
		t.Errorf("the handler got %v", err)
	}
}

// flood is the number of values of flooding bytes sent to a receiver that does not take them: 8 MiB, far more than a stream's
// window of 256 KiB.
const (
	flood    = 256
	flooding = 32 << 10
)

func streamBackPressure(t *testing.T, s *suite) {
	w := s.threeNodes
	var sent atomic.Int64
	begin, filled := make(chan struct{}), make(chan struct{})
	action := remoteStream(t, w, func(_ context.Context, s *sabir.Stream[[]byte, []byte]) error {
		defer close(filled)
		for range flood {
			if err := s.Send(pattern(flooding, 4)); err != nil {
				return err
			}
			sent.Add(1)
		}
		<-begin
		for range flood {
			if _, err := s.Recv(); err != nil {
				return err
			}
		}
		return nil
	})
	stream := open[[]byte, []byte](t, w, action)
	stuck(t, "the handler", &sent)
	for range flood {
		_, err := stream.Recv()
		must(t, err)
	}
	var up atomic.Int64
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range flood {
			if stream.Send(pattern(flooding, 4)) != nil {
				return
			}
			up.Add(1)
		}
	}()
	stuck(t, "the caller", &up)
	close(begin)
	get(t, "the handler's end", filled)
	if _, err := stream.Recv(); err != io.EOF { // the handler ends without an error once it has every value
		t.Errorf("%d values were sent, and then %v", up.Load(), err)
	}
	get(t, "the sender's end", over)
	if up.Load() < flood-1 { // the last Send may find the stream at its end already
		t.Errorf("Send failed after %d values", up.Load())
	}
}

// stuck waits until a sender has stopped, and checks that it did so in time: the same count thirty times, 2 ms apart.
func stuck(t *testing.T, who string, sent *atomic.Int64) {
	t.Helper()
	last, same := int64(-1), 0
	eventually(t, who+" waits", func() bool {
		if now := sent.Load(); now == last && now > 0 {
			same++
		} else {
			last, same = now, 0
		}
		return same >= 30
	})
	if last > flood/4 {
		t.Errorf("%s sent %d values of %d bytes to somebody who took none", who, last, flooding)
	}
}

func streamLarge(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remoteStream(t, w, func(_ context.Context, s *sabir.Stream[[]byte, []byte]) error {
		for in, err := range s.All() {
			if err != nil {
				return err
			}
			if err := s.Send(in); err != nil {
				return err
			}
		}
		return nil
	})
	stream := open[[]byte, []byte](t, w, action)
	for seed := range byte(2) {
		data := pattern(large, seed)
		must(t, stream.Send(data))
		if out, err := stream.Recv(); err != nil || !bytes.Equal(out, data) {
			t.Fatalf("%d bytes came back, %v", len(out), err)
		}
	}
}

func streamsBeside(t *testing.T, s *suite) {
	w := s.threeNodes
	full := remoteStream(t, w, func(ctx context.Context, s *sabir.Stream[int, []byte]) error {
		for {
			if err := s.Send(pattern(flooding, 5)); err != nil {
				return err
			}
		}
	})
	action := remoteStream(t, w, double)
	_ = open[int, []byte](t, w, full) // what it sends is not received
	var others []*sabir.Stream[int, int]
	for range 50 {
		others = append(others, open[int, int](t, w, action))
	}
	for i, stream := range others {
		must(t, stream.Send(i))
	}
	for i, stream := range others {
		if out, err := stream.Recv(); err != nil || out != 2*i {
			t.Errorf("stream %d: %d, %v", i, out, err)
		}
	}
}

func streamEndsWithInput(t *testing.T, s *suite) {
	passOn := func(_ context.Context, s *sabir.Stream[int, int]) error {
		for {
			in, err := s.Recv()
			if err != nil {
				return err
			}
			if err := s.Send(in); err != nil {
				return err
			}
		}
	}
	w := s.threeNodes
	action, clientStream := remoteStream(t, w, passOn), remoteStream(t, w, passOn, sabir.ClientStream())
	for _, values := range []int{0, 3} {
		stream := open[int, int](t, w, action)
		for i := range values {
			must(t, stream.Send(i))
		}
		stream.CloseSend()
		received := 0
		for _, err := range stream.All() {
			must(t, err)
			received++
		}
		if received != values {
			t.Fatalf("%d of %d values came back", received, values)
		}
	}
	stream := open[int, int](t, w, clientStream)
	stream.CloseSend()
	if _, err := stream.Recv(); !errors.Is(err, sabir.ErrBadInput) {
		t.Fatalf("a client stream without the value that its answer needs: %v", err)
	}
}

func streamShapes(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remoteStream(t, w, func(_ context.Context, s *sabir.Stream[orderV2, orderV2]) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		in.ID++
		return s.Send(in)
	})
	type answer struct {
		ID    int64   `json:"id"`
		Price float64 `json:"price"`
	}
	stream := open[orderV1, answer](t, w, action)
	must(t, stream.Send(orderV1{ID: 6, Price: 1.5}))
	if out, err := stream.Recv(); err != nil || out != (answer{7, 1.5}) {
		t.Errorf("got %+v, %v", out, err)
	}
}

func streamSendAfterEnd(t *testing.T, s *suite) {
	w := s.threeNodes
	stream := open[int, int](t, w, remoteStream(t, w, double))
	stream.CloseSend()
	if err := stream.Send(1); sabir.AsError(err).Name != "StreamEnded" {
		t.Errorf("after CloseSend: %v", err)
	}
	short := open[int, int](t, w, remoteStream(t, w, func(context.Context, *sabir.Stream[int, int]) error { return nil }))
	if _, err := short.Recv(); err != io.EOF {
		t.Fatalf("the end is %v", err)
	}
	if err := short.Send(1); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

func streamMixedUp(t *testing.T, s *suite) {
	w := s.threeNodes
	stream := remoteStream(t, w, double)
	call := remote(t, w, greet)
	if _, err := sabir.Call[int](brief(t), w.ann, stream, 1); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "StreamWanted", "")) {
		t.Errorf("a call of a stream: %v", err)
	}
	_, err := sabir.OpenStream[greeting, reply](brief(t), w.ann, call)
	if err == nil {
		_, err = open[greeting, reply](t, w, call).Recv()
	}
	if sabir.AsError(err).Name != "NoStream" {
		t.Errorf("a stream of a call: %v", err)
	}
}

func streamContext(t *testing.T, s *suite) {
	w := s.threeNodes
	inner := remoteStream(t, w, func(ctx context.Context, s *sabir.Stream[int, seen]) error {
		return s.Send(seen{sabir.InfoFromContext(ctx), sabir.InfoFromContext(ctx).Metadata})
	})
	outer := sabir.NewService(name())
	sabir.Handle(outer, "it", func(ctx context.Context, in int) (out seen, err error) {
		for out, err = range sabir.CallStream[seen](ctx, outer, inner, in) {
			return out, err
		}
		return out, errors.New("nothing came")
	})
	w.serve(t, w.cid, outer)
	ctx := sabir.WithRequestID(sabir.WithMetadata(brief(t), "tenant", "a"), "r-1")
	out, err := sabir.Call[seen](ctx, w.ann, outer.Name()+".it", 1)
	if i := out.Info; err != nil || i.Action != inner || i.CalledBy != outer.Name()+".it" || i.Depth != 2 || i.RequestID != "r-1" || out.Metadata["tenant"] != "a" {
		t.Errorf("got %+v, %v", out, err)
	}
}

func streamUnknown(t *testing.T, s *suite) {
	if _, err := sabir.OpenStream[int, int](brief(t), s.threeNodes.ann, name()+".it"); !errors.Is(err, sabir.ErrActionNotFound) {
		t.Errorf("got %v", err)
	}
}

func streamToNode(t *testing.T, s *suite) {
	w := s.threeNodes
	service := name()
	for _, on := range []*sabir.Node{w.bob, w.cid} {
		made := sabir.NewService(service)
		sabir.HandleStream(made, "it", func(ctx context.Context, s *sabir.Stream[int, string]) error {
			return s.Send(sabir.NodeFromContext(ctx).ID())
		})
		w.serve(t, on, made)
	}
	for _, want := range []string{"cid", "bob", "cid"} {
		if out, err := open[int, string](t, w, service+".it", sabir.ToNode(want)).Recv(); err != nil || out != want {
			t.Errorf("to %s: %s, %v", want, out, err)
		}
	}
}

func streamServer(t *testing.T, s *suite) {
	stream := open[int, int](t, s.threeNodes, remoteStream(t, s.threeNodes, double, sabir.ServerStream()))
	must(t, stream.Send(21))
	if err := stream.Send(22); !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "StreamEnded", "")) {
		t.Errorf("the second value: %v", err)
	}
	if got, err := stream.Recv(); err != nil || got != 42 {
		t.Errorf("got %d, %v", got, err)
	}
	if _, err := stream.Recv(); err != io.EOF {
		t.Errorf("the end is %v", err)
	}
}

func streamClient(t *testing.T, s *suite) {
	action := remoteStream(t, s.threeNodes, double, sabir.ClientStream())
	one := open[int, int](t, s.threeNodes, action)
	must(t, one.Send(21))
	one.CloseSend()
	if got, err := one.Recv(); err != nil || got != 42 {
		t.Errorf("got %d, %v", got, err)
	}
	if _, err := one.Recv(); err != io.EOF {
		t.Errorf("the end is %v", err)
	}
	two := open[int, int](t, s.threeNodes, action)
	must(t, two.Send(1))
	must(t, two.Send(2))
	if _, err := two.Recv(); err != nil {
		t.Error(err)
	}
	if _, err := two.Recv(); !errors.Is(err, sabir.NewError(sabir.CodeInternal, errname.BadOutput, "")) {
		t.Errorf("after the second answer: %v", err)
	}
}
