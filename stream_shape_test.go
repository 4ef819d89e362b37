package sabir_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/introspect"
)

// shaped is a service with a server stream that counts how many values its handler gets, and a client stream that answers as often as the sum
// of what it gets.
func shaped() *sabir.Service {
	s := sabir.NewService("shaped")
	sabir.HandleStream(s, "received", func(_ context.Context, st *sabir.Stream[number, number]) error {
		received := 0
		for _, err := range st.All() {
			if err != nil {
				return err
			}
			received++
		}
		return st.Send(number{received})
	}, sabir.ServerStream())
	sabir.HandleStream(s, "answer", func(_ context.Context, st *sabir.Stream[number, number]) error {
		sum := 0
		for in, err := range st.All() {
			if err != nil {
				return err
			}
			sum += in.I
		}
		for i := range sum {
			if err := st.Send(number{i}); err != nil {
				return err
			}
		}
		return nil
	}, sabir.ClientStream())
	return s
}

func TestAServerStreamTakesOneValue(t *testing.T) {
	n := start(t, sabir.Serve(shaped()))
	s, err := sabir.OpenStream[number, number](t.Context(), n, "shaped.received")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Send(number{7}); err != nil {
		t.Fatal(err)
	}
	if err := s.Send(number{8}); !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "StreamEnded", "")) || !strings.Contains(err.Error(), "takes one value") {
		t.Errorf("the second value: %v", err)
	}
	s.CloseSend() // which the first value did
	if got, err := s.Recv(); err != nil || got.I != 1 {
		t.Errorf("the handler received %v, %v", got, err)
	}
	if _, err := s.Recv(); err != io.EOF {
		t.Error(err)
	}
}

func TestAServerStreamWithoutItsValueIsBadInput(t *testing.T) {
	s, err := sabir.OpenStream[number, number](t.Context(), start(t, sabir.Serve(shaped())), "shaped.received")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.CloseSend()
	if _, err := s.Recv(); !errors.Is(err, sabir.ErrBadInput) {
		t.Error(err)
	}
}

func TestAClientStreamAnswersWithOneValue(t *testing.T) {
	n := start(t, sabir.Serve(shaped()))
	for sum, want := range []string{"returned without one", "", "sent a second"} {
		s, err := sabir.OpenStream[number, number](t.Context(), n, "shaped.answer")
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for range sum {
			if err := s.Send(number{1}); err != nil {
				t.Fatal(err)
			}
		}
		s.CloseSend()
		for err = nil; err == nil; {
			_, err = s.Recv()
		}
		if want == "" && err != io.EOF || want != "" && (!errors.Is(err, sabir.NewError(sabir.CodeInternal, errname.BadOutput, "")) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d answers: %v", sum, err)
		}
	}
}

// passedOn opens a stream of the handler, sends no value and returns the error that ends it.
func passedOn(t *testing.T, handler func(*sabir.Stream[number, number]) error, options ...sabir.ActionOption) error {
	t.Helper()
	s := sabir.NewService("s")
	sabir.HandleStream(s, "stream", func(_ context.Context, st *sabir.Stream[number, number]) error { return handler(st) }, options...)
	stream, err := sabir.OpenStream[number, number](t.Context(), start(t, sabir.Serve(s)), "s.stream")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	stream.CloseSend()
	for {
		if _, err := stream.Recv(); err != nil {
			return err
		}
	}
}

func TestAHandlerThatReturnsTheEndOfItsInputHasNotFailed(t *testing.T) {
	passOn := func(st *sabir.Stream[number, number]) error { _, err := st.Recv(); return err }
	if err := passedOn(t, passOn); err != io.EOF {
		t.Errorf("a stream both ways: %v", err)
	}
	if err := passedOn(t, passOn, sabir.ServerStream()); !errors.Is(err, sabir.ErrBadInput) {
		t.Errorf("a server stream: %v", err)
	}
	if err := passedOn(t, passOn, sabir.ClientStream()); !errors.Is(err, sabir.ErrBadInput) || !strings.Contains(err.Error(), "wants more values than it got") {
		t.Errorf("a client stream: %v", err)
	}
	if err := passedOn(t, func(st *sabir.Stream[number, number]) error {
		if err := st.Send(number{1}); err != nil {
			return err
		}
		_, err := st.Recv()
		return err
	}, sabir.ClientStream()); err != io.EOF {
		t.Errorf("a client stream that has answered: %v", err)
	}
}

func TestAnEndThatIsNotOfTheInputIsTheHandlersError(t *testing.T) {
	for name, handler := range map[string]func(*sabir.Stream[number, number]) error{
		"of a file": func(*sabir.Stream[number, number]) error { return io.EOF },
		"with more words": func(st *sabir.Stream[number, number]) error {
			_, err := st.Recv()
			return fmt.Errorf("no header: %w", err)
		},
	} {
		if err := passedOn(t, handler); !errors.Is(err, sabir.ErrHandlerFailed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheShapeOfAStreamIsDescribed(t *testing.T) {
	n := start(t, sabir.Serve(shaped(), numbers()))
	for name, want := range map[string]introspect.Shape{"shaped.received": introspect.ServerStream, "shaped.answer": introspect.ClientStream, "numbers.double": ""} {
		if a := n.Action(name); a.Shape != want || !a.Stream {
			t.Errorf("%s has the shape %q", name, a.Shape)
		}
	}
	list, err := sabir.Call[[]introspect.Action](t.Context(), n, "$node.actions", sabir.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if a.Name == "shaped.answer" && a.Shape != introspect.ClientStream {
			t.Errorf("it is listed as %+v", a)
		}
	}
}

func TestAShapeIsForOneStream(t *testing.T) {
	s := sabir.NewService("s")
	sabir.Handle(s, "call", func(context.Context, number) (number, error) { return number{}, nil }, sabir.ServerStream())
	sabir.HandleStream(s, "both", func(context.Context, *sabir.Stream[number, number]) error { return nil }, sabir.ServerStream(), sabir.ClientStream())
	err := sabir.NewNode(sabir.Serve(s)).Start(t.Context())
	for _, want := range []string{"ServerStream is for HandleStream", "the shape of a stream is given twice"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
