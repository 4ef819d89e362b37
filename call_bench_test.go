package sabir_test

import (
	"context"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

type helloRequest struct {
	Name string `json:"name"`
	Age  int    `json:"age"`
}

type helloReply struct {
	Text string `json:"text"`
	Age  int    `json:"age"`
}

type checkedRequest struct {
	Name string `json:"name" validate:"required,max=64"`
	Age  int    `json:"age" validate:"gte=0,lte=150"`
}

func hello(_ context.Context, in helloRequest) (helloReply, error) {
	return helloReply{Text: in.Name, Age: in.Age + 1}, nil
}

// start runs a node for the length of a test or benchmark.
func start(tb testing.TB, options ...sabir.NodeOption) *sabir.Node {
	tb.Helper()
	node := sabir.NewNode(options...)
	if err := node.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if node.State() != "running" {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := node.Stop(ctx); err != nil {
			tb.Error(err)
		}
	})
	return node
}

func greeter(options ...sabir.ActionOption) *sabir.Service {
	s := sabir.NewService("greeter")
	sabir.Handle(s, "hello", hello, options...)
	return s
}

func callByName(b *testing.B, node *sabir.Node, ctx context.Context) {
	b.Helper()
	b.ReportAllocs()
	in := helloRequest{"Ada", 36}
	for b.Loop() {
		out, err := sabir.Call[helloReply](ctx, node, "greeter.hello", in)
		if err != nil || out.Age != 37 {
			b.Fatal(out, err)
		}
	}
}

func BenchmarkCallByName(b *testing.B) {
	callByName(b, start(b, sabir.Serve(greeter())), context.Background())
}

func BenchmarkCallWithDeadline(b *testing.B) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	callByName(b, start(b, sabir.Serve(greeter())), ctx)
}

func BenchmarkCallWithOwnContext(b *testing.B) {
	ctx := sabir.WithRequestID(context.Background(), "r1")
	callByName(b, start(b, sabir.Serve(greeter())), ctx)
}

func BenchmarkBind(b *testing.B) {
	node := start(b, sabir.Serve(greeter()))
	call := sabir.Bind[helloRequest, helloReply](node, "greeter.hello")
	ctx := context.Background()
	in := helloRequest{"Ada", 36}
	b.ReportAllocs()
	for b.Loop() {
		out, err := call(ctx, in)
		if err != nil || out.Age != 37 {
			b.Fatal(out, err)
		}
	}
}

func passing(n int) (list []sabir.Wrapper) {
	for range n {
		list = append(list, sabir.Middleware{Name: "passing", Local: func(_ *sabir.Action, next sabir.Handler) sabir.Handler {
			return func(ctx context.Context, r *sabir.Request) error { return next(ctx, r) }
		}})
	}
	return list
}

func BenchmarkCallThroughFiveMiddlewares(b *testing.B) {
	callByName(b, start(b, sabir.Serve(greeter()), sabir.Use(passing(5)...)), context.Background())
}

func BenchmarkCallTenMiddlewares(b *testing.B) {
	callByName(b, start(b, sabir.Serve(greeter()), sabir.Use(passing(10)...)), context.Background())
}

func BenchmarkCallOfServiceWithStopHook(b *testing.B) {
	s := sabir.NewService("greeter", sabir.OnStop(func(context.Context) error { return nil }))
	sabir.Handle(s, "hello", hello)
	callByName(b, start(b, sabir.Serve(s)), context.Background())
}

func checked(b *testing.B, in checkedRequest, want bool) {
	s := sabir.NewService("greeter")
	sabir.Handle(s, "hello", func(_ context.Context, in checkedRequest) (helloReply, error) {
		return helloReply{Text: in.Name, Age: in.Age + 1}, nil
	})
	node := start(b, sabir.Serve(s))
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		_, err := sabir.Call[helloReply](ctx, node, "greeter.hello", in)
		if (err == nil) != want {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidatorPass(b *testing.B) { checked(b, checkedRequest{"Ada", 36}, true) }
func BenchmarkValidatorFail(b *testing.B) { checked(b, checkedRequest{"Ada", 200}, false) }

func BenchmarkThreeNestedCalls(b *testing.B) {
	s := sabir.NewService("chain")
	sabir.Handle(s, "a", func(ctx context.Context, in helloRequest) (helloReply, error) {
		return sabir.Call[helloReply](ctx, s, "chain.b", in)
	})
	sabir.Handle(s, "b", func(ctx context.Context, in helloRequest) (helloReply, error) {
		return sabir.Call[helloReply](ctx, s, "chain.c", in)
	})
	sabir.Handle(s, "c", hello)
	node := start(b, sabir.Serve(s))
	ctx := context.Background()
	in := helloRequest{"Ada", 36}
	b.ReportAllocs()
	for b.Loop() {
		out, err := sabir.Call[helloReply](ctx, node, "chain.a", in)
		if err != nil || out.Age != 37 {
			b.Fatal(out, err)
		}
	}
}

func BenchmarkUnknownAction(b *testing.B) {
	node := start(b, sabir.Serve(greeter()))
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sabir.Call[helloReply](ctx, node, "greeter.helo", helloRequest{}); err == nil {
			b.Fatal("found")
		}
	}
}

func BenchmarkConvertedCall(b *testing.B) {
	type other struct {
		Name string `json:"name"`
		More bool   `json:"more"`
	}
	node := start(b, sabir.Serve(greeter()))
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sabir.Call[helloReply](ctx, node, "greeter.hello", other{Name: "Ada"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCallJSON(b *testing.B) {
	node := start(b, sabir.Serve(greeter()))
	ctx := context.Background()
	in := []byte(`{"name":"Ada","age":36}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sabir.CallJSON(ctx, node, "greeter.hello", in); err != nil {
			b.Fatal(err)
		}
	}
}

func emit(b *testing.B, handlers int) {
	runs := 0
	var services []sabir.Servable
	for i := range handlers {
		s := sabir.NewService("listener" + string(rune('a'+i)))
		sabir.On(s, "user.created", func(context.Context, helloRequest) error { runs++; return nil })
		services = append(services, s)
	}
	node := start(b, sabir.Serve(services...))
	ctx := context.Background()
	in := helloRequest{"Ada", 36}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		if err := sabir.Emit(ctx, node, "user.created", in); err != nil {
			b.Fatal(err)
		}
	}
	if runs != n*handlers {
		b.Fatalf("%d handler runs for %d events", runs, n)
	}
}

func BenchmarkEmitWithoutHandlers(b *testing.B) { emit(b, 0) }
func BenchmarkEmitToOne(b *testing.B)           { emit(b, 1) }
func BenchmarkEmitToTwenty(b *testing.B)        { emit(b, 20) }

func BenchmarkStream(b *testing.B) {
	s := sabir.NewService("echo")
	sabir.HandleStream(s, "all", func(_ context.Context, st *sabir.Stream[helloRequest, helloRequest]) error {
		for in, err := range st.All() {
			if err != nil {
				return err
			}
			if err := st.Send(in); err != nil {
				return err
			}
		}
		return nil
	})
	node := start(b, sabir.Serve(s))
	st, err := sabir.OpenStream[helloRequest, helloRequest](context.Background(), node, "echo.all")
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	b.ReportAllocs()
	for b.Loop() {
		if err := st.Send(helloRequest{}); err != nil {
			b.Fatal(err)
		}
		if _, err := st.Recv(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCallWhoseGoroutineFails(b *testing.B) {
	failure := sabir.NewError(sabir.CodeAborted, "Failed", "it failed elsewhere")
	s := sabir.NewService("greeter")
	sabir.Handle(s, "hello", func(ctx context.Context, in helloRequest) (helloReply, error) {
		sabir.Go(ctx, func(context.Context) error { return failure })
		return helloReply{}, nil
	})
	node := start(b, sabir.Serve(s))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sabir.Call[helloReply](context.Background(), node, "greeter.hello", helloRequest{"Ada", 36}); sabir.AsError(err).Name != failure.Name {
			b.Fatal(err)
		}
	}
}
