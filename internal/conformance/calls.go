package conformance

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/sabir-go/sabir"
)

var callBehaviours = []behaviour{
	{"a call by name reaches the node that offers the action", callByName},
	{"a bound action follows its service from node to node", bindFollows},
	{"a service calls through the node that serves it", serviceCalls},
	{"fields added, left out, in another order or wider are matched by their names", otherShapes},
	{"input that cannot become the handler's type is a bad input that names the field", impossibleShape},
	{"a JSON document calls an action and its answer is one", jsonCall},
	{"a caller without a type of its own gets the answer as a document", untypedCaller},
	{"a handler without a type of its own gets the input as a document", untypedHandler},
	{"nil and empty, and what pointers and maps hold, arrive as they were", valuesSurvive},
	{"values of 5 MB go in and come back", largeValues},
	{"a large value does not hold up a small call", largeBesideSmall},
	{"a thousand calls at once all get their own answers", manyCalls},
	{"an inline action answers like any other", inlineAction},
	{"several calls made together are all answered", callAll},
}

type greeting struct {
	Name string `json:"name" validate:"max=20"`
}

type reply struct {
	Text string `json:"text"`
	Node string `json:"node"`
}

func greet(ctx context.Context, in greeting) (reply, error) {
	return reply{"Hello, " + in.Name, sabir.NodeFromContext(ctx).ID()}, nil
}

func callByName(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, greet)
	for _, from := range w.nodes() {
		out, err := sabir.Call[reply](brief(t), from, action, greeting{"Ada"})
		if err != nil || out != (reply{"Hello, Ada", "bob"}) {
			t.Errorf("%s got %+v, %v", from.ID(), out, err)
		}
	}
}

func bindFollows(t *testing.T, s *suite) {
	w := s.threeNodes
	service := name()
	hello := sabir.Bind[greeting, reply](w.ann, service+".it")
	make := func() *sabir.Service {
		made := sabir.NewService(service)
		sabir.Handle(made, "it", greet)
		return made
	}
	if _, err := hello(brief(t), greeting{"Ada"}); !errors.Is(err, sabir.ErrServiceUnavailable) || !sabir.AsError(err).Retryable {
		t.Errorf("before anybody offers it: %v", err)
	}
	var before *sabir.Node
	for _, on := range []*sabir.Node{w.bob, w.ann, w.cid} {
		made := make()
		must(t, on.Add(brief(t), made))
		eventually(t, "ann knows that "+on.ID()+" offers it", func() bool { return offers(w.ann, service, on.ID()) })
		if before != nil {
			eventually(t, "ann knows that "+before.ID()+" does not any more", func() bool { return !offers(w.ann, service, before.ID()) })
		}
		out, err := hello(brief(t), greeting{"Ada"})
		if err != nil || out.Node != on.ID() {
			t.Errorf("with the service on %s: %+v, %v", on.ID(), out, err)
		}
		must(t, on.Remove(brief(t), made))
		before = on
	}
}

func serviceCalls(t *testing.T, s *suite) {
	w := s.threeNodes
	inner := remote(t, w, greet)
	outer := sabir.NewService(name())
	sabir.Handle(outer, "it", func(ctx context.Context, in greeting) (reply, error) {
		return sabir.Call[reply](ctx, outer, inner, in)
	})
	w.serve(t, w.cid, outer)
	out, err := sabir.Call[reply](brief(t), w.ann, outer.Name()+".it", greeting{"Ada"})
	if err != nil || out.Node != "bob" {
		t.Errorf("got %+v, %v", out, err)
	}
}

type orderV1 struct {
	ID    int32    `json:"id"`
	Item  string   `json:"item"`
	Price float32  `json:"price"`
	Tags  []string `json:"tags"`
	Gone  string   `json:"gone"`
}

type orderV2 struct {
	Tags  []string          `json:"tags"`
	Price float64           `json:"price"`
	ID    int64             `json:"id"`
	Item  *string           `json:"item"`
	New   map[string]string `json:"new"`
}

func otherShapes(t *testing.T, s *suite) {
	action := remote(t, s.threeNodes, func(_ context.Context, in orderV2) (orderV2, error) {
		if in.New != nil {
			return in, errors.New("the added field is not nil")
		}
		in.ID++
		in.Tags = append(in.Tags, "seen")
		in.New = map[string]string{"a": "b"}
		return in, nil
	})
	type answerV3 struct { // an old caller that reads what it knows, into types as wide as the handler's
		Item *string  `json:"item"`
		ID   int64    `json:"id"`
		Tags []string `json:"tags"`
	}
	lamp := "lamp"
	in := orderV1{ID: 1<<31 - 2, Item: "lamp", Price: 1.5, Tags: []string{"x"}, Gone: "?"}
	out, err := sabir.Call[answerV3](brief(t), s.threeNodes.ann, action, in)
	if want := (answerV3{&lamp, 1<<31 - 1, []string{"x", "seen"}}); err != nil || !reflect.DeepEqual(out, want) {
		t.Errorf("got %+v, %v, want %+v", out, err, want)
	}
}

func impossibleShape(t *testing.T, s *suite) {
	ran := make(chan struct{}, 1)
	action := remote(t, s.threeNodes, func(context.Context, greeting) (reply, error) {
		ran <- struct{}{}
		return reply{}, nil
	})
	type wrong struct {
		Name []int `json:"name"`
	}
	_, err := sabir.Call[reply](brief(t), s.threeNodes.ann, action, wrong{[]int{1}})
	if !errors.Is(err, sabir.ErrBadInput) || !contains(err.Error(), "name") || len(ran) > 0 {
		t.Errorf("got %v", err)
	}
}

func jsonCall(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, greet)
	text, err := sabir.CallJSON(brief(t), w.ann, action, []byte(`{"name":"Ada","unknown":1}`))
	if err != nil || string(text) != `{"text":"Hello, Ada","node":"bob"}` {
		t.Errorf("got %s, %v", text, err)
	}
	text, err = sabir.CallJSON(brief(t), w.ann, action, nil)
	if err != nil || string(text) != `{"text":"Hello, ","node":"bob"}` {
		t.Errorf("without a document: %s, %v", text, err)
	}
	if _, err = sabir.CallJSON(brief(t), w.ann, action, []byte(`{"name":7}`)); !errors.Is(err, sabir.ErrBadInput) {
		t.Errorf("with a number for a name: %v", err)
	}
	if _, err = sabir.CallJSON(brief(t), w.ann, action, []byte(`{"name":`)); !errors.Is(err, sabir.ErrBadInput) {
		t.Errorf("with half a document: %v", err)
	}
}

func untypedCaller(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, greet)
	raw, err := sabir.Call[stdjson.RawMessage](brief(t), w.ann, action, greeting{"Ada"})
	if err != nil || string(raw) != `{"text":"Hello, Ada","node":"bob"}` {
		t.Errorf("as json.RawMessage: %s, %v", raw, err)
	}
	free, err := sabir.Call[any](brief(t), w.ann, action, map[string]any{"name": "Ada"})
	if want := any(map[string]any{"text": "Hello, Ada", "node": "bob"}); err != nil || !reflect.DeepEqual(free, want) {
		t.Errorf("as any: %v, %v", free, err)
	}
}

func untypedHandler(t *testing.T, s *suite) {
	w := s.threeNodes
	raw := remote(t, w, func(_ context.Context, in stdjson.RawMessage) (stdjson.RawMessage, error) { return in, nil })
	free := remote(t, w, func(_ context.Context, in any) (any, error) { return in, nil })
	for _, action := range []string{raw, free} {
		out, err := sabir.Call[greeting](brief(t), w.ann, action, greeting{"Ada"})
		if err != nil || out.Name != "Ada" {
			t.Errorf("a typed call: %+v, %v", out, err)
		}
		text, err := sabir.CallJSON(brief(t), w.ann, action, []byte(`{"name":"Ada"}`))
		if err != nil || string(text) != `{"name":"Ada"}` {
			t.Errorf("a JSON call: %s, %v", text, err)
		}
	}
}

type assortment struct {
	Nil, Empty   []int
	NilMap       map[string]int
	EmptyMap     map[string]int
	Nested       map[string][]orderV1
	None, Some   *orderV1
	Bytes        []byte
	Max          uint64
	Min          int64
	Text         string
	Complex      complex128
	Array        [3]int16
	KeyedByInt   map[int]string
	SliceOfMaps  []map[string]bool
	PointerSlice []*int
}

func valuesSurvive(t *testing.T, s *suite) {
	action := remote(t, s.threeNodes, func(_ context.Context, in assortment) (assortment, error) { return in, nil })
	seven := 7
	in := assortment{
		Empty: []int{}, EmptyMap: map[string]int{}, Nested: map[string][]orderV1{"a": {{ID: 1, Tags: []string{}}}, "b": nil},
		Some: &orderV1{Item: "lamp"}, Bytes: []byte{0, 255}, Max: 1<<64 - 1, Min: -1 << 63, Text: "añ\x00b", Complex: complex(1, -2),
		Array: [3]int16{-1, 0, 1}, KeyedByInt: map[int]string{-1: "x"}, SliceOfMaps: []map[string]bool{nil, {"t": true}}, PointerSlice: []*int{nil, &seven},
	}
	out, err := sabir.Call[assortment](brief(t), s.threeNodes.ann, action, in)
	if err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("sent %+v\n got %+v, %v", in, out, err)
	}
}

// noise is bytes that do not compress and are nowhere alike.
var noise = sync.OnceValue(func() []byte {
	data := make([]byte, large+megabyte)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // it has no errors
	return data
})

// pattern is some of the noise, which must not be changed.
func pattern(size int, seed byte) []byte { return noise()[int(seed)*1001:][:size:size] }

const large = 5 << 20

func largeValues(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, func(_ context.Context, in []byte) ([]byte, error) { return in, nil })
	for name, data := range map[string][]byte{"random": pattern(large, 1), "zeros": make([]byte, large)} {
		out, err := sabir.Call[[]byte](brief(t), w.ann, action, data)
		if err != nil || !bytes.Equal(out, data) {
			t.Errorf("%s: %d bytes came back, %v", name, len(out), err)
		}
	}
}

func largeBesideSmall(t *testing.T, s *suite) {
	w := s.threeNodes
	big := remote(t, w, func(_ context.Context, in []byte) ([]byte, error) { return in, nil })
	small := remote(t, w, greet)
	data := pattern(large, 2)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			out, err := sabir.Call[[]byte](brief(t), w.ann, big, data)
			if err != nil || !bytes.Equal(out, data) {
				t.Errorf("large: %d bytes, %v", len(out), err)
			}
		})
		wg.Go(func() {
			for i := range 20 {
				name := fmt.Sprint(i)
				if out, err := sabir.Call[reply](brief(t), w.ann, small, greeting{name}); err != nil || out.Text != "Hello, "+name {
					t.Errorf("small: %+v, %v", out, err)
				}
			}
		})
	}
	wg.Wait()
}

func manyCalls(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, func(_ context.Context, in int) (int, error) { return -in, nil })
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			if out, err := sabir.Call[int](context.Background(), w.ann, action, i); err != nil || out != -i {
				t.Errorf("%d: %d, %v", i, out, err)
			}
		})
	}
	wg.Wait()
}

func inlineAction(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, greet, sabir.Inline())
	out, err := sabir.Call[reply](brief(t), w.ann, action, greeting{"Ada"})
	if err != nil || out.Node != "bob" {
		t.Errorf("got %+v, %v", out, err)
	}
	if _, err = sabir.Call[reply](brief(t), w.ann, action, greeting{"a name that is much too long"}); !errors.Is(err, sabir.ErrValidationFailed) {
		t.Errorf("a bad input: %v", err)
	}
}

func callAll(t *testing.T, s *suite) {
	w := s.threeNodes
	double := remote(t, w, func(_ context.Context, in int) (int, error) { return 2 * in, nil })
	fails := remote(t, w, func(context.Context, int) (int, error) { return 0, errors.New("no") })
	var a, b, c int
	err := sabir.All(brief(t), w.ann, sabir.Into(&a, double, 1), sabir.Into(&b, fails, 2), sabir.Into(&c, double, 3))
	if a != 2 || c != 6 || !errors.Is(err, sabir.ErrHandlerFailed) {
		t.Errorf("got %d, %d, %v", a, c, err)
	}
}
