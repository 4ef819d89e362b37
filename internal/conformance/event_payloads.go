package conformance

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/sabir-go/sabir"
)

func eventShapes(t *testing.T, s *suite) {
	w := s.threeNodes
	event, got := name()+".happened", make(chan orderV2, 1)
	service := sabir.NewService(name())
	sabir.On(service, event, func(_ context.Context, in orderV2) error {
		got <- in
		return nil
	})
	w.serve(t, w.bob, service)
	must(t, sabir.Emit(brief(t), w.ann, event, orderV1{ID: 7, Item: "lamp", Price: 1.5, Tags: []string{"x"}}))
	lamp := "lamp"
	if in, want := get(t, "the event", got), (orderV2{Tags: []string{"x"}, Price: 1.5, ID: 7, Item: &lamp}); !reflect.DeepEqual(in, want) {
		t.Errorf("got %+v, want %+v", in, want)
	}
}

func eventDocuments(t *testing.T, s *suite) {
	w := s.threeNodes
	event := name() + ".happened"
	free, raw := make(chan any, 10), make(chan stdjson.RawMessage, 10)
	freely, rawly := sabir.NewService(name()), sabir.NewService(name())
	sabir.On(freely, event, func(_ context.Context, in any) error {
		free <- in
		return nil
	})
	sabir.On(rawly, event, func(_ context.Context, in stdjson.RawMessage) error {
		raw <- slices.Clone(in)
		return nil
	})
	w.serve(t, w.bob, freely)
	w.serve(t, w.bob, rawly)
	text := stdjson.RawMessage(`{"name":"Ada"}`)
	must(t, sabir.Emit(brief(t), w.ann, event, greeting{"Ada"}))
	must(t, sabir.Emit(brief(t), w.ann, event, text))
	for _, how := range []string{"typed", "as a document"} {
		if in := string(get(t, "the raw payload", raw)); in != string(text) {
			t.Errorf("emitted %s, json.RawMessage is %s", how, in)
		}
		switch in := get(t, "the payload", free).(type) {
		case map[string]any:
			if in["name"] != "Ada" {
				t.Errorf("emitted %s, any is %v", how, in)
			}
		case stdjson.RawMessage:
			if string(in) != string(text) {
				t.Errorf("emitted %s, any is %s", how, in)
			}
		default:
			t.Errorf("emitted %s, any is the %T %v", how, in, in)
		}
	}
}

func eventUnreadable(t *testing.T, s *suite) {
	w := s.threeNodes
	event, got := name()+".happened", make(chan received, 1)
	picky := sabir.NewService(name())
	sabir.On(picky, event, func(context.Context, struct {
		Name []int `json:"name"`
	}) error {
		t.Error("the handler ran with a payload that it cannot have read")
		return nil
	})
	w.serve(t, w.bob, picky)
	w.serve(t, w.bob, listens(name(), got, event))
	if err := sabir.Emit(brief(t), w.ann, event, greeting{"Ada"}); !errors.Is(err, sabir.ErrBadInput) || !contains(err.Error(), event, picky.Name(), "bob") {
		t.Errorf("the emitter got %v", err)
	}
	if len(got) != 1 {
		t.Error("the handler that understands it did not get it")
	}
}

func eventLarge(t *testing.T, s *suite) {
	w := s.threeNodes
	event, got := name()+".happened", make(chan string, 2)
	for _, on := range []*sabir.Node{w.bob, w.cid} {
		service := sabir.NewService(name())
		sabir.On(service, event, func(_ context.Context, in []byte) error {
			got <- fmt.Sprint(len(in), slices.Equal(in, pattern(large, 3)))
			return nil
		})
		w.serve(t, on, service)
	}
	must(t, sabir.Broadcast(brief(t), w.ann, event, pattern(large, 3)))
	for range 2 {
		if in := get(t, "the event", got); in != fmt.Sprint(large, true) {
			t.Errorf("got %s", in)
		}
	}
}
