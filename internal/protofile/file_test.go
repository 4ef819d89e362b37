package protofile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/protofile"
	"github.com/sabir-go/sabir/internal/schema"
	"github.com/sabir-go/sabir/introspect"
)

var update = flag.Bool("update", false, "write the golden file anew")

// shop is a small API in which everything occurs that an API can have.
func shop(t testing.TB) api.API {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", "shop.api.json"))
	if err != nil {
		t.Fatal(err)
	}
	var a api.API
	if err := json.Unmarshal(file, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func write(t testing.TB, a api.API, o protofile.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := protofile.Write(&b, a, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// compile gives a file to a compiler of Protocol Buffers.
func compile(text string) (protoreflect.FileDescriptor, error) {
	c := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(map[string]string{"a.proto": text})})}
	files, err := c.Compile(context.Background(), "a.proto")
	if err != nil {
		return nil, err
	}
	return files[0], nil
}

func compiled(t testing.TB, text string) protoreflect.FileDescriptor {
	t.Helper()
	file, err := compile(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return file
}

// describe is a field as "repeated string tags = 3 json tags".
func describe(f protoreflect.FieldDescriptor) string {
	kind := f.Kind().String()
	if m := f.Message(); m != nil && !f.IsMap() {
		kind = string(m.FullName())
	}
	if e := f.Enum(); e != nil {
		kind = string(e.FullName())
	}
	switch {
	case f.IsMap() && f.MapValue().Message() != nil:
		kind = "map of " + string(f.MapValue().Message().FullName())
	case f.IsMap():
		kind = "map of " + f.MapValue().Kind().String()
	case f.IsList():
		kind = "repeated " + kind
	case f.HasOptionalKeyword():
		kind = "optional " + kind
	}
	return kind + " " + string(f.Name())
}

func TestFileIsTheGoldenOneAndCompiles(t *testing.T) {
	got := write(t, shop(t), protofile.Options{Package: "shop.v1", GoPackage: "example.org/shop/v1;shopv1"})
	compiled(t, got)
	name := filepath.Join("testdata", "shop.proto")
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from what is made now; look at the difference after `go test -update`", name)
	}
}

func TestTheCompilerWouldFindFaults(t *testing.T) {
	text := write(t, shop(t), protofile.Options{})
	if _, err := compile(strings.Replace(text, "returns (User)", "returns (Nobody)", 1)); err == nil {
		t.Error("an rpc that returns an unknown message compiles")
	}
}

func TestTheSameAPIGivesTheSameBytes(t *testing.T) {
	a := shop(t)
	first := write(t, a, protofile.Options{})
	slices.Reverse(a.Actions)
	if first != write(t, a, protofile.Options{}) {
		t.Error("the order of the actions shows in the file")
	}
}

func TestKindsOfFields(t *testing.T) {
	file := compiled(t, write(t, shop(t), protofile.Options{Package: "shop"}))
	for message, want := range map[string]string{
		"User": "int64 id, string name, string email, string role, google.protobuf.Timestamp born, uint64 score, repeated string tags, " +
			"shop.BillingAddress address, map of string labels, google.protobuf.Value extra, bytes photo",
		"PageUser":         "repeated shop.User items, optional int32 next, map of shop.PageUserTotalsValue totals, repeated shop.PageUserMatrixItem matrix",
		"ListUsers":        "shop.ListUsersTagsValue tags, int64 page, optional bool active, string tenant, string theme",
		"Category":         "string name, shop.CategorySize size, repeated shop.Category children",
		"CatalogTreeInput": "string value",
		"UsersAvatarInput": "bytes value",
	} {
		m := file.Messages().ByName(protoreflect.Name(message))
		if m == nil {
			t.Errorf("there is no message %s", message)
			continue
		}
		var fields []string
		for i := range m.Fields().Len() {
			fields = append(fields, describe(m.Fields().Get(i)))
			if int(m.Fields().Get(i).Number()) != i+1 {
				t.Errorf("%s: field %d has the number %d", message, i+1, m.Fields().Get(i).Number())
			}
		}
		if got := strings.Join(fields, ", "); got != want {
			t.Errorf("%s has\n%s, want\n%s", message, got, want)
		}
	}
	if d := file.Messages().ByName("NewUser").Fields().ByName("patience").Message().FullName(); d != "google.protobuf.Duration" {
		t.Errorf("a duration is a %s", d)
	}
}

func TestUnusualSchemas(t *testing.T) {
	kind := func(types ...string) *schema.Schema { return &schema.Schema{Type: types} }
	for name, c := range map[string]struct {
		schema *schema.Schema
		want   string
	}{
		"list of anything":             {&schema.Schema{Type: schema.Types{"array"}, Items: &schema.Schema{}}, "repeated google.protobuf.Value f"},
		"list of what may be null":     {&schema.Schema{Type: schema.Types{"array"}, Items: kind("integer", "null")}, "repeated api.TFItem f"},
		"map of anything":              {&schema.Schema{Type: schema.Types{"object"}, AdditionalProperties: &schema.Schema{}}, "map of google.protobuf.Value f"},
		"object of unknown members":    {kind("object"), "google.protobuf.Struct f"},
		"null":                         {kind("null"), "google.protobuf.NullValue f"},
		"one of several types":         {kind("string", "integer"), "google.protobuf.Value f"},
		"one of several schemas":       {&schema.Schema{AnyOf: []schema.Schema{*kind("string"), *kind("integer")}}, "google.protobuf.Value f"},
		"text of alternative rules":    {&schema.Schema{Type: schema.Types{"string"}, AnyOf: []schema.Schema{{Const: ""}, {Format: "email"}}}, "string f"},
		"a type that is not there":     {&schema.Schema{Ref: "#/$defs/Nobody"}, "google.protobuf.Value f"},
		"a type that is only its own":  {&schema.Schema{Ref: "#/$defs/Loop"}, "google.protobuf.Value f"},
		"another name for a text":      {&schema.Schema{Ref: "#/$defs/Name"}, "string f"},
		"optional text":                {kind("string", "null"), "optional string f"},
		"float":                        {&schema.Schema{Type: schema.Types{"number"}, Format: "float"}, "float f"},
		"map of lists":                 {&schema.Schema{Type: schema.Types{"object"}, AdditionalProperties: &schema.Schema{Type: schema.Types{"array"}, Items: kind("string")}}, "map of api.TFValue f"},
		"object that has no type name": {&schema.Schema{Type: schema.Types{"object"}, Properties: schema.Properties{{Name: "x", Schema: kind("number")}}}, "api.TF f"},
	} {
		a := api.API{Types: map[string]*schema.Schema{
			"T":    {Type: schema.Types{"object"}, Properties: schema.Properties{{Name: "f", Schema: c.schema}}},
			"Loop": {Ref: "#/$defs/Loop"}, "Name": kind("string"),
		}}
		file := compiled(t, write(t, a, protofile.Options{}))
		if got := describe(file.Messages().ByName("T").Fields().Get(0)); got != c.want {
			t.Errorf("%s is %s, want %s", name, got, c.want)
		}
	}
}

func TestActionsAreRPCs(t *testing.T) {
	file := compiled(t, write(t, shop(t), protofile.Options{Package: "shop"}))
	users := file.Services().ByName("UsersService")
	get := users.Methods().ByName("Get")
	if get == nil || get.Input().Name() != "GetUser" || get.Output().Name() != "User" || get.IsStreamingClient() {
		t.Errorf("users.get is %v", get)
	}
	if remove := users.Methods().ByName("Remove"); remove.Output().FullName() != "google.protobuf.Empty" {
		t.Errorf("users.remove returns %s", remove.Output().FullName())
	}
	join := file.Services().ByName("ChatService").Methods().ByName("Join")
	if !join.IsStreamingClient() || !join.IsStreamingServer() {
		t.Error("chat.join does not stream both ways")
	}
	if file.Services().ByName("V2UsersService") == nil || file.Services().ByName("NodeService") == nil {
		t.Error("services with dots or signs in their names are missing")
	}
}

// Compilers look a name up among the methods of the service first.
func TestAFileOfOnePackageHasTheMessagesThatItsServicesReach(t *testing.T) {
	a := shop(t)
	for i := range a.Actions {
		pkg := "other.v1.Others/"
		if a.Actions[i].Service == "catalog" {
			pkg = "catalog.v1.Catalog/"
		}
		a.Actions[i].RPC = "/" + pkg + "Method" + strconv.Itoa(i)
	}
	file := compiled(t, write(t, a, protofile.Options{Package: "catalog.v1"}))
	var got []string
	for i := range file.Messages().Len() {
		got = append(got, string(file.Messages().Get(i).Name()))
	}
	if want := []string{"CatalogTreeInput", "Category", "CategorySize"}; !slices.Equal(got, want) {
		t.Errorf("the file has the messages %q, want %q", got, want)
	}
}

func TestAMessageMayHaveTheNameOfAMethod(t *testing.T) {
	get := &schema.Schema{Type: schema.Types{"object"}, Properties: schema.Properties{{Name: "id", Schema: &schema.Schema{Type: schema.Types{"string"}}}}}
	a := api.API{Types: map[string]*schema.Schema{"Get": get}, Actions: []api.Action{
		{Name: "users.find", Service: "users", In: get, Out: &schema.Schema{Ref: "#/$defs/Get"}}, // stands before the method of that name
		{Name: "users.get", Service: "users", In: &schema.Schema{Ref: "#/$defs/Get"}, Out: &schema.Schema{Ref: "#/$defs/Get"}}}}
	for _, name := range []string{"users", "shop.v1"} {
		methods := compiled(t, write(t, a, protofile.Options{Package: name})).Services().Get(0).Methods()
		if find, get := methods.ByName("Find"), methods.ByName("Get"); find.Output() != get.Input() || get.Output().Name() != "Get" {
			t.Errorf("%s: users.find answers %s, users.get takes %s", name, find.Output().FullName(), get.Input().FullName())
		}
	}
}

func TestAStreamGoesTheWaysOfItsShape(t *testing.T) {
	for shape, want := range map[api.Shape][2]bool{"": {true, true}, introspect.ServerStream: {false, true}, introspect.ClientStream: {true, false}} {
		a := api.API{Actions: []api.Action{{Name: "s.it", Service: "s", Stream: true, Shape: shape}}}
		it := compiled(t, write(t, a, protofile.Options{})).Services().Get(0).Methods().Get(0)
		if got := [2]bool{it.IsStreamingClient(), it.IsStreamingServer()}; got != want {
			t.Errorf("the shape %q streams from the client and the server: %v", shape, got)
		}
	}
}

func TestATypeThatIsAnInputAndAnOutputIsOneMessage(t *testing.T) {
	text, number := &schema.Schema{Type: schema.Types{"string"}}, &schema.Schema{Type: schema.Types{"integer"}}
	object := func(required []string, p ...schema.Property) *schema.Schema {
		return &schema.Schema{Type: schema.Types{"object"}, Properties: p, Required: required}
	}
	a := api.API{Types: map[string]*schema.Schema{
		"Same":      object([]string{"a"}, schema.Property{Name: "a", Schema: text}, schema.Property{Name: "in", Schema: &schema.Schema{Ref: "#/$defs/Same"}}),
		"SameInput": object(nil, schema.Property{Name: "a", Schema: text}, schema.Property{Name: "in", Schema: &schema.Schema{Ref: "#/$defs/SameInput"}}),
		"Not":       object(nil, schema.Property{Name: "a", Schema: text}),
		"NotInput":  object(nil, schema.Property{Name: "a", Schema: number}),
	}, Actions: []api.Action{{Name: "s.it", Service: "s", In: &schema.Schema{Ref: "#/$defs/SameInput"}, Out: &schema.Schema{Ref: "#/$defs/Same"}}}}
	file := compiled(t, write(t, a, protofile.Options{}))
	it := file.Services().Get(0).Methods().Get(0)
	if it.Input() != it.Output() || file.Messages().ByName("SameInput") != nil || file.Messages().ByName("NotInput") == nil {
		t.Errorf("the method takes %s and answers %s", it.Input().FullName(), it.Output().FullName())
	}
}

func TestFieldsHaveTheUsualNamesInJSONAndAreKeptApart(t *testing.T) {
	names := []string{"userID", "user_id", "user-id", "HTTPPort", "x", "2nd", "größe", "_", "message", "reserved", "$ref"}
	want := []string{"userId", "userId2", "userId3", "httpPort", "x", "x2nd", "grE", "x2", "message", "reserved", "ref"}
	var p schema.Properties
	for _, name := range names {
		p = append(p, schema.Property{Name: name, Schema: &schema.Schema{Type: schema.Types{"string"}}})
	}
	a := api.API{Types: map[string]*schema.Schema{"T": {Type: schema.Types{"object"}, Properties: p}}}
	fields := compiled(t, write(t, a, protofile.Options{})).Messages().ByName("T").Fields()
	for i, name := range names {
		if got := fields.Get(i).JSONName(); got != want[i] {
			t.Errorf("%s is %s in JSON, want %s", name, got, want[i])
		}
	}
}

// message is an API with one message of texts: "name" or "name=number" of its tag.
func message(fields ...string) api.API {
	var p schema.Properties
	for _, field := range fields {
		name, number, _ := strings.Cut(field, "=")
		n, _ := strconv.Atoi(number)
		p = append(p, schema.Property{Name: name, Schema: &schema.Schema{Type: schema.Types{"string"}, FieldNumber: n}})
	}
	return api.API{Types: map[string]*schema.Schema{"T": {Type: schema.Types{"object"}, Properties: p}}}
}

func TestFieldsHaveTheNumbersOfTheirTagsOrTheOneBehindThatBefore(t *testing.T) {
	m := compiled(t, write(t, message("a", "b=7", "c"), protofile.Options{})).Messages().ByName("T")
	for name, want := range map[protoreflect.Name]protoreflect.FieldNumber{"a": 1, "b": 7, "c": 8} {
		if got := m.Fields().ByName(name).Number(); got != want {
			t.Errorf("%s has the number %d, want %d", name, got, want)
		}
	}
}

func TestALockRefusesOtherNumbersThanItHas(t *testing.T) {
	lock := protofile.Lock{}
	write(t, message("a", "b", "c"), protofile.Options{Lock: lock})
	for _, c := range []struct {
		fields []string
		want   []string // "" for none
	}{
		{[]string{"a", "b", "c", "d"}, nil},
		{[]string{"a", "new=4", "b=2", "c"}, nil},
		{[]string{"a", "c=3"}, nil},
		{[]string{"a", "c", "b"}, []string{"the field c of T has number 2, and had 3: give it the tag `protobuf:\"3\"`", "the field b of T has number 3, and had 2: give it the tag `protobuf:\"2\"`"}},
		{[]string{"a", "new", "b=2", "c"}, []string{"the field new of T has number 2, which is that of b: give it the tag `protobuf:\"4\"`"}},
		{[]string{"a=5", "b=2", "c"}, []string{"the field a of T has number 5, and had 1: give it the tag `protobuf:\"1\"`"}},
	} {
		var got []string
		for _, problem := range lock.Check(message(c.fields...)) {
			got = append(got, problem.Error())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.fields, got, c.want)
		}
	}
	if err := protofile.Write(&bytes.Buffer{}, message("b"), protofile.Options{Lock: lock}); err == nil {
		t.Error("a file with another number was written")
	}
}

func TestALockReservesTheNumbersOfFieldsThatWent(t *testing.T) {
	lock := protofile.Lock{}
	write(t, message("a", "b", "c"), protofile.Options{Lock: lock})
	m := compiled(t, write(t, message("a", "c=3", "new"), protofile.Options{Lock: lock})).Messages().ByName("T")
	if !m.ReservedRanges().Has(2) || m.Fields().ByName("new").Number() != 4 {
		t.Errorf("%v", m)
	}
	kept, err := json.Marshal(lock)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"T":{"a":1,"b":2,"c":3,"new":4}}`; string(kept) != want {
		t.Errorf("the lock is %s, want %s", kept, want)
	}
}

// JSON of Protocol Buffers has names, and buf breaking with WIRE_JSON asks for them.
func TestALockReservesTheNamesOfFieldsThatWent(t *testing.T) {
	lock := protofile.Lock{}
	write(t, message("a", "wasThere", "user_id"), protofile.Options{Lock: lock})
	m := compiled(t, write(t, message("a", "userID=9"), protofile.Options{Lock: lock})).Messages().ByName("T")
	if !m.ReservedNames().Has("was_there") {
		t.Error("the name of a field that went may be used again")
	}
	if m.ReservedNames().Has("user_id") || !m.ReservedRanges().Has(3) {
		t.Error("the name that another field has now is reserved")
	}
}

// A file in a package that the server does not serve would make clients whose calls are all Unimplemented.
func TestAFileIsOfAPackageThatTheServerHas(t *testing.T) {
	a := api.API{Title: "The shop", Actions: []api.Action{
		{Name: "users.get", Service: "users", Path: "/users/get", RPC: "/users.Users/Get"},
		{Name: "orders.get", Service: "orders", Path: "/orders/get", RPC: "/orders.Orders/Get"},
	}}
	for _, test := range []struct{ pkg, says string }{
		{"", "in 2 packages, and a file is of one: choose it with --package, orders or users"},
		{"shop.v1", `no service is in the package "shop.v1": choose another with --package, orders or users`},
	} {
		if err := protofile.Write(&bytes.Buffer{}, a, protofile.Options{Package: test.pkg}); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("the package %q: got %v, want %q", test.pkg, err, test.says)
		}
	}
	if one := write(t, a, protofile.Options{Package: "users"}); !strings.Contains(one, "package users;") || strings.Contains(one, "Orders") {
		t.Errorf("got %s", one)
	}
	for i := range a.Actions {
		a.Actions[i].RPC = "" // the server answers no gRPC
	}
	if all := write(t, a, protofile.Options{}); !strings.Contains(all, "package the_shop;") || !strings.Contains(all, "OrdersService") {
		t.Errorf("got %s", all)
	}
}

// The server calls the first action under a method that two have the name of.
func TestAMethodThatTwoActionsHaveTheNameOfIsThereOnce(t *testing.T) {
	file := compiled(t, write(t, api.API{Actions: []api.Action{
		{Name: "users.get-all", Service: "users", Path: "/users/get-all", RPC: "/users.Users/GetAll"},
		{Name: "users.get_all", Service: "users", Path: "/users/get_all", RPC: "/users.Users/GetAll"},
	}}, protofile.Options{}))
	if methods := file.Services().ByName("Users").Methods(); methods.Len() != 1 || methods.Get(0).Name() != "GetAll" {
		t.Errorf("got %d methods, want GetAll: the server has no other", methods.Len())
	}
}

func TestPackageNamesAreChecked(t *testing.T) {
	if err := protofile.Write(&bytes.Buffer{}, api.API{}, protofile.Options{Package: "shop; v1"}); err == nil || !strings.Contains(err.Error(), `"shop; v1"`) {
		t.Errorf("the error is %v", err)
	}
}

type full struct{}

var errFull = errors.New("the disk is full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestErrorsOfTheWriterComeBack(t *testing.T) {
	if err := protofile.Write(full{}, shop(t), protofile.Options{}); !errors.Is(err, errFull) {
		t.Errorf("the error is %v", err)
	}
}

// FuzzWrite holds that whatever things are called, the file compiles.
func FuzzWrite(f *testing.F) {
	f.Add("users", "get", "User", "userID", "user_id", "Finds a user.")
	f.Add("$node", "", "Page[User]", "1", "_", "*/ \n // x\r\u2028")
	f.Add("a.b", "a.b", "string", "message", "Message", "\x00\"")
	f.Fuzz(func(t *testing.T, service, action, typ, one, two, says string) {
		if one == two || typ == "Other" {
			t.Skip("a Go struct has no two fields of one name")
		}
		p := schema.Properties{{Name: one, Schema: &schema.Schema{Ref: "#/$defs/Other"}}, {Name: two, Schema: &schema.Schema{Type: schema.Types{"string"}, Enum: []any{says}, Description: says}}}
		a := api.API{Title: says, Description: says, Types: map[string]*schema.Schema{
			typ:     {Type: schema.Types{"object"}, Properties: p, Description: says},
			"Other": {Type: schema.Types{"object"}, Properties: p[1:]},
		}, Actions: []api.Action{{Name: service + "." + action, Service: service, Description: says, In: &schema.Schema{Ref: "#/$defs/Other"}, Out: p[1].Schema}}}
		text := write(t, a, protofile.Options{Package: "fuzz"})
		if _, err := compile(text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	})
}
