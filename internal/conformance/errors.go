package conformance

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/validate"
)

var errorBehaviours = []behaviour{
	{"an error with a name and data arrives as itself", typedError},
	{"an error that wraps an author's keeps its code and name", wrappedError},
	{"a plain error arrives with its text and the node, as not retryable", plainError},
	{"a panic is its caller's error and tells nothing of what it said", panicError},
	{"the panic of a goroutine that a handler started with Go is its caller's error", goPanicError},
	{"a broken rule is a validation error with the fields", validationError},
	{"an unknown action is not found, and the error suggests similar names", unknownAction},
	{"what is retryable arrives as retryable", retryableError},
	{"an error passes through a node in between and still tells where it happened", errorOverTwoHops},
	{"a retryable error of a nested call is not retryable for the outer caller", retryableNested},
	{"an answer that does not fit the caller's type is an error that says so", answerDoesNotFit},
	{"an input that cannot be sent is an error before it leaves", unsendableInput},
	{"calls that go round in a circle between nodes end in an error", circle},
}

var errOutOfStock = sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "not enough in stock")

type stock struct {
	Left int      `json:"left"`
	At   []string `json:"at"`
}

func typedError(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, func(context.Context, int) (int, error) {
		return 0, errOutOfStock.WithData(stock{3, []string{"north"}})
	})
	_, err := sabir.Call[int](brief(t), w.ann, action, 1)
	e := sabir.AsError(err)
	if !errors.Is(err, errOutOfStock) || e.Message != "not enough in stock" || e.Node != "bob" || e.Retryable {
		t.Errorf("got %+v", e)
	}
	if data, err := sabir.DataAs[stock](err); err != nil || !reflect.DeepEqual(data, stock{3, []string{"north"}}) {
		t.Errorf("the data is %+v, %v", data, err)
	}
}

func wrappedError(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, func(context.Context, int) (int, error) {
		return 0, fmt.Errorf("order 7: %w", errOutOfStock.WithData(stock{Left: 3}))
	})
	_, err := sabir.Call[int](brief(t), w.ann, action, 1)
	if e := sabir.AsError(err); !errors.Is(err, errOutOfStock) || !contains(e.Message, "order 7", "not enough in stock") {
		t.Errorf("got %+v", e)
	}
	if data, err := sabir.DataAs[stock](err); err != nil || data.Left != 3 {
		t.Errorf("the data is %+v, %v", data, err)
	}
}

func plainError(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, func(context.Context, int) (int, error) { return 0, errors.New("the shelf is empty") })
	_, err := sabir.Call[int](brief(t), w.ann, action, 1)
	if e := sabir.AsError(err); !errors.Is(err, sabir.ErrHandlerFailed) || e.Code != sabir.CodeUnknown || e.Message != "the shelf is empty" || e.Node != "bob" || e.Retryable {
		t.Errorf("got %+v", e)
	}
}

func panicError(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, func(context.Context, int) (int, error) { panic("secret 4711") })
	for range 2 { // the node keeps running
		_, err := sabir.Call[int](brief(t), w.ann, action, 1)
		e := sabir.AsError(err)
		if !errors.Is(err, sabir.ErrPanic) || e.Node != "bob" || e.Stack() != nil {
			t.Errorf("got %+v", e)
		}
		if text := fmt.Sprintf("%v %+v %v", err, *e, errors.Unwrap(err)); contains(text, "4711") {
			t.Errorf("what the panic said came over: %s", text)
		}
	}
}

func goPanicError(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, func(ctx context.Context, _ int) (int, error) {
		sabir.Go(ctx, func(context.Context) error { panic("secret 4711") })
		return 1, nil
	})
	if _, err := sabir.Call[int](brief(t), w.ann, action, 1); !errors.Is(err, sabir.ErrPanic) || contains(err.Error(), "4711") {
		t.Errorf("got %v", err)
	}
}

func validationError(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, greet)
	_, err := sabir.Call[reply](brief(t), w.ann, action, greeting{"a name that is much too long"})
	e := sabir.AsError(err)
	if !errors.Is(err, sabir.ErrValidationFailed) || e.Node != "bob" || e.HTTPStatus() != 422 {
		t.Errorf("got %+v", e)
	}
	if fields, err := sabir.DataAs[validate.Errors](err); err != nil || len(fields) != 1 || !contains(fmt.Sprintf("%+v", fields[0]), "name") {
		t.Errorf("the data is %+v, %v", fields, err)
	}
}

func unknownAction(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, greet)
	_, err := sabir.Call[reply](brief(t), w.ann, action+"t", greeting{"Ada"})
	near, dataErr := sabir.DataAs[map[string][]string](err)
	if !errors.Is(err, sabir.ErrActionNotFound) || !contains(err.Error(), action) || dataErr != nil || !slices.Contains(near["nearest"], action) {
		t.Errorf("got %v with %v, %v", err, near, dataErr)
	}
}

func retryableError(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, func(context.Context, int) (int, error) {
		return 0, sabir.NewError(sabir.CodeUnavailable, "Warming", "not yet").AsRetryable()
	})
	_, err := sabir.Call[int](brief(t), w.ann, action, 1)
	if e := sabir.AsError(err); e.Name != "Warming" || !e.Retryable {
		t.Errorf("got %+v", e)
	}
}

func errorOverTwoHops(t *testing.T, s *suite) {
	w := s.threeNodes
	inner := remote(t, w, func(context.Context, int) (int, error) { return 0, errOutOfStock.WithData(stock{Left: 3}) })
	outer := sabir.NewService(name())
	sabir.Handle(outer, "it", func(ctx context.Context, in int) (int, error) { return sabir.Call[int](ctx, outer, inner, in) })
	w.serve(t, w.cid, outer)
	_, err := sabir.Call[int](brief(t), w.ann, outer.Name()+".it", 1)
	if e := sabir.AsError(err); !errors.Is(err, errOutOfStock) || e.Node != "bob" {
		t.Errorf("got %+v", e)
	}
	if data, err := sabir.DataAs[stock](err); err != nil || data.Left != 3 {
		t.Errorf("the data is %+v, %v", data, err)
	}
}

func retryableNested(t *testing.T, s *suite) {
	w := s.threeNodes
	inner := remote(t, w, func(context.Context, int) (int, error) {
		return 0, sabir.NewError(sabir.CodeUnavailable, "Warming", "not yet").AsRetryable()
	})
	outer := sabir.NewService(name())
	sabir.Handle(outer, "it", func(ctx context.Context, in int) (int, error) { return sabir.Call[int](ctx, outer, inner, in) })
	w.serve(t, w.cid, outer)
	_, err := sabir.Call[int](brief(t), w.ann, outer.Name()+".it", 1)
	if e := sabir.AsError(err); e.Name != "Warming" || e.Retryable {
		t.Errorf("got %+v", e)
	}
}

func answerDoesNotFit(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, greet)
	type wrong struct {
		Text int `json:"text"`
	}
	_, err := sabir.Call[wrong](brief(t), w.ann, action, greeting{"Ada"})
	if !errors.Is(err, sabir.NewError(sabir.CodeInternal, errname.BadOutput, "")) || !contains(err.Error(), action, "text") {
		t.Errorf("got %v", err)
	}
}

func unsendableInput(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, greet)
	_, err := sabir.Call[reply](brief(t), w.ann, action, map[string]any{"name": make(chan int)})
	if e := sabir.AsError(err); !errors.Is(err, sabir.ErrBadInput) || e.Node != "ann" {
		t.Errorf("got %+v", e)
	}
}

func circle(t *testing.T, s *suite) {
	w := s.threeNodes
	there, back := sabir.NewService(name()), sabir.NewService(name())
	sabir.Handle(there, "it", func(ctx context.Context, in int) (int, error) {
		return sabir.Call[int](ctx, there, back.Name()+".it", in)
	})
	sabir.Handle(back, "it", func(ctx context.Context, in int) (int, error) {
		return sabir.Call[int](ctx, back, there.Name()+".it", in)
	})
	w.serve(t, w.bob, there)
	w.serve(t, w.cid, back)
	if _, err := sabir.Call[int](brief(t), w.ann, there.Name()+".it", 1); !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "TooManyLevels", "")) {
		t.Errorf("got %v", err)
	}
}
