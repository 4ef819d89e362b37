package gofile_test

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"flag"
	"log/slog"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/gofile"
	"github.com/sabir-go/sabir/internal/gofile/testdata/contracts"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/schema"
	_ "github.com/sabir-go/sabir/transport/mem"
)

var update = flag.Bool("update", false, "write the golden file anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The shop has an action for everything that a contract can have.
type (
	GetOrder struct {
		ID   string        `json:"id" validate:"required,min=3" doc:"as the receipt has it"`
		Wait time.Duration `json:"wait,omitempty" default:"1000"`
	}
	Item struct {
		Name  string  `json:"name"`
		Price float64 `json:"price"`
		Image []byte  `json:"image,omitempty"`
		Note  *string `json:"note"`
		Part  *Item   `json:"part,omitempty"`
	}
	Order struct {
		OrderID string          `json:"orderId"`
		Placed  time.Time       `json:"placed"`
		Items   []Item          `json:"items"`
		Labels  map[string]int8 `json:"labels"`
		Address struct {
			City string `json:"city"`
		} `json:"address"`
		Extra any `json:"extra"`
	}
	Watch struct{}
	Place struct { // what is in it is read only as what it is
		Address  Address            `json:"address"`
		Billing  *Address           `json:"billing,omitempty"`
		Note     *string            `json:"note,omitempty"`
		Within   *time.Duration     `json:"within,omitempty"`
		Counts   map[int]int        `json:"counts"`
		Size     [3]float32         `json:"size"`
		Digest   [4]byte            `json:"digest"`
		Codes    []string           `json:"codes" validate:"len=2"`
		Raw      stdjson.RawMessage `json:"raw"`
		From     netip.Addr         `json:"from"`
		Cents    *big.Int           `json:"cents"`
		Number   int64              `json:"number,string"`
		Previous *Place             `json:"previous,omitempty"`
		Tags     []string           `json:"tags,omitempty" validate:"omitempty,min=1"`
		Hints    stdjson.RawMessage `json:"hints,omitempty"`
	}
	Address struct {
		City string `json:"city"`
	}
)

var errNoOrder = sabir.NewError(sabir.CodeNotFound, "NoSuchOrder", "there is no such order")

func shop() *sabir.Service {
	s := sabir.NewService("orders", sabir.Version(2))
	sabir.Handle(s, "get", func(_ context.Context, in GetOrder) (Order, error) {
		if in.ID == "o-404" {
			return Order{}, errNoOrder
		}
		o := Order{OrderID: in.ID, Placed: time.Unix(0, 0).UTC(), Labels: map[string]int8{"wait": int8(in.Wait / 1000)}, Items: []Item{{Name: "rope", Price: 1.5, Part: &Item{Name: "end"}}}}
		o.Address.City = "Brest"
		return o, nil
	}, sabir.Doc("finds an order"), sabir.Idempotent(), sabir.Errors(errNoOrder))
	sabir.Handle(s, "place", func(_ context.Context, in Place) (Place, error) { return in, nil })
	sabir.Handle(s, "count", func(context.Context, sabir.Empty) (int, error) { return 7, nil })
	sabir.Handle(s, "old", func(_ context.Context, in string) (string, error) { return in, nil }, sabir.Deprecated("v2.orders.get"))
	sabir.HandleStream(s, "watch", func(_ context.Context, st *sabir.Stream[sabir.Empty, Order]) error {
		return st.Send(Order{OrderID: "o-1"})
	}, sabir.ServerStream())
	return s
}

func started(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	n := sabir.NewNode(append(options, sabir.Logger(slog.New(slog.DiscardHandler)))...)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return n
}

func TestThePackageOfAnAPI(t *testing.T) {
	actions := slices.DeleteFunc(started(t, sabir.Serve(shop())).Actions(), func(a *sabir.Action) bool { return a.Service == "$node" })
	described, err := api.Of(api.API{Title: "the shop"}, actions, api.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := gofile.Write(&got, described, ""); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "contracts", "contracts.go")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the package is another one than %s: see whether the change is meant, then go test -run %s -update", golden, t.Name())
	}
}

func TestTheContractsCallTheService(t *testing.T) {
	caller := sabir.NewService("caller", sabir.DependsOn(contracts.V2OrdersGet, contracts.V2OrdersCount, contracts.V2OrdersOld, contracts.V2OrdersWatch))
	n := started(t, sabir.Serve(shop(), caller))
	for _, d := range n.Dependencies(t.Context()) {
		if d.Problem != "" {
			t.Error(d)
		}
	}
	order, err := contracts.V2OrdersGet.Call(t.Context(), n, contracts.GetOrder{ID: "o-1", Wait: 5000})
	want := contracts.Order{OrderID: "o-1", Placed: time.Unix(0, 0).UTC(), Labels: map[string]int8{"wait": 5}, Items: []contracts.Item{{Name: "rope", Price: 1.5, Part: &contracts.Item{Name: "end"}}}}
	want.Address.City = "Brest"
	if err != nil || !reflect.DeepEqual(order, want) {
		t.Errorf("got %+v, %v, want %+v", order, err, want)
	}
	if _, err := contracts.V2OrdersGet.Call(t.Context(), n, contracts.GetOrder{ID: "o-404"}); !errors.Is(err, contracts.ErrNoSuchOrder) {
		t.Errorf("got %v", err)
	}
	if _, err := contracts.V2OrdersGet.Call(t.Context(), n, contracts.GetOrder{}); !errors.Is(err, sabir.ErrValidationFailed) {
		t.Errorf("got %v", err)
	}
	if count, err := contracts.V2OrdersCount.Call(t.Context(), n, sabir.Empty{}); count != 7 || err != nil {
		t.Errorf("got %d, %v", count, err)
	}
	stream, err := contracts.V2OrdersWatch.Open(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if one, err := stream.Recv(); err != nil || one.OrderID != "o-1" {
		t.Errorf("got %+v, %v", one, err)
	}
}

func TestWhatAContractSendsIsReadOnAnotherNodeInEachFormat(t *testing.T) {
	in := contracts.PlaceInput{
		Address: contracts.AddressInput{City: "Brest"}, Counts: map[int64]int{7: 1}, Size: [3]float32{1, 2, 3}, Digest: [4]uint8{9}, Codes: []string{"a", "b"},
		Raw: stdjson.RawMessage(`{"a":1}`), From: netip.MustParseAddr("10.0.0.1"), Cents: big.NewInt(5), Number: 12,
	}
	for _, format := range []codec.Codec{native.Codec(), json.Codec} {
		address := "mem://" + t.Name() + format.Name()
		server := started(t, sabir.Serve(shop()), sabir.Join(address), sabir.Codecs(native.Codec(), json.Codec))
		caller := started(t, sabir.Join(address, cluster.Config{ClientOnly: true}), sabir.Codecs(format))
		got, err := contracts.V2OrdersPlace.Call(t.Context(), caller, in, sabir.ToNode(server.ID()))
		if err != nil || got.Address.City != "Brest" || got.Counts[7] != 1 || got.Size != in.Size || got.Digest != in.Digest || string(got.Raw) != `{"a":1}` ||
			got.From != in.From || got.Cents.Int64() != 5 || got.Number != 12 {
			t.Errorf("%s: %+v, %v", format.Name(), got, err)
		}
		if got.Billing != nil || got.Note != nil || got.Within != nil || got.Previous != nil || got.Tags != nil || got.Hints != nil {
			t.Errorf("%s: what was left out came: %+v", format.Name(), got)
		}
	}
}

func TestNamesThatAreNoneInGoBecomeSome(t *testing.T) {
	text := &schema.Schema{Type: schema.Types{"string"}}
	a := api.API{Actions: []api.Action{
		{Name: "users.get", In: &schema.Schema{Type: schema.Types{"object"}, Properties: schema.Properties{{Name: "user-id", Schema: text}, {Name: "userId", Schema: text}, {Name: "2fa", Schema: text}, {Name: "a\nb", Schema: text}}}},
		{Name: "users.Get", Description: "one\n*/ func init() { panic(1) }\u2028// two"},
		{Name: "users.none", In: &schema.Schema{Ref: "#/$defs/Missing"}, Out: &schema.Schema{Type: schema.Types{"string", "integer"}}},
	}, Types: map[string]*schema.Schema{"UsersGet": text, "billing.User": {Type: schema.Types{"array"}}, "": nil}}
	var out bytes.Buffer
	if err := gofile.Write(&out, a, "shop"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"package shop\n", "UserID ", "UserID2", "X2fa", `json:"a\nb"`, "type UsersGet string", "type BillingUser []any", "var UsersGet2 =", "var UsersGet3 =",
		"UsersNone = sabir.NewAction[any, any]", "type X any"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &out)
		}
	}
	if err := gofile.Write(&out, a, "my shop"); err == nil {
		t.Error("the package has a name with a space")
	}
}

func TestAnObjectWithANameThatNoTagHoldsIsAMap(t *testing.T) {
	text := &schema.Schema{Type: schema.Types{"string"}}
	for _, name := range []string{"", "-", "a,b", "it's", `a"b`, `a\b`, "a`b"} {
		odd := &schema.Schema{Type: schema.Types{"object"}, Properties: schema.Properties{{Name: name, Schema: text}, {Name: "id", Schema: text}}}
		around := &schema.Schema{Type: schema.Types{"object"}, Properties: schema.Properties{{Name: "odd", Schema: odd}, {Name: "named", Schema: &schema.Schema{Ref: "#/$defs/Named"}}}}
		var out bytes.Buffer
		a := api.API{Actions: []api.Action{{Name: "users.odd", In: odd}, {Name: "users.around", In: around}}, Types: map[string]*schema.Schema{"Named": odd}}
		if err := gofile.Write(&out, a, "shop"); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"UsersOdd = sabir.NewAction[map[string]any, ", "type Named map[string]any", "map[string]any `json:\"odd,omitzero\"`"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("with the name %q, %q is not in:\n%s", name, want, &out)
			}
		}
	}
}

func FuzzWrite(f *testing.F) {
	f.Add([]byte(`{"title":"a","actions":[{"name":"a.b","in":{"$ref":"#/$defs/A"},"errors":[{"name":"X","code":"NotFound"}]}],"types":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var a api.API
		if stdjson.Unmarshal(text, &a) != nil {
			return
		}
		if err := gofile.Write(&bytes.Buffer{}, a, ""); err != nil {
			t.Errorf("what is written is no Go: %v", err)
		}
	})
}

func TestAnEventOfOneNameIsAContract(t *testing.T) {
	event := api.Message{Kind: "event", Name: "orders.placed"}
	pattern, text := event, event
	pattern.Name, text.Name, text.Type = "orders.*", "orders.gone", &schema.Schema{Type: schema.Types{"string"}}
	var out bytes.Buffer
	if err := gofile.Write(&out, api.API{Messages: []api.Message{event, event, pattern, text, {Kind: "channel", Name: "mails"}}}, "shop"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`var EventOrdersPlaced = sabir.NewEvent[any]("orders.placed")`, `var EventOrdersGone = sabir.NewEvent[string]("orders.gone")`} {
		if strings.Count(out.String(), want) != 1 || strings.Count(out.String(), "sabir.NewEvent") != 2 {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}
