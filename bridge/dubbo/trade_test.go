package dubbo_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/internal/brokers"
)

// trades is com.shop.TradeService in Go. What ends the streams of "canceled" and "last" goes to ended.
func trades(ended chan string) *sabir.Service {
	s := sabir.NewService("trades")
	sabir.HandleStream(s, "watch", func(_ context.Context, to *sabir.Stream[string, order]) error {
		article, err := to.Recv()
		if err != nil {
			return err
		}
		count := 3
		switch article {
		case "fail at once":
			return sabir.NewError(sabir.CodeNotFound, "NoArticle", "no such article")
		case "panic":
			panic("oh")
		case "many":
			count = 5000
		}
		for i := range count {
			if err := to.Send(order{ID: article, Amount: int32(i)}); err != nil {
				return err
			}
		}
		if article == "fail later" {
			return sabir.NewError(sabir.CodeNotFound, "NoMore", "no more")
		}
		return nil
	}, sabir.ServerStream())
	sabir.HandleStream(s, "trade", func(ctx context.Context, to *sabir.Stream[string, order]) error {
		for {
			article, err := to.Recv()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if article == "wrong" {
				return sabir.NewError(sabir.CodeInvalidArgument, "Wrong", "not this one")
			}
			if err := to.Send(order{ID: article}); err != nil {
				return err
			}
			if article == "canceled" || article == "last" {
				<-ctx.Done()
				ended <- article
				return ctx.Err()
			}
		}
	})
	sabir.Handle(s, "greet", func(_ context.Context, in *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		if in.GetValue() == "" {
			return nil, sabir.NewError(sabir.CodeInvalidArgument, "NoName", "who is it?")
		}
		return wrapperspb.String("Hello, " + in.GetValue()), nil
	})
	sabir.HandleStream(s, "names", func(_ context.Context, to *sabir.Stream[*wrapperspb.StringValue, *wrapperspb.StringValue]) error {
		name, err := to.Recv()
		if err != nil {
			return err
		}
		for _, last := range []string{"Lovelace", "Byron"} {
			if err := to.Send(wrapperspb.String(name.GetValue() + " " + last)); err != nil {
				return err
			}
		}
		return nil
	}, sabir.ServerStream())
	return s
}

func TestAJavaConsumerOpensStreamsOfANode(t *testing.T) {
	brokers.Long(t)
	address, ended := freeAddress(t), make(chan string, 2)
	node := start(t, sabir.Serve(trades(ended)), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"tri://" + address: {{Name: "com.shop.TradeService", Service: "trades"}}}}))
	consumer := run(t, "TradeConsumer", "tri://"+asJava(address)+"/com.shop.TradeService")
	got := consumer.until("end")
	for name, want := range map[string]string{
		"watch":  "completed [a x0 0.0 null, a x1 0.0 null, a x2 0.0 null]",
		"many":   "completed 5000",
		"trade":  "completed [a x0 0.0 null, b x0 0.0 null]",
		"cancel": "done",
		"greet":  "Hello, Ada",
		"names":  "completed [Ada Lovelace, Ada Byron]",
	} {
		if got[name] != want {
			t.Errorf("%s: Java has %q, want %q", name, got[name], want)
		}
	}
	for name, part := range map[string]string{"fail at once": "no such article", "fail later": "no more", "panic": "panicked", "trade with an error": "not this one", "greet nobody": "who is it?"} {
		if !strings.Contains(got[name], "RpcException: ") || !strings.Contains(got[name], part) {
			t.Errorf("%s: Java has %q, want an exception with %q", name, got[name], part)
		}
	}
	if got := <-ended; got != "canceled" {
		t.Errorf("the stream %s has ended, want the canceled one", got)
	}
	stop(t, node)
	if got := consumer.until("last"); !strings.Contains(got["last"], "stopping") {
		t.Errorf("a stream that was open when the node stopped: Java has %q", got["last"])
	}
}

func TestTheStreamsOfAJavaConsumerThatIsKilledEnd(t *testing.T) {
	brokers.Long(t)
	address, ended := freeAddress(t), make(chan string, 2)
	start(t, sabir.Serve(trades(ended)), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"tri://" + address: {{Name: "com.shop.TradeService", Service: "trades"}}}}))
	consumer := run(t, "TradeConsumer", "tri://"+asJava(address)+"/com.shop.TradeService")
	consumer.until("end")
	<-ended // the canceled one
	if err := consumer.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := <-ended; got != "last" {
		t.Errorf("the stream %s has ended", got)
	}
}

// tradesOfJava is the table of com.shop.TradeService at a provider.
func tradesOfJava() dubbo.Interface {
	return dubbo.Interface{Name: "com.shop.TradeService", Service: "trades",
		Methods: []dubbo.Method{{Name: "watch", ServerStream: true, Parameters: []string{"java.lang.String"}}, {Name: "trade", Stream: true}, {Name: "greet", Parameters: []string{"com.google.protobuf.StringValue"}}, {Name: "names", ServerStream: true}}}
}

// watched collects a stream of answers until its end.
func watched(t *testing.T, node *sabir.Node, article string) (numbers []int32, err error) {
	t.Helper()
	for one, err := range sabir.CallStream[order](t.Context(), node, "trades.watch", article) {
		if err != nil {
			return numbers, err
		}
		numbers = append(numbers, one.Amount)
	}
	return numbers, nil
}

func TestANodeOpensStreamsOfAJavaProvider(t *testing.T) {
	brokers.Long(t)
	provider, node := ready(t, "tri", tradesOfJava())
	if got, err := watched(t, node, "a"); err != nil || !slices.Equal(got, []int32{0, 1, 2}) {
		t.Errorf("watch: got %v, %v", got, err)
	}
	if got, err := watched(t, node, "many"); err != nil || len(got) != 5000 {
		t.Errorf("watch many: got %d, %v", len(got), err)
	}
	if got, err := watched(t, node, "fail later"); err == nil || len(got) != 3 {
		t.Errorf("watch that fails later: got %v, %v", got, err)
	}
	if got, err := watched(t, node, "fail at once"); err == nil || len(got) != 0 {
		t.Errorf("watch that fails at once: got %v, %v", got, err)
	}

	stream, err := sabir.OpenStream[string, order](t.Context(), node, "trades.trade")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for _, article := range []string{"a", "b"} {
		if err := stream.Send(article); err != nil {
			t.Fatal(err)
		}
		if got, err := stream.Recv(); err != nil || got.ID != article {
			t.Fatalf("trade: got %v, %v", got, err)
		}
	}
	stream.CloseSend()
	if _, err := stream.Recv(); err != io.EOF {
		t.Errorf("the end of trade: %v", err)
	}

	left, err := sabir.OpenStream[string, order](t.Context(), node, "trades.trade")
	if err != nil {
		t.Fatal(err)
	}
	if err := left.Send("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := left.Recv(); err != nil {
		t.Fatal(err)
	}
	left.Close() // the provider is told
	provider.until("stream")

	if got, err := sabir.Call[*wrapperspb.StringValue](t.Context(), node, "trades.greet", wrapperspb.String("Ada")); err != nil || got.GetValue() != "Hello, Ada" {
		t.Errorf("greet: got %v, %v", got, err)
	}
	if _, err := sabir.Call[*wrapperspb.StringValue](t.Context(), node, "trades.greet", wrapperspb.String("")); err == nil || !strings.Contains(err.Error(), "who is it?") {
		t.Errorf("greet nobody: %v", err)
	}
	var names []string
	for one, err := range sabir.CallStream[*wrapperspb.StringValue](t.Context(), node, "trades.names", wrapperspb.String("Ada")) {
		if err != nil {
			t.Error(err)
			break
		}
		names = append(names, one.GetValue())
	}
	if !slices.Equal(names, []string{"Ada Lovelace", "Ada Byron"}) {
		t.Errorf("names: got %q", names)
	}

	// The streams of a provider that is killed end.
	open, err := sabir.OpenStream[string, order](t.Context(), node, "trades.watch")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := open.Send("open"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := open.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	if err := provider.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := open.Recv(); !errors.Is(err, sabir.ErrLinkLost) {
		t.Errorf("a stream of a provider that was killed: %v", err)
	}
}
