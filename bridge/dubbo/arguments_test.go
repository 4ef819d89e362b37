package dubbo_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/codec/hessian"
)

func TestArgumentsThatDoNotFitAreAnIllegalArgumentException(t *testing.T) {
	_, address := serving(t, dubbo.Config{})
	p := dial(t, address)
	for name, body := range map[string][]byte{
		"a text for a number": call(t, "add", "IJ", nil, "x", int64(1)),
		"too many":            call(t, "add", "IJI", nil, int32(1), int64(1), int32(1)),
		"some for none":       call(t, "ping", "I", nil, int32(1)),
		"too few":             call(t, "add", "I", nil, int32(1)),
		"none":                call(t, "add", "", nil),
		"none for a value":    call(t, "later", "", nil),
		"too few by tags":     call(t, "find", "Ljava/lang/String;", nil, "b"),
	} {
		p.write(frame(0xc2, 0, 1, body))
		_, status, _, reply := p.next()
		d := hessian.NewDecoder(reply)
		var kind int
		var x hessian.Exception
		if err := d.Decode(&kind); err != nil || d.Decode(&x) != nil || status != 20 || kind != 3 || x.Class != "java.lang.IllegalArgumentException" {
			t.Errorf("%s: got the status %d and %d %v", name, status, kind, &x)
		}
	}
}

func TestAGenericCallWithOtherArgumentsThanTheMethodHasIsAnException(t *testing.T) {
	_, address := serving(t, dubbo.Config{})
	p := dial(t, address)
	for _, values := range [][]any{{}, {int32(1)}, {int32(1), int64(1), int32(1)}} {
		p.write(frame(0xc2, 0, 1, call(t, "$invoke", "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;", nil, "add", nil, values)))
		_, status, _, reply := p.next()
		d := hessian.NewDecoder(reply)
		d.Unregistered()
		var kind int
		var x hessian.Exception
		if err := d.Decode(&kind); err != nil || d.Decode(&x) != nil || status != 20 || kind != 3 || !strings.Contains(x.Message, fmt.Sprintf("%d arguments for an action that takes 2", len(values))) {
			t.Errorf("%d arguments: got the status %d and %d %v", len(values), status, kind, &x)
		}
	}
}

// An object that is null is the input as a whole, and no argument that is missing.
func TestAnArgumentThatIsNullIsOne(t *testing.T) {
	_, address := serving(t, dubbo.Config{})
	p := dial(t, address)
	p.write(frame(0xc2, 0, 1, call(t, "amount", "Lcom/shop/Order;", nil, nil)))
	if _, status, _, reply := p.next(); status != 20 || reply[0] != 0x94 {
		t.Errorf("got the status %d and %q", status, reply)
	}
}

func TestAMethodThatIsDeclaredWithFewerParametersLeavesTheOtherFields(t *testing.T) {
	for _, scheme := range []string{"dubbo", "tri"} {
		s := sabir.NewService("orders")
		sabir.Handle(s, "add", func(_ context.Context, in struct{ A, B int32 }) (int32, error) { return in.A + in.B + 40, nil })
		address := freeAddress(t)
		startAs(t, scheme, sabir.Serve(s), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{scheme + "://" + address: {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0",
			Methods: []dubbo.Method{{Name: "add", Parameters: []string{}}, {Name: "add", Parameters: []string{"int"}}, {Name: "add", Parameters: []string{"int", "int"}}}}}}}))
		for want, body := range map[string]string{"40": "[]", "41": "[1]", "42": "[1,1]"} {
			if scheme == "tri" {
				if got := curl(t, "http://"+address+"/com.shop.OrderService/add", body); fmt.Sprint(got) != "{200 application/json ["+want+"]}" {
					t.Errorf("%s: got %v", body, got)
				}
				continue
			}
			var values []any
			for range strings.Count(body, "1") {
				values = append(values, int32(1))
			}
			p := dial(t, address)
			p.write(frame(0xc2, 0, 1, call(t, "add", strings.Repeat("I", len(values)), nil, values...)))
			_, status, _, reply := p.next()
			d := hessian.NewDecoder(reply)
			var kind, got int
			if err := errors.Join(d.Decode(&kind), d.Decode(&got)); err != nil || status != 20 || fmt.Sprint(got) != want {
				t.Errorf("%s: got the status %d and %d, %v", body, status, got, err)
			}
		}
	}
}

type localDate struct {
	Year  int32 `json:"year"`
	Month int32 `json:"month"`
	Day   int32 `json:"day"`
}

type localTime struct {
	Hour   int32 `json:"hour"`
	Minute int32 `json:"minute"`
	Second int32 `json:"second"`
	Nano   int32 `json:"nano"`
}

type localDateTime struct {
	Date *localDate `json:"date"`
	Time *localTime `json:"time"`
}

func init() {
	hessian.Register[localDate]("com.alibaba.com.caucho.hessian.io.java8.LocalDateHandle")
	hessian.Register[localTime]("com.alibaba.com.caucho.hessian.io.java8.LocalTimeHandle")
	hessian.Register[localDateTime]("com.alibaba.com.caucho.hessian.io.java8.LocalDateTimeHandle")
}

// Gateways make generic calls of JSON, which has no dates, and of queries, which have only texts.
func TestAGenericCallMayHaveTextsForNumbersAndTimes(t *testing.T) {
	type visit struct {
		Guests int32         `json:"guests"`
		Price  float64       `json:"price"`
		Paid   bool          `json:"paid"`
		Since  time.Time     `json:"since"`
		From   localDateTime `json:"from"`
	}
	s := sabir.NewService("orders")
	sabir.Handle(s, "book", func(_ context.Context, in visit) (visit, error) { return in, nil })
	address := freeAddress(t)
	start(t, sabir.Serve(s), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"dubbo://" + address: {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0"}}}}))
	p := dial(t, address)
	for from, want := range map[string]string{"2024-02-29T23:01:02.005": "2024-02-29T23:01:02.005", "2024-02-29 23:00:00": "2024-02-29T23:00", "2024-02-29T23:01:00.000007": "2024-02-29T23:01:00.000007", "2024-02-29T23:01:02.000000001": "2024-02-29T23:01:02.000000001"} {
		in := map[string]any{"class": "com.shop.Visit", "guests": "2", "price": hessian.Decimal("1.5"), "paid": "true", "since": int64(86400000), "from": from}
		p.write(frame(0xc2, 0, 1, call(t, "$invoke", "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;", nil, "book", []string{"com.shop.Visit"}, []any{in})))
		_, status, _, reply := p.next()
		d := hessian.NewDecoder(reply)
		var kind int
		var out any
		if err := errors.Join(d.Decode(&kind), d.Decode(&out)); err != nil || status != 20 {
			t.Fatalf("got the status %d and %v", status, err)
		}
		got, _ := out.(map[string]any)
		if got["guests"] != int32(2) || got["price"] != 1.5 || got["paid"] != true || got["since"] != time.Unix(86400, 0).UTC() || got["from"] != want {
			t.Errorf("got %v", out)
		}
	}
	p.write(frame(0xc2, 0, 1, call(t, "book", "Lcom/shop/Visit;", nil, map[string]any{"guests": "2"})))
	if _, _, _, reply := p.next(); !strings.Contains(string(reply), "want number, got string") {
		t.Errorf("a typed call with a text for a number: got %q", reply)
	}
}

func TestKeysOfAGenericAnswerHaveNoClasses(t *testing.T) {
	s := sabir.NewService("orders")
	sabir.Handle(s, "favourites", func(context.Context, sabir.Empty) (map[color]int32, error) { return map[color]int32{"GREEN": 2}, nil })
	address := freeAddress(t)
	start(t, sabir.Serve(s), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"dubbo://" + address: {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0"}}}}))
	p := dial(t, address)
	p.write(frame(0xc2, 0, 1, call(t, "$invoke", "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;", nil, "favourites", nil, nil)))
	_, status, _, reply := p.next()
	d := hessian.NewDecoder(reply)
	d.Unregistered()
	var kind int
	var out any
	if err := errors.Join(d.Decode(&kind), d.Decode(&out)); err != nil || status != 20 || fmt.Sprintf("%#v", out) != `map[string]interface {}{"GREEN":2}` {
		t.Errorf("got the status %d and %#v, %v", status, out, err)
	}
}

// An action may take a pointer to its input, as those of gRPC and of many handlers do.
func TestTheFieldsOfAnInputThatIsAPointerAreTheArguments(t *testing.T) {
	type in struct {
		A, B int32
	}
	for _, scheme := range []string{"dubbo", "tri"} {
		s := sabir.NewService("orders")
		sabir.Handle(s, "add", func(_ context.Context, in *in) (int32, error) { return in.A + in.B, nil })
		sabir.Handle(s, "ping", func(_ context.Context, in *struct{}) (string, error) { return fmt.Sprint(in != nil), nil })
		sabir.Handle(s, "name", func(_ context.Context, in *struct{ Name string }) (string, error) { return in.Name, nil })
		address := freeAddress(t)
		startAs(t, scheme, sabir.Serve(s), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{scheme + "://" + address: {{Name: "com.shop.OrderService", Service: "orders"}}}}))
		n := start(t, dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{scheme + "://" + address: {{Name: "com.shop.OrderService", Service: "remote",
			Methods: []dubbo.Method{{Name: "add", Parameters: []string{"int", "int"}}, {Name: "ping", Parameters: []string{}}, {Name: "name", Parameters: []string{"java.lang.String"}}}}}}}))
		if got, err := sabir.Call[int32](t.Context(), n, "remote.add", &in{40, 2}); got != 42 || err != nil {
			t.Errorf("%s: got %d, %v", scheme, got, err)
		}
		if got, err := sabir.Call[int32](t.Context(), n, "remote.add", any(in{40, 2})); got != 42 || err != nil {
			t.Errorf("%s, in an interface: got %d, %v", scheme, got, err)
		}
		if got, err := sabir.Call[int32](t.Context(), n, "remote.add", (*in)(nil)); got != 0 || err != nil {
			t.Errorf("%s, nil: got %d, %v", scheme, got, err)
		}
		if got, err := sabir.Call[string](t.Context(), n, "remote.ping", &struct{}{}); got != "true" || err != nil {
			t.Errorf("%s, without arguments: got %q, %v", scheme, got, err)
		}
		if got, err := sabir.Call[string](t.Context(), n, "remote.name", &struct{ Name string }{"tea"}); got != "tea" || err != nil {
			t.Errorf("%s, one text: got %q, %v", scheme, got, err)
		}
		if scheme == "tri" {
			for body, want := range map[string]string{"/add [40,2]": "42", `/add {"A":40,"B":2}`: "42", `/name ["tea"]`: "tea"} {
				path, data, _ := strings.Cut(body, " ")
				if got := curl(t, "http://"+address+"/com.shop.OrderService"+path, data); fmt.Sprint(got) != "{200 application/json ["+want+"]}" {
					t.Errorf("%s: got %v", body, got)
				}
			}
			if got := curl(t, "http://"+address+"/com.shop.OrderService/add?A=40&B=2", ""); fmt.Sprint(got) != "{200 application/json [42]}" {
				t.Errorf("in a query: got %v", got)
			}
		}
	}
}

// Dubbo for Go, and Triple of Dubbo 3.0, take lists of the type of an array only where a method has one.
func TestAnArrayOfJavaIsAListWithItsType(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	accepted := make(chan net.Conn, 1)
	go func() {
		if c, err := listener.Accept(); err == nil {
			accepted <- c
		}
	}()
	types := []string{"int[]", "java.lang.String[]", "long[][]", "com.shop.Order[]", "byte[]", "char[]", "java.util.List", "byte[][]", "int[]"}
	node := start(t, dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{"dubbo://" + listener.Addr().String(): {{Name: "com.shop.OrderService", Service: "orders", Methods: []dubbo.Method{{Name: "all", Parameters: types}}}}}}))
	p := newPeer(t, <-accepted)
	type input struct {
		Numbers []int32
		Texts   []string
		Longs   [][]int64
		Orders  []*order
		Bytes   []byte
		Chars   string
		List    []int32
		Blocks  [][]byte
		None    []int32
	}
	go sabir.Call[string](t.Context(), node, "orders.all", input{[]int32{1}, []string{"a"}, [][]int64{{2}}, []*order{nil}, []byte{3}, "c", []int32{4}, [][]byte{{5}}, nil})
	_, _, _, body := p.next()
	d := hessian.NewDecoder(body)
	for range 5 { // the version of Dubbo, the interface, its version, the method and the types of its parameters
		var text string
		if err := d.Decode(&text); err != nil {
			t.Fatal(err)
		}
	}
	list := func(of string, items ...any) any { return &hessian.List{Type: of, Items: items} }
	for i, want := range []any{list("[int", int32(1)), list("[string", "a"), list("[[long", list("[long", int64(2))), list("[com.shop.Order", nil), []byte{3}, "c", []any{int32(4)}, list("[[byte", []byte{5}), nil} {
		var got any
		if err := d.Decode(&got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the provider got %#v, %v", types[i], got, err)
		}
	}
}
