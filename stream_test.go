package sabir_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

type countTo struct {
	N int `json:"n" validate:"max=1000000"`
}

type number struct {
	I int `json:"i"`
}

// numbers is a service with a stream of each kind.
func numbers() *sabir.Service {
	s := sabir.NewService("numbers")
	sabir.HandleStream(s, "count", func(_ context.Context, st *sabir.Stream[countTo, number]) error {
		in, err := st.Recv()
		if err != nil {
			return err
		}
		for i := range in.N {
			if err := st.Send(number{i}); err != nil {
				return err
			}
		}
		return nil
	})
	sabir.HandleStream(s, "sum", func(_ context.Context, st *sabir.Stream[number, number]) error {
		sum := 0
		for in, err := range st.All() {
			if err != nil {
				return err
			}
			sum += in.I
		}
		return st.Send(number{sum})
	})
	sabir.HandleStream(s, "double", func(_ context.Context, st *sabir.Stream[number, number]) error {
		for in, err := range st.All() {
			if err != nil {
				return err
			}
			if err := st.Send(number{in.I * 2}); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

func TestServerStream(t *testing.T) {
	node := start(t, sabir.Serve(numbers()))
	next := 0
	for n, err := range sabir.CallStream[number](t.Context(), node, "numbers.count", countTo{1000}) {
		if err != nil || n.I != next {
			t.Fatalf("got %v, %v, want %d", n, err, next)
		}
		next++
	}
	if next != 1000 {
		t.Fatalf("%d values", next)
	}
}

func TestClientStream(t *testing.T) {
	node := start(t, sabir.Serve(numbers()))
	st, err := sabir.OpenStream[number, number](t.Context(), node, "numbers.sum")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for i := range 1000 {
		if err := st.Send(number{i}); err != nil {
			t.Fatal(err)
		}
	}
	st.CloseSend()
	if out, err := st.Recv(); err != nil || out.I != 499500 {
		t.Fatalf("got %v, %v", out, err)
	}
	if _, err := st.Recv(); err != io.EOF {
		t.Fatalf("after the last: %v", err)
	}
}

func TestStreamBothWays(t *testing.T) {
	node := start(t, sabir.Serve(numbers()))
	st, err := sabir.OpenStream[number, number](t.Context(), node, "numbers.double")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for i := range 1000 {
		if err := st.Send(number{i}); err != nil {
			t.Fatal(err)
		}
		if out, err := st.Recv(); err != nil || out.I != 2*i {
			t.Fatalf("got %v, %v", out, err)
		}
	}
}

func TestStreamTypesAreConverted(t *testing.T) {
	type ask struct {
		N int8 `json:"n"`
	}
	type got struct {
		I float64 `json:"i"`
	}
	node := start(t, sabir.Serve(numbers()))
	sum := 0.0
	for n, err := range sabir.CallStream[got](t.Context(), node, "numbers.count", ask{5}) {
		if err != nil {
			t.Fatal(err)
		}
		sum += n.I
	}
	if sum != 10 {
		t.Fatalf("got %v", sum)
	}
}

func TestSenderWaitsForASlowReceiver(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		sent := 0
		s := sabir.NewService("fast")
		sabir.HandleStream(s, "all", func(_ context.Context, st *sabir.Stream[number, number]) error {
			for ; ; sent++ {
				if err := st.Send(number{sent}); err != nil {
					return err
				}
			}
		})
		node := start(t, sabir.Serve(s))
		st, err := sabir.OpenStream[number, number](context.Background(), node, "fast.all")
		if err != nil {
			t.Fatal(err)
		}
		bubbletest.Wait()
		if sent != admission.StreamWindow {
			t.Errorf("%d values sent, the window is %d", sent, admission.StreamWindow)
		}
		for range 5 {
			if _, err := st.Recv(); err != nil {
				t.Error(err)
			}
		}
		bubbletest.Wait()
		if sent != admission.StreamWindow+5 {
			t.Errorf("%d values sent after 5 were taken", sent)
		}
		st.Close()
	})
}

func TestStreamErrors(t *testing.T) {
	log, _ := logged()
	s := numbers()
	sabir.HandleStream(s, "fail", func(_ context.Context, st *sabir.Stream[countTo, number]) error {
		_ = st.Send(number{1})
		return sabir.NewError(sabir.CodeAborted, "Enough", "no more")
	})
	sabir.HandleStream(s, "panic", func(context.Context, *sabir.Stream[countTo, number]) error { panic("boom") })
	sabir.HandleStream(s, "go", func(ctx context.Context, _ *sabir.Stream[countTo, number]) error {
		sabir.Go(ctx, func(context.Context) error { panic("boom") })
		return nil
	})
	sabir.Handle(s, "call", hello)
	node := start(t, sabir.Serve(s), log)
	for name, c := range map[string]struct {
		action      string
		in          countTo
		typedValues int
		want        error
	}{
		"the handler's error comes after what it sent": {"numbers.fail", countTo{}, 1, sabir.NewError(sabir.CodeAborted, "Enough", "")},
		"a panic":                     {"numbers.panic", countTo{}, 0, sabir.ErrPanic},
		"a panic in a goroutine":      {"numbers.go", countTo{}, 0, sabir.ErrPanic},
		"a value against the rules":   {"numbers.count", countTo{2_000_000}, 0, sabir.ErrValidationFailed},
		"an unknown action":           {"numbers.cuont", countTo{}, 0, sabir.ErrActionNotFound},
		"an action that is no stream": {"numbers.call", countTo{}, 0, sabir.NewError(sabir.CodeInvalidArgument, "NoStream", "")},
	} {
		t.Run(name, func(t *testing.T) {
			typedValues := 0
			var last error
			for _, err := range sabir.CallStream[number](t.Context(), node, c.action, c.in) {
				if err == nil {
					typedValues++
				}
				last = err
			}
			if typedValues != c.typedValues || !errors.Is(last, c.want) {
				t.Fatalf("%d values, then %v", typedValues, last)
			}
		})
	}
	if _, err := sabir.Call[number](t.Context(), node, "numbers.count", countTo{}); err == nil || !strings.Contains(err.Error(), "OpenStream") {
		t.Fatalf("Call of a stream: %v", err)
	}
}

func TestHandlerEndsWhenItsCallerGoes(t *testing.T) {
	for name, leave := range map[string]func(st *sabir.Stream[number, number], cancel func()){
		"by Close":        func(st *sabir.Stream[number, number], _ func()) { st.Close() },
		"by cancellation": func(_ *sabir.Stream[number, number], cancel func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan error, 2)
			s := sabir.NewService("long")
			sabir.HandleStream(s, "recv", func(ctx context.Context, st *sabir.Stream[number, number]) error {
				_, err := st.Recv()
				ended <- err
				<-ctx.Done()
				ended <- st.Send(number{})
				return err
			})
			node := start(t, sabir.Serve(s))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			st, err := sabir.OpenStream[number, number](ctx, node, "long.recv")
			if err != nil {
				t.Fatal(err)
			}
			leave(st, cancel)
			for range 2 {
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Fatalf("handler got %v", err)
				}
			}
			if _, err := st.Recv(); !errors.Is(err, context.Canceled) {
				t.Fatalf("caller got %v", err)
			}
			st.Close()
		})
	}
}

func TestADeadlineEndsAStream(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s := sabir.NewService("long")
		sabir.HandleStream(s, "wait", func(ctx context.Context, _ *sabir.Stream[number, number]) error { <-ctx.Done(); return ctx.Err() })
		node := start(t, sabir.Serve(s))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		for _, err := range sabir.CallStream[number](ctx, node, "long.wait", number{}) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestSendAfterCloseSendIsAnError(t *testing.T) {
	node := start(t, sabir.Serve(numbers()))
	st, err := sabir.OpenStream[number, number](t.Context(), node, "numbers.sum")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	st.CloseSend()
	st.CloseSend()
	for range 2 {
		if err := st.Send(number{}); sabir.AsError(err) == nil || sabir.AsError(err).Name != "StreamEnded" {
			t.Fatalf("got %v", err)
		}
		for _, err := range st.All() { // to its end: the handler's end does not make it another error
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestStreamsPassTheirOwnMiddlewares(t *testing.T) {
	var passed []string
	around := sabir.Middleware{Stream: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			passed = append(passed, "open "+a.Name)
			err := next(ctx, r)
			passed = append(passed, "end")
			return err
		}
	}}
	node := start(t, sabir.Serve(numbers()), sabir.Use(around))
	for range sabir.CallStream[number](t.Context(), node, "numbers.count", countTo{3}) {
		continue
	}
	if strings.Join(passed, ", ") != "open numbers.count, end" {
		t.Fatalf("passed %v", passed)
	}
}

func TestAStreamWithinTheProcessEndsWhenItsNodeHasStopped(t *testing.T) {
	ended := make(chan error, 1)
	s := sabir.NewService("clock")
	sabir.HandleStream(s, "ticks", func(ctx context.Context, _ *sabir.Stream[sabir.Empty, int]) error {
		<-ctx.Done()
		ended <- ctx.Err()
		return nil
	})
	node := sabir.NewNode(sabir.Serve(s))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	stream, err := sabir.OpenStream[sabir.Empty, int](t.Context(), node, "clock.ticks")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if err := node.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, sabir.ErrServiceUnavailable) && err != io.EOF {
		t.Errorf("the caller has %v", err)
	}
	if err := <-ended; err == nil {
		t.Error("the handler's context has not ended")
	}
}
