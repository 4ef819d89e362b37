package micro_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
)

func TestAStreamMayStandStillForLongerThanTheLimitOfAnAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("the limit of an answer is 30 s")
	}
	const large, count = 1 << 20, 32 // more than what the connections and the streams hold
	pause := func(ctx context.Context) error {
		select {
		case <-time.After(32 * time.Second):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s := sabir.NewService("flow")
	sabir.HandleStream(s, "pause", func(ctx context.Context, s *sabir.Stream[sabir.Empty, string]) error {
		return errors.Join(s.Send("one"), pause(ctx), s.Send("two"))
	}, sabir.ServerStream())
	sabir.HandleStream(s, "many", func(_ context.Context, s *sabir.Stream[sabir.Empty, []byte]) error {
		for range count {
			if err := s.Send(make([]byte, large)); err != nil {
				return err
			}
		}
		return nil
	}, sabir.ServerStream())
	sabir.HandleStream(s, "take", func(ctx context.Context, s *sabir.Stream[[]byte, int]) error {
		if err := pause(ctx); err != nil {
			return err
		}
		got := 0
		for value, err := range s.All() {
			if err != nil {
				return err
			}
			got += len(value)
		}
		return s.Send(got)
	})
	_, at := serving(t, []sabir.Servable{s}, micro.Config{Expose: []string{"flow.*"}})
	for name, address := range map[string]string{"HTTP": at, "gRPC": "grpc://" + at} {
		n := node(t, nil, micro.Config{Services: map[string]micro.Service{"flow": {Addresses: []string{address}, Endpoints: []string{"Flow.Pause", "Flow.Many", "Flow.Take"}}}})
		t.Run("no value over "+name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for value, err := range sabir.CallStream[string](t.Context(), n, "flow.pause", sabir.Empty{}) {
				if err != nil {
					t.Error(err)
				}
				got += value
			}
			if got != "onetwo" {
				t.Errorf("got %q", got)
			}
		})
		t.Run("a client that does not read over "+name, func(t *testing.T) {
			t.Parallel()
			got := 0
			for value, err := range sabir.CallStream[[]byte](t.Context(), n, "flow.many", sabir.Empty{}) {
				if err != nil {
					t.Fatalf("after %d bytes: %v", got, err)
				}
				if got == 0 {
					_ = pause(t.Context())
				}
				got += len(value)
			}
			if got != count*large {
				t.Errorf("%d bytes came of %d", got, count*large)
			}
		})
		t.Run("a handler that does not read over "+name, func(t *testing.T) {
			t.Parallel()
			open, err := sabir.OpenStream[[]byte, int](t.Context(), n, "flow.take")
			if err != nil {
				t.Fatal(err)
			}
			defer open.Close()
			for range count {
				if err := open.Send(make([]byte, large)); err != nil && err != io.EOF {
					t.Fatal(err)
				}
			}
			open.CloseSend()
			if got, err := open.Recv(); err != nil || got != count*large {
				t.Errorf("%d bytes came of %d, %v", got, count*large, err)
			}
		})
	}
}
