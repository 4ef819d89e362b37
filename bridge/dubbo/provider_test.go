package dubbo_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/internal/brokers"
)

type order struct {
	ID     string   `json:"id"`
	Amount int32    `json:"amount"`
	Total  float64  `json:"total"`
	Tags   []string `json:"tags"`
	Parent *order   `json:"parent"`
}

type color string

// Programs of Java that check what they read, with the mode STRICT, have no class of this name among those that they let in.
type stranger struct {
	Name string `json:"name"`
}

func init() {
	hessian.Register[order]("com.shop.Order")
	hessian.Register[color]("com.shop.Color")
	hessian.Register[stranger]("com.elsewhere.Stranger")
}

// noted gets what consumers sent by a method without an answer.
type noted chan string

// orders is com.shop.OrderService in Go.
func orders(notes noted) *sabir.Service {
	s := sabir.NewService("orders")
	sabir.Handle(s, "ping", func(context.Context, sabir.Empty) (string, error) { return "pong", nil })
	sabir.Handle(s, "add", func(_ context.Context, in struct {
		A int
		B int64
	}) (int, error) {
		return in.A + int(in.B), nil
	})
	sabir.Handle(s, "place", func(_ context.Context, in order) (*order, error) {
		in.Amount++
		if in.Parent == nil {
			in.Parent = &in
		}
		return &in, nil
	})
	sabir.Handle(s, "amount", func(_ context.Context, in order) (int32, error) { return in.Amount, nil })
	sabir.Handle(s, "find", func(_ context.Context, in struct {
		Version int32  `dubbo:"2"`
		ID      string `dubbo:"1"`
	}) (order, error) {
		found := order{ID: in.ID, Amount: in.Version}
		if in.ID == "minus zero" {
			found.Total = math.Copysign(0, -1)
		}
		return found, nil
	})
	sabir.Handle(s, "stranger", func(context.Context, sabir.Empty) (stranger, error) { return stranger{"x"}, nil })
	sabir.Handle(s, "list", func(_ context.Context, in struct {
		Customer string
		Numbers  []int32
	}) (list []order, err error) {
		for _, n := range in.Numbers {
			list = append(list, order{ID: in.Customer, Amount: n})
		}
		return list, nil
	})
	sabir.Handle(s, "count", func(_ context.Context, in struct {
		Stock map[string]int32
		All   bool
	}) (map[string]int32, error) {
		in.Stock["all"] = int32(len(in.Stock))
		return in.Stock, nil
	})
	sabir.Handle(s, "price", func(_ context.Context, in struct {
		Net   hessian.Decimal
		Since time.Time
	}) (hessian.Decimal, error) {
		return in.Net + hessian.Decimal(in.Since.UTC().Format("06")), nil
	})
	sabir.Handle(s, "favourite", func(_ context.Context, in color) (color, error) { return in, nil })
	sabir.Handle(s, "getByNumber", func(_ context.Context, in int64) (string, error) { return "number", nil })
	sabir.Handle(s, "getByText", func(_ context.Context, in string) (string, error) { return "text", nil })
	sabir.Handle(s, "bytes", func(_ context.Context, in []byte) ([]byte, error) { return append(in, 255), nil })
	sabir.Handle(s, "later", func(_ context.Context, in string) (string, error) { return in + "er", nil })
	sabir.Handle(s, "attachments", func(ctx context.Context, in string) (string, error) {
		sabir.Answer(ctx).SetHeader("seen-by", "go")
		m := sabir.InfoFromContext(ctx).Metadata
		return m[in] + " of " + m["remote.application"], nil
	})
	sabir.Handle(s, "note", func(_ context.Context, in string) (sabir.Empty, error) {
		notes <- in
		return sabir.Empty{}, nil
	})
	sabir.Handle(s, "fail", func(_ context.Context, how string) (string, error) {
		switch how {
		case "input":
			return "", sabir.NewError(sabir.CodeInvalidArgument, "BadID", "no such id")
		case "state":
			return "", sabir.NewError(sabir.CodeFailedPrecondition, "Closed", "the shop is closed")
		case "declared":
			return "", sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "none is left")
		case "panic":
			panic("oh")
		case "exception":
			return "", &hessian.Exception{Class: "java.lang.IndexOutOfBoundsException", Message: "3"}
		case "cause":
			return "", &hessian.Exception{Class: "java.lang.IllegalStateException", Message: "closed", Cause: &hessian.Exception{Class: "com.elsewhere.UnknownException", Message: "hidden",
				Cause: &hessian.Exception{Class: "java.lang.IllegalArgumentException", Message: "no key"}}}
		case "unknown class":
			return "", &hessian.Exception{Class: "com.elsewhere.UnknownException", Message: "hidden"}
		}
		return "", errors.New("plain")
	})
	sabir.Handle(s, "slow", func(ctx context.Context, ms int32) (string, error) {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Duration(ms) * time.Millisecond):
			return "done", nil
		}
	})
	sabir.Handle(s, "hidden", func(context.Context, sabir.Empty) (string, error) { return "", nil }, sabir.ClusterOnly())
	return s
}

// mapping is the table of the service, whose overloads have an action each.
func mapping() dubbo.Interface {
	m := dubbo.Interface{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0", Throws: map[string]string{"OutOfStock": "com.shop.OutOfStockException"},
		Methods: []dubbo.Method{{Name: "get", Action: "getByNumber", Parameters: []string{"long"}}, {Name: "get", Action: "getByText", Parameters: []string{"java.lang.String"}}}}
	for _, name := range []string{"ping", "add", "place", "amount", "find", "list", "count", "price", "favourite", "bytes", "later", "attachments", "note", "fail", "slow", "stranger"} {
		m.Methods = append(m.Methods, dubbo.Method{Name: name})
	}
	return m
}

// serveAt adds to settings what is served.
func serveAt(c dubbo.Config, addresses map[string][]dubbo.Interface) dubbo.Config {
	c.Serve = addresses
	return c
}

func TestAJavaConsumerCallsANodeAsAProvider(t *testing.T) {
	brokers.Long(t)
	for _, scheme := range []string{"dubbo", "tri"} {
		t.Run(scheme, func(t *testing.T) { consumed(t, scheme) })
	}
}

func consumed(t *testing.T, scheme string) {
	address, notes := freeAddress(t), make(noted, 1)
	node := start(t, sabir.Serve(orders(notes)), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{scheme + "://" + address: {mapping()}}}))
	consumer := run(t, "Consumer", scheme+"://"+asJava(address)+"/com.shop.OrderService")
	got := consumer.until("end")
	for name, want := range map[string]string{
		"ping":                  "pong",
		"add":                   "42",
		"place":                 "a x3 1.5 [x, y] itself",
		"find":                  "b x7 0.0 null",
		"zero in":               "z x1 0.0 null itself", // hessian-lite writes 0.0
		"zero out":              "minus zero x0 -0.0 null",
		"shared list":           "a x2 0.0 [x, y] of b of one list",
		"fail with a cause":     "java.lang.IllegalStateException: closed by java.lang.RuntimeException: com.elsewhere.UnknownException: hidden by java.lang.IllegalArgumentException: no key",
		"stranger":              "{name=x}", // a class outside of Java's list is a map
		"list":                  "[Ada x1 0.0 null, Ada x2 0.0 null]",
		"count":                 "{a=1, all=2, b=2}",
		"price":                 "12.5070",
		"favourite":             "GREEN",
		"get a long":            "number",
		"get a text":            "text",
		"bytes":                 "[1, 2, 3, -1]",
		"later":                 "sooner",
		"attachments":           "Ada of consumer, back go",
		"note":                  "null",
		"fail by input":         "java.lang.IllegalArgumentException: no such id",
		"fail by state":         "java.lang.IllegalStateException: the shop is closed",
		"fail by declared":      "com.shop.OutOfStockException: none is left",
		"fail by plain":         "java.lang.RuntimeException: plain",
		"fail by panic":         "java.lang.RuntimeException: orders.fail panicked",
		"fail by exception":     "java.lang.IndexOutOfBoundsException: 3",
		"fail by unknown class": "java.lang.RuntimeException: com.elsewhere.UnknownException: hidden",
		"echo":                  "hello",
		"threads":               "800",
		"generic place":         "com.shop.Order g x2 itself",
		"generic get":           "text",
		"generic later":         "sooner",
		"generic favourite":     "GREEN",
		"generic fail":          "com.alibaba.dubbo.rpc.service.GenericException: java.lang.IllegalStateException: the shop is closed",
	} {
		if got[name] != want {
			t.Errorf("%s: Java has %q, want %q", name, got[name], want)
		}
	}
	late := "timeout"
	if node := "the deadline passed before orders.slow answered"; scheme == "tri" && strings.Contains(got["slow"], node) {
		late = node // which knows the limit too, and its clock may be the first; Java says DEADLINE_EXCEEDED either way
	}
	for name, part := range map[string]string{"slow": late, "other group": "Not found exported service"} {
		if !strings.HasPrefix(got[name], "org.apache.dubbo.rpc.RpcException: ") || !strings.Contains(got[name], part) {
			t.Errorf("%s: Java has %q, want an RpcException with %q", name, got[name], part)
		}
	}
	select {
	case note := <-notes:
		if note != "a note" {
			t.Errorf("the note is %q", note)
		}
	case <-time.After(waitLimit):
		t.Error("the note did not come")
	}
	stop(t, node)
	if _, err := consumer.in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	consumer.until("failed")
	start(t, sabir.Serve(orders(notes)), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{scheme + "://" + address: {mapping()}}}))
	if got := consumer.until("back"); got["back"] != "after failed calls" {
		t.Errorf("the consumer is back %s", got["back"])
	}
}
