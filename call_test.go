package sabir_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/race"
	"github.com/sabir-go/sabir/validate"
)

func TestCallReachesTheHandlerByName(t *testing.T) {
	node := start(t, sabir.Serve(greeter()))
	out, err := sabir.Call[helloReply](t.Context(), node, "greeter.hello", helloRequest{"Ada", 36})
	if err != nil || out != (helloReply{"Ada", 37}) {
		t.Fatalf("got %v, %v", out, err)
	}
}

func TestCallFromABareContextAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	in := helloRequest{"Ada", 36}
	nested := sabir.NewService("outer")
	sabir.Handle(nested, "hello", func(ctx context.Context, in helloRequest) (helloReply, error) {
		return sabir.Call[helloReply](ctx, nested, "greeter.hello", in)
	})
	plain := start(t, sabir.Serve(greeter(), nested))
	wrapped := start(t, sabir.Serve(greeter()), sabir.Use(passing(5)...))
	bound := sabir.Bind[helloRequest, helloReply](plain, "greeter.hello")
	for name, call := range map[string]func() (helloReply, error){
		"by name":             func() (helloReply, error) { return sabir.Call[helloReply](ctx, plain, "greeter.hello", in) },
		"bound":               func() (helloReply, error) { return bound(ctx, in) },
		"nested":              func() (helloReply, error) { return sabir.Call[helloReply](ctx, plain, "outer.hello", in) },
		"through middlewares": func() (helloReply, error) { return sabir.Call[helloReply](ctx, wrapped, "greeter.hello", in) },
	} {
		if n := testing.AllocsPerRun(1000, func() {
			if out, err := call(); err != nil || out.Age != 37 {
				t.Fatal(out, err)
			}
		}); n >= 1 && !race.Enabled {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestCallersThatCameAndWentDoNotMakeLaterOnesSlower(t *testing.T) {
	node := start(t, sabir.Serve(greeter()))
	outer := sabir.NewService("outer")
	sabir.Handle(outer, "hello", func(ctx context.Context, in helloRequest) (helloReply, error) {
		return sabir.Call[helloReply](ctx, outer, "greeter.hello", in)
	})
	call := func() {
		if _, err := sabir.Call[helloReply](context.Background(), node, "outer.hello", helloRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 { // more often than an action remembers its callers
		if err := node.Add(t.Context(), outer); err != nil {
			t.Fatal(err)
		}
		call()
		if err := node.Remove(t.Context(), outer); err != nil {
			t.Fatal(err)
		}
	}
	if err := node.Add(t.Context(), outer); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, call); n >= 1 && !race.Enabled {
		t.Errorf("%v allocations", n)
	}
}

func TestCallOfAnUnknownActionNamesTheNearest(t *testing.T) {
	node := start(t, sabir.Serve(greeter()))
	_, err := sabir.Call[helloReply](t.Context(), node, "greter.helo", helloRequest{})
	if !errors.Is(err, sabir.ErrActionNotFound) || !strings.Contains(err.Error(), "greeter.hello") {
		t.Fatalf("got %v", err)
	}
	data, err := sabir.DataAs[struct {
		Nearest []string `json:"nearest"`
	}](sabir.AsError(err))
	if err != nil || len(data.Nearest) != 1 || data.Nearest[0] != "greeter.hello" {
		t.Fatalf("got %v, %v", data, err)
	}
}

func TestCallOfANodeThatIsNotRunningSaysSo(t *testing.T) {
	node := sabir.NewNode(sabir.Serve(greeter()))
	_, err := sabir.Call[helloReply](t.Context(), node, "greeter.hello", helloRequest{})
	if err == nil || !strings.Contains(err.Error(), "not started") {
		t.Fatalf("got %v", err)
	}
}

func TestCallThroughAServiceThatNoNodeServesSaysSo(t *testing.T) {
	_, err := sabir.Call[helloReply](t.Context(), sabir.NewService("lonely"), "greeter.hello", helloRequest{})
	if !errors.Is(err, sabir.ErrServiceUnavailable) || !strings.Contains(err.Error(), "lonely") {
		t.Fatalf("got %v", err)
	}
}

func TestTypesThatAgreeInShapeAreConverted(t *testing.T) {
	type person struct {
		Name  string `json:"name"`
		Age   int64  `json:"age"`
		Extra bool   `json:"extra"`
	}
	type answer struct {
		Age uint8 `json:"age"`
	}
	node := start(t, sabir.Serve(greeter()))
	out, err := sabir.Call[answer](t.Context(), node, "greeter.hello", person{Name: "Ada", Age: 36})
	if err != nil || out.Age != 37 {
		t.Fatalf("struct of another shape: %v, %v", out, err)
	}
	asMap, err := sabir.Call[map[string]any](t.Context(), node, "greeter.hello", map[string]any{"name": "Ada", "age": 36})
	if err != nil || asMap["text"] != "Ada" {
		t.Fatalf("maps: %v, %v", asMap, err)
	}
	asAny, err := sabir.Call[any](t.Context(), node, "greeter.hello", helloRequest{"Ada", 36})
	if err != nil || asAny != (helloReply{"Ada", 37}) {
		t.Fatalf("any keeps the handler's value: %v, %v", asAny, err)
	}
}

func TestTypesThatDoNotAgreeAreAClearError(t *testing.T) {
	node := start(t, sabir.Serve(greeter()))
	_, err := sabir.Call[helloReply](t.Context(), node, "greeter.hello", map[string]any{"name": 7})
	if !errors.Is(err, sabir.ErrBadInput) || !strings.Contains(err.Error(), "/name") {
		t.Fatalf("input: %v", err)
	}
	_, err = sabir.Call[struct {
		Text int `json:"text"`
	}](t.Context(), node, "greeter.hello", helloRequest{"Ada", 1})
	if e := sabir.AsError(err); e == nil || e.Name != "BadOutput" || !strings.Contains(err.Error(), "/text") {
		t.Fatalf("output: %v", err)
	}
}

func TestCallJSON(t *testing.T) {
	node := start(t, sabir.Serve(greeter()))
	for _, c := range []struct{ name, in, out, err string }{
		{"object", `{"name":"Ada","age":36}`, `{"text":"Ada","age":37}`, ""},
		{"empty stands for {}", ``, `{"text":"","age":1}`, ""},
		{"unknown members are left out", `{"more":1}`, `{"text":"","age":1}`, ""},
		{"wrong type", `{"age":"old"}`, ``, "at /age"},
		{"not JSON", `{"age"`, ``, "BadInput"},
		{"nested too deep", strings.Repeat("[", 200), ``, "BadInput"},
		{"duplicate member", `{"age":1,"age":2}`, ``, "BadInput"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := sabir.CallJSON(t.Context(), node, "greeter.hello", []byte(c.in))
			if c.err == "" && (err != nil || string(out) != c.out) {
				t.Fatalf("got %s, %v", out, err)
			}
			if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("got %s, %v", out, err)
			}
		})
	}
}

func TestInputIsCheckedBeforeTheHandlerAndEveryFieldIsListed(t *testing.T) {
	for name, middlewares := range map[string][]sabir.Wrapper{"direct": nil, "through middlewares": passing(1)} {
		t.Run(name, func(t *testing.T) {
			ran := false
			s := sabir.NewService("greeter")
			sabir.Handle(s, "hello", func(context.Context, checkedRequest) (helloReply, error) {
				ran = true
				return helloReply{}, nil
			})
			node := start(t, sabir.Serve(s), sabir.Use(middlewares...))
			_, err := sabir.Call[helloReply](t.Context(), node, "greeter.hello", checkedRequest{Name: "", Age: 200})
			if !errors.Is(err, sabir.ErrValidationFailed) || ran {
				t.Fatalf("got %v, ran %v", err, ran)
			}
			fields, err := sabir.DataAs[validate.Errors](sabir.AsError(err))
			if err != nil || len(fields) != 2 || fields[0].Path != "name" || fields[0].Rule != "required" || fields[1].Path != "age" || fields[1].Value != 200 {
				t.Fatalf("got %+v, %v", fields, err)
			}
		})
	}
}

func TestAllStoresTheAnswersAndJoinsTheErrors(t *testing.T) {
	s := greeter()
	sabir.Handle(s, "fail", func(context.Context, helloRequest) (helloReply, error) { return helloReply{}, errors.New("no") })
	node := start(t, sabir.Serve(s))
	var a, b, c helloReply
	err := sabir.All(t.Context(), node,
		sabir.Into(&a, "greeter.hello", helloRequest{"A", 1}),
		sabir.Into(&b, "greeter.fail", helloRequest{"B", 2}),
		sabir.Into(&c, "greeter.hello", helloRequest{"C", 3}))
	if joined, ok := err.(interface{ Unwrap() []error }); !ok || len(joined.Unwrap()) != 1 || !errors.Is(err, sabir.ErrHandlerFailed) || a.Age != 2 || c.Age != 4 {
		t.Fatalf("got %v %v %v: %v", a, b, c, err)
	}
	if err := sabir.All(t.Context(), node); err != nil {
		t.Fatalf("no calls, yet %v", err)
	}
}

func TestAllRunsItsCallsAtTheSameTime(t *testing.T) {
	var meet sync.WaitGroup
	meet.Add(3)
	s := sabir.NewService("meeting")
	sabir.Handle(s, "wait", func(context.Context, struct{}) (struct{}, error) {
		meet.Done()
		meet.Wait() // returns only when all three are here
		return struct{}{}, nil
	})
	node := start(t, sabir.Serve(s))
	var outs [3]struct{}
	var calls []sabir.PreparedCall
	for i := range outs {
		calls = append(calls, sabir.Into(&outs[i], "meeting.wait", struct{}{}))
	}
	if err := sabir.All(t.Context(), node, calls...); err != nil {
		t.Fatal(err)
	}
}

func TestBoundFunctionFollowsServicesThatComeAndGo(t *testing.T) {
	node := start(t)
	hello := sabir.Bind[helloRequest, helloReply](node, "greeter.hello")
	if _, err := hello(t.Context(), helloRequest{}); !errors.Is(err, sabir.ErrActionNotFound) {
		t.Fatalf("before it exists: %v", err)
	}
	s := greeter()
	for range 2 {
		if err := node.Add(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if out, err := hello(t.Context(), helloRequest{"Ada", 1}); err != nil || out.Age != 2 {
			t.Fatalf("while it exists: %v, %v", out, err)
		}
		if err := node.Remove(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if _, err := hello(t.Context(), helloRequest{}); !errors.Is(err, sabir.ErrActionNotFound) {
			t.Fatalf("after it went: %v", err)
		}
	}
}

func TestBindThroughAServiceWorksOnceANodeServesIt(t *testing.T) {
	s := sabir.NewService("outer")
	hello := sabir.Bind[helloRequest, helloReply](s, "greeter.hello")
	if _, err := hello(t.Context(), helloRequest{}); !errors.Is(err, sabir.ErrServiceUnavailable) {
		t.Fatalf("not served: %v", err)
	}
	start(t, sabir.Serve(s, greeter()))
	if out, err := hello(t.Context(), helloRequest{"Ada", 1}); err != nil || out.Age != 2 {
		t.Fatalf("served: %v, %v", out, err)
	}
}

func TestBoundFunctionConvertsTypes(t *testing.T) {
	node := start(t, sabir.Serve(greeter()))
	hello := sabir.Bind[map[string]any, map[string]any](node, "greeter.hello")
	if out, err := hello(t.Context(), map[string]any{"name": "Ada"}); err != nil || out["text"] != "Ada" {
		t.Fatalf("got %v, %v", out, err)
	}
}

func TestTenThousandCallsDuringRemovalAllEndClearly(t *testing.T) {
	node := start(t)
	closed := make(chan struct{})
	s := sabir.NewService("greeter", sabir.OnStop(func(context.Context) error { close(closed); return nil }))
	sabir.Handle(s, "hello", func(ctx context.Context, in helloRequest) (helloReply, error) {
		select {
		case <-closed:
			return helloReply{}, errors.New("ran after the stop hook")
		default:
		}
		return hello(ctx, in)
	})
	if err := node.Add(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	bound := sabir.Bind[helloRequest, helloReply](node, "greeter.hello")
	var begun, done sync.WaitGroup
	errs := make(chan error, 10_000)
	begun.Add(100)
	for i := range 10_000 {
		done.Go(func() {
			if i < 100 {
				begun.Done()
			}
			var err error
			if i%2 == 0 {
				_, err = bound(t.Context(), helloRequest{"Ada", 1})
			} else {
				_, err = sabir.Call[helloReply](t.Context(), node, "greeter.hello", helloRequest{"Ada", 1})
			}
			if err != nil && !errors.Is(err, sabir.ErrActionNotFound) && !errors.Is(err, sabir.ErrServiceUnavailable) {
				errs <- err
			}
		})
	}
	begun.Wait()
	if err := node.Remove(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	done.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}

func ExampleCall() {
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", func(_ context.Context, in helloRequest) (helloReply, error) {
		return helloReply{Text: "Hello, " + in.Name}, nil
	})
	node := sabir.NewNode(sabir.Serve(greeter))
	ctx := context.Background()
	if err := node.Start(ctx); err != nil {
		panic(err)
	}
	defer node.Stop(ctx)

	reply, err := sabir.Call[helloReply](ctx, node, "greeter.hello", helloRequest{Name: "Ada"})
	fmt.Println(reply.Text, err)
	// Output: Hello, Ada <nil>
}
