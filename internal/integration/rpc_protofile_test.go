package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/protofile"
	"github.com/sabir-go/sabir/rpc"
)

type orderLine struct {
	SKU   string  `json:"sku"`
	Count uint32  `json:"count"`
	Price float64 `json:"price"`
}

type placeOrder struct {
	OrderID   string            `json:"orderID"`
	Customer  int64             `json:"customer_id"`
	Lines     []orderLine       `json:"lines"`
	Tags      map[string]string `json:"tags"`
	Extra     map[string]any    `json:"extra"`
	Note      *string           `json:"note"`
	Gift      *orderLine        `json:"gift"`
	Picture   []byte            `json:"picture"`
	At        time.Time         `json:"at"`
	Within    time.Duration     `json:"within"`
	Anything  any               `json:"anything"`
	Anythings []any             `json:"anythings"`
	Ratio     float32           `json:"ratio"`
	Urgent    bool              `json:"urgent"`
}

// allShapes has a field of each form that codec/protobuf names.
type allShapes struct {
	Bool      bool                  `json:"bool,omitempty"`
	Int       int                   `json:"int,omitempty"`
	Int8      int8                  `json:"int8,omitempty"`
	Uint      uint                  `json:"uint,omitempty"`
	Uint16    uint16                `json:"uint16,omitempty"`
	Uint64    uint64                `json:"uint64,omitempty"`
	MaybeInt  *int                  `json:"maybe_int,omitempty"`
	MaybeZero *uint8                `json:"maybe_zero,omitzero"`
	MaybeText *string               `json:"maybe_text,omitempty" validate:"omitempty,max=4"`
	MaybeFlag *bool                 `json:"maybe_flag,omitempty"`
	MaybeRate *float32              `json:"maybe_rate,omitempty"`
	MaybeData *[]byte               `json:"maybe_data,omitempty"`
	MaybeTime *time.Time            `json:"maybe_time,omitempty"`
	MaybeWait *time.Duration        `json:"maybe_wait,omitempty"`
	MaybeLine *orderLine            `json:"maybe_line,omitempty"`
	ByInt     map[int]float64       `json:"by_int"`
	ByInt32   map[int32]string      `json:"by_int32"`
	ByUint8   map[uint8]bool        `json:"by_uint8"`
	ByUint    map[uint]orderLine    `json:"by_uint"`
	ByName    map[string]*orderLine `json:"by_name"`
	Lines     []*orderLine          `json:"line_list"`
	Times     []time.Time           `json:"times"`
	Blobs     [][]byte              `json:"blobs"`
	Pair      [2]int32              `json:"pair"`
	Digest    [4]byte               `json:"digest"`
	Host      netip.Addr            `json:"host"`
	MaybeHost *netip.Addr           `json:"maybe_host,omitempty"`
	Self      *allShapes            `json:"self,omitempty"`
	Raw       json.RawMessage       `json:"raw,omitempty"`
	Email     string                `json:"email,omitempty" validate:"omitempty,email"`
	Port      uint16                `json:"port,omitempty" validate:"omitempty,port"`
	Wait      time.Duration         `json:"wait,omitempty" validate:"omitempty,min=1s"`
	Either    []string              `json:"either,omitempty" validate:"dive,email|numeric"`
}

// Ring has a field of its own type in Protocol Buffers, and none in JSON.
type Ring struct {
	*Ring
	Name string `json:"name"`
}

type placed struct {
	Number string `json:"number" protobuf:"4"`
	Left   int    `json:"left"`
	At     string `json:"at" protobuf:"1"`
}

type tick struct {
	Left int32 `json:"left"`
}

func TestTheProtoFileAndReflectionDescribeAServiceTheSame(t *testing.T) {
	s := sabir.NewService("orders", sabir.Use(rpc.Package("shop.v1")))
	sabir.Handle(s, "place", func(_ context.Context, in placeOrder) (placed, error) { return placed{Number: in.OrderID}, nil }, sabir.Idempotent())
	sabir.Handle(s, "cancel-all", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil })
	sabir.Handle(s, "shape", func(_ context.Context, in allShapes) (allShapes, error) { return in, nil }, sabir.Use(rpc.NoSideEffects()))
	sabir.Handle(s, "find", func(_ context.Context, in tick) (tick, error) { return in, nil }, sabir.Route("GET", "/find"))
	sabir.HandleStream(s, "watch", func(context.Context, *sabir.Stream[orderLine, tick]) error { return nil })
	sabir.HandleStream(s, "follow", func(context.Context, *sabir.Stream[orderLine, tick]) error { return nil }, sabir.ServerStream())
	giveBack[Ring](s, "ring")
	sabir.HandleStream(s, "collect", func(context.Context, *sabir.Stream[orderLine, tick]) error { return nil }, sabir.ClientStream())
	written, reflected := protoFileAndReflection(t, s)
	if written.GetPackage() != "shop.v1" || len(written.Service) != 1 || len(written.MessageType) != len(reflected.GetMessageType()) {
		t.Fatalf("%v\n%v", written, reflected)
	}
	if !proto.Equal(written.Service[0], reflected.Service[0]) {
		t.Errorf("the service is\n%v, by reflection\n%v", written.Service[0], reflected.Service[0])
	}
	for _, want := range reflected.MessageType {
		for _, got := range written.MessageType {
			if got.GetName() != want.GetName() {
				continue
			}
			for i, field := range want.Field {
				if i < len(got.Field) && !proto.Equal(got.Field[i], field) {
					t.Errorf("a field of %s is\n%v, by reflection\n%v", want.GetName(), got.Field[i], field)
				}
			}
			if !proto.Equal(got, want) {
				t.Errorf("a message is\n%v, by reflection\n%v", got, want)
			}
		}
	}
}

// boxes has lists and maps of what may be missing, or has a form of its own.
type boxes struct {
	Hosts  []netip.Addr             `json:"hosts"`
	HostOf map[string]netip.Addr    `json:"host_of"`
	Links  []*netip.Addr            `json:"links"`
	Times  []*time.Time             `json:"times"`
	TimeOf map[string]*time.Time    `json:"time_of"`
	Waits  []*time.Duration         `json:"waits"`
	Counts []*int                   `json:"counts"`
	ByHost map[netip.Addr]time.Time `json:"by_host"`
	Grid   [][]netip.Addr           `json:"grid"`
	Sums   [][4]byte                `json:"sums"`
	SumOf  map[string]*[4]byte      `json:"sum_of"`
	Rows   []*[]string              `json:"rows"`
	RowOf  map[string]*[]int        `json:"row_of"`
	Maps   []*map[string]int        `json:"maps"`
}

// giveBack adds an action that answers with its input.
func giveBack[T any](s *sabir.Service, name string) {
	sabir.Handle(s, name, func(_ context.Context, in T) (T, error) { return in, nil })
}

func TestTheProtoFileAndReflectionDescribeWhatIsNoStructTheSame(t *testing.T) {
	s := sabir.NewService("orders", sabir.Use(rpc.Package("shop.v1")))
	giveBack[*orderLine](s, "pointer")
	giveBack[*struct{}](s, "nothing")
	giveBack[time.Time](s, "time")
	giveBack[time.Duration](s, "wait")
	giveBack[any](s, "anything")
	giveBack[map[string]any](s, "object")
	giveBack[[]any](s, "list")
	giveBack[string](s, "text")
	giveBack[[]netip.Addr](s, "hosts")
	giveBack[map[string]netip.Addr](s, "host-of")
	giveBack[boxes](s, "boxes")
	compareMethods(t, s, 11)
}

type (
	stamped struct {
		By   string    `json:"by"`
		At   time.Time `json:"at"`
		Hide int       `json:"hide"`
	}
	versioned struct {
		*stamped
		Version int `json:"version" protobuf:"4"`
	}
	Audited struct {
		versioned
		Note string `json:"note"`
	}
	Audit struct {
		*Audited
		Left string `json:"left"`
	}
	// money has a form of its own in JSON only.
	money struct {
		Cents    int64
		Currency string
	}
	// otherwise has fields that are others in JSON.
	otherwise struct {
		*Audit    `protobuf:"3"`
		Hide      string              `json:"hide"`
		Skipped   int                 `json:"skipped" protobuf:"-"`
		Internal  int                 `json:"-" protobuf:"9"`
		Home      url.URL             `json:"home"`
		MaybeHome *url.URL            `json:"maybe_home,omitempty"`
		Links     []url.URL           `json:"links"`
		LinkOf    map[string]*url.URL `json:"link_of"`
		Price     money               `json:"price"`
		Prices    []money             `json:"prices"`
		MayCost   *money              `json:"may_cost,omitempty"`
		Rest      map[string]int      `json:",embed"`
	}
)

func (m money) MarshalJSON() ([]byte, error) { return json.Marshal(fmt.Sprint(m.Cents, m.Currency)) }
func (m *money) UnmarshalJSON(b []byte) error {
	_, err := fmt.Sscan(string(b), &m.Cents, &m.Currency)
	return err
}

func TestTheProtoFileAndReflectionDescribeFieldsThatAreOthersInJSONTheSame(t *testing.T) {
	s := sabir.NewService("orders", sabir.Use(rpc.Package("shop.v1")))
	giveBack[otherwise](s, "otherwise")
	giveBack[Audit](s, "audit")
	giveBack[url.URL](s, "link")
	giveBack[money](s, "price")
	giveBack[[]money](s, "prices")
	compareMethods(t, s, 5)
}

type (
	tree    []tree
	folders map[string]folders
	chains  []map[string]chains
	menu    []struct {
		Name string `json:"name"`
		Sub  menu   `json:"sub"`
	}
	references []*references
	// forest has lists and maps that have themselves inside, as fields and in others.
	forest struct {
		Tree    tree              `json:"tree"`
		Again   tree              `json:"again"`
		Maybe   *tree             `json:"maybe"`
		Trees   map[string][]tree `json:"trees"`
		Folders folders           `json:"folders"`
		Menu    menu              `json:"menu"`
		Links   references        `json:"links"`
	}
)

func TestTheProtoFileAndReflectionDescribeListsThatHaveThemselvesInsideTheSame(t *testing.T) {
	s := sabir.NewService("orders", sabir.Use(rpc.Package("shop.v1")))
	giveBack[tree](s, "tree")
	giveBack[folders](s, "folders")
	giveBack[chains](s, "chains")
	giveBack[menu](s, "menu")
	giveBack[references](s, "references")
	giveBack[forest](s, "forest")
	compareMethods(t, s, 6)
}

// compareMethods compares what the methods of a service take by the file with what they take by reflection.
func compareMethods(t *testing.T, s *sabir.Service, methods int) {
	t.Helper()
	written, reflected := protoFileAndReflection(t, s)
	if len(written.Service[0].Method) != methods || len(reflected.Service[0].Method) != methods {
		t.Fatalf("the methods are %v, by reflection %v", written.Service[0].Method, reflected.Service[0].Method)
	}
	for i, method := range written.Service[0].Method {
		for _, side := range []func(*descriptorpb.MethodDescriptorProto) string{(*descriptorpb.MethodDescriptorProto).GetInputType, (*descriptorpb.MethodDescriptorProto).GetOutputType} {
			got, want := wireForm(written, side(method), 8), wireForm(reflected, side(reflected.Service[0].Method[i]), 8)
			if got != want {
				t.Errorf("%s takes or gives\n%s, by reflection\n%s", method.GetName(), got, want)
			}
		}
	}
}

// wireForm tells how a message of a file is written: numbers and kinds of its fields, without the names of messages. One may have itself inside, so it tells as many
// levels as it is asked for.
func wireForm(file *descriptorpb.FileDescriptorProto, message string, levels int) string {
	if levels == 0 {
		return "…"
	}
	for _, m := range file.MessageType {
		if message == ".shop.v1."+m.GetName() {
			return wireFormOf(file, m, levels-1)
		}
		for _, entry := range m.NestedType {
			if message == ".shop.v1."+m.GetName()+"."+entry.GetName() {
				return wireFormOf(file, entry, levels-1)
			}
		}
	}
	return message
}

func wireFormOf(file *descriptorpb.FileDescriptorProto, m *descriptorpb.DescriptorProto, levels int) string {
	var b strings.Builder
	for _, f := range m.Field {
		fmt.Fprintf(&b, "%d %s %s", f.GetNumber(), f.GetLabel(), f.GetType())
		if f.GetProto3Optional() {
			b.WriteString(" or none")
		}
		if f.TypeName != nil {
			fmt.Fprintf(&b, " {%s}", wireForm(file, f.GetTypeName(), levels))
		}
		b.WriteString("; ")
	}
	return b.String()
}

// protoFileAndReflection returns the file that sabir gen proto writes for a service, and that of the node's reflection.
func protoFileAndReflection(t *testing.T, s *sabir.Service) (written, reflected *descriptorpb.FileDescriptorProto) {
	t.Helper()
	connection, node := dialCounter(t, s)
	connection.Close()

	actions := slices.DeleteFunc(node.Actions(), func(a *sabir.Action) bool { return !strings.HasPrefix(a.Name, "orders.") })
	described, err := api.Of(api.API{Title: "x"}, actions, api.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := protofile.Write(&text, described, protofile.Options{}); err != nil {
		t.Fatal(err)
	}
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(map[string]string{"a.proto": text.String()})})}
	compiled, err := compiler.Compile(t.Context(), "a.proto")
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	written = protodesc.ToFileDescriptorProto(compiled[0])

	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	stream := grpcreflect.NewClient(&http.Client{Transport: transport}, "http://"+node.HTTPAddr(), connect.WithGRPC()).NewStream(t.Context())
	defer stream.Close()
	files, err := stream.FileContainingSymbol(protoreflect.FullName("shop.v1.Orders"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.GetPackage() == "shop.v1" {
			reflected = f
		}
	}
	return written, reflected
}
