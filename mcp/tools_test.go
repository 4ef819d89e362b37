package mcp_test

import (
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/mcp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func toolsOf(tb testing.TB, session *sdk.ClientSession) map[string]*sdk.Tool {
	tb.Helper()
	found := make(map[string]*sdk.Tool)
	for tool, err := range session.Tools(tb.Context(), nil) {
		if err != nil {
			tb.Fatal(err)
		}
		found[tool.Name] = tool
	}
	return found
}

func TestNothingIsAToolThatIsNotNamed(t *testing.T) {
	for about, test := range map[string]struct {
		options mcp.Config
		want    []string
	}{
		"none":         {mcp.Config{}, nil},
		"one":          {mcp.Config{Tools: []string{"orders.get"}}, []string{"orders_get"}},
		"several":      {mcp.Config{Tools: []string{"orders.get", "orders.list", "orders.count"}}, []string{"orders_count", "orders_get", "orders_list"}},
		"not for HTTP": {mcp.Config{Tools: []string{"orders.secret", "$node.*"}}, nil},
		"a version":    {mcp.Config{Tools: []string{"prices.*"}}, []string{"v2_prices_get"}},
	} {
		t.Run(about, func(t *testing.T) {
			prices := sabir.NewService("prices", sabir.Version(2))
			sabir.Handle(prices, "get", func(_ context.Context, in byID) (int, error) { return 1, nil })
			_, base := start(t, []*sabir.Service{orders(), prices}, mcp.At("/mcp", test.options))
			for _, revision := range revisions {
				session := connect(t, base+"/mcp", revision, nil)
				if got := slices.Sorted(maps.Keys(toolsOf(t, session))); !slices.Equal(got, test.want) {
					t.Errorf("%s: %q, want %q", revision, got, test.want)
				}
			}
		})
	}
}

func TestAToolThatIsNotNamedCannotBeCalled(t *testing.T) {
	_, base := start(t, []*sabir.Service{orders()}, mcp.At("/mcp", mcp.Config{Tools: []string{"orders.get"}}))
	for _, revision := range revisions {
		session := connect(t, base+"/mcp", revision, nil)
		for _, name := range []string{"orders_list", "orders.get", "orders_secret", "$node_info", ""} {
			if result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name}); err == nil {
				t.Errorf("%s: %q answers %+v", revision, name, result)
			}
		}
	}
}

// The golden file shows what clients get of the actions of orders_test.go.
func TestToolsHaveTheNamesTheSchemasAndTheHintsOfTheirActions(t *testing.T) {
	body, header := alone("tools/list", "")
	result := send(t, "POST", startOrders(t, mcp.Config{}), body, header...).message(t)["result"].(map[string]any)
	got, err := json.MarshalIndent(result["tools"], "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/tools.json"
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got)+"\n" != string(want) {
		t.Errorf("tools/list is not as in %s any more (go test -run %s -update ./mcp):\n%s", file, t.Name(), got)
	}
}

// OpenAI refuses an object without them, and smolagents the whole list of tools.
func TestTheSchemaOfAToolWithoutInputHasMembers(t *testing.T) {
	list := toolsOf(t, connect(t, startOrders(t, mcp.Config{}), withSessions, nil))["orders_list"]
	if in := list.InputSchema.(map[string]any); !reflect.DeepEqual(in["properties"], map[string]any{}) {
		t.Errorf("the input of orders_list is %v", in)
	}
}

// Semantic Kernel and AutoGen refuse the whole list of tools over a list of types, and over an alternative without a type.
func TestWhatMayBeNullOrHasAlternativesIsAnAnyOfWithOneTypeEach(t *testing.T) {
	type wish struct {
		Note  *string   `json:"note" validate:"omitempty,max=9" doc:"what to say"`
		Color *string   `json:"color" validate:"omitempty,oneof=red green"`
		Words []*string `json:"words"`
		Mail  string    `json:"mail" validate:"omitempty,email"`
		Links []string  `json:"links" validate:"dive,email|url"`
	}
	s := sabir.NewService("wishes")
	sabir.Handle(s, "make", func(_ context.Context, in wish) (wish, error) { return in, nil })
	_, base := start(t, []*sabir.Service{s}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	in := toolsOf(t, connect(t, base+"/mcp", withSessions, nil))["wishes_make"].InputSchema.(map[string]any)
	for name, want := range map[string]string{
		"note":  `{"anyOf":[{"maxLength":9,"type":"string"},{"type":"null"}],"description":"what to say"}`,
		"color": `{"anyOf":[{"enum":["red","green"],"type":"string"},{"type":"null"}]}`,
		"words": `{"items":{"anyOf":[{"type":"string"},{"type":"null"}]},"type":"array"}`,
		"mail":  `{"anyOf":[{"const":"","type":"string"},{"format":"email","type":"string"}]}`,
		"links": `{"items":{"anyOf":[{"format":"email","type":"string"},{"format":"uri","type":"string"}]},"type":"array"}`,
	} {
		if got := mustJSON(t, in["properties"].(map[string]any)[name]); got != want {
			t.Errorf("%s is\n%s, want\n%s", name, got, want)
		}
	}
}

// Today's clients of the SDK for TypeScript refuse the whole list of tools over one schema that is true or false.
func TestNoSchemaOfAToolIsABoolean(t *testing.T) {
	var look func(path string, v any, schema bool)
	look = func(path string, v any, schema bool) {
		switch v := v.(type) {
		case bool:
			if schema {
				t.Errorf("%s is %v", path, v)
			}
		case map[string]any:
			for name, inner := range v {
				children := name == "properties" || name == "$defs"
				isSchema := slices.Contains([]string{"items", "additionalProperties", "propertyNames", "not", "inputSchema", "outputSchema"}, name)
				if members, ok := inner.(map[string]any); ok && children {
					for member, s := range members {
						look(path+"/"+name+"/"+member, s, true)
					}
					continue
				}
				look(path+"/"+name, inner, isSchema)
			}
		case []any:
			for _, inner := range v {
				look(path, inner, false)
			}
		}
	}
	for name, tool := range toolsOf(t, connect(t, startOrders(t, mcp.Config{}), withSessions, nil)) {
		var text any
		if err := json.Unmarshal([]byte(mustJSON(t, tool)), &text); err != nil {
			t.Fatal(err)
		}
		look(name, text, false)
	}
}

// Validators refuse or warn of a format that JSON Schema does not have; OpenAPI has some for numbers.
func TestFormatsOfSchemasAreThoseOfJSONSchema(t *testing.T) {
	type numbers struct {
		Whole int       `json:"whole"`
		Least uint8     `json:"least"`
		Float float32   `json:"float"`
		At    time.Time `json:"at"`
	}
	s := sabir.NewService("numbers")
	sabir.Handle(s, "get", func(_ context.Context, in numbers) (numbers, error) { return in, nil })
	_, base := start(t, []*sabir.Service{s}, mcp.At("/mcp", mcp.Config{Tools: []string{"numbers.*"}}))
	tool := toolsOf(t, connect(t, base+"/mcp", revisions[0], nil))["numbers_get"]
	text, err := json.Marshal([]any{tool.InputSchema, tool.OutputSchema})
	if err != nil {
		t.Fatal(err)
	}
	formats := regexp.MustCompile(`"format":"([^"]*)"`).FindAllStringSubmatch(string(text), -1)
	if len(formats) != 2 || formats[0][1] != "date-time" || formats[1][1] != "date-time" {
		t.Errorf("the formats are %q, want the two of the time: %s", formats, text)
	}
}

func TestStructuredContentFitsTheOutputSchemaAndTheTextRepeatsIt(t *testing.T) {
	for _, revision := range revisions {
		session := connect(t, startOrders(t, mcp.Config{}), revision, nil)
		tools := toolsOf(t, session)
		for name, test := range map[string]struct{ arguments, want string }{
			"orders_get":    {`{"id":"o-1"}`, `{"id":"o-1","items":[{"sku":"apple","count":2}]}`},
			"orders_list":   {`{}`, `{"result":[{"id":"o-1"},{"id":"o-2"}]}`},
			"orders_create": {`{"id":"o-7","notes":{"a":"b"},"extra":[1,null,"x"],"next":{"id":"o-8"}}`, `{"id":"o-7","notes":{"a":"b"},"extra":[1,null,"x"],"next":{"id":"o-8"}}`},
			"orders_count":  {`{"input":["a","b"]}`, `{"result":2}`},
			"orders_echo":   {`{"input":{"deep":[true]}}`, `{"result":{"deep":[true]}}`},
		} {
			result, texts := callTool(t, session, name, json.RawMessage(test.arguments))
			if result.IsError || len(texts) != 1 || texts[0] != test.want {
				t.Errorf("%s: %q, want %q", name, texts, test.want)
				continue
			}
			var got, want any
			if json.Unmarshal([]byte(mustJSON(t, result.StructuredContent)), &got) != nil || json.Unmarshal([]byte(test.want), &want) != nil || mustJSON(t, got) != mustJSON(t, want) {
				t.Errorf("%s: structured %v, want %s", name, result.StructuredContent, test.want)
			}
			var schema jsonschema.Schema
			if err := json.Unmarshal([]byte(mustJSON(t, tools[name].OutputSchema)), &schema); err != nil {
				t.Fatal(err)
			}
			resolved, err := schema.Resolve(nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := resolved.Validate(got); err != nil {
				t.Errorf("%s: the answer does not fit its schema: %v", name, err)
			}
		}
	}
}

// The SDKs for TypeScript and Python fail where an answer has no structured content, or one that does not fit, unless it is an error.
func TestAnAnswerOfANilPointerIsAnErrorForTheModel(t *testing.T) {
	s := sabir.NewService("orders")
	sabir.Handle(s, "find", func(context.Context, sabir.Empty) (*order, error) { return nil, nil })
	sabir.Handle(s, "total", func(context.Context, sabir.Empty) (*int, error) { return nil, nil })
	sabir.Handle(s, "any", func(context.Context, sabir.Empty) (any, error) { return nil, nil })
	_, base := start(t, []*sabir.Service{s}, mcp.At("/mcp", mcp.Config{Tools: []string{"orders.*"}}))
	session := connect(t, base+"/mcp", revisions[0], nil)
	for _, action := range []string{"find", "total"} {
		result, texts := callTool(t, session, "orders_"+action, json.RawMessage(`{}`))
		if !result.IsError || texts[0] != "orders."+action+" is done and has answered nothing: null" {
			t.Errorf("%s: %q, an error: %t", action, texts, result.IsError)
		}
	}
	if result, texts := callTool(t, session, "orders_any", json.RawMessage(`{}`)); result.IsError || texts[0] != `{"result":null}` {
		t.Errorf("any value: %q, an error: %t", texts, result.IsError)
	}
}

// Rules hold for what comes in. Clients that check answers, as Python's SDK does, refuse one that breaks a rule in the output's schema.
func TestAnAnswerThatBreaksTheRulesOfItsTypeFitsTheOutputSchema(t *testing.T) {
	type user struct {
		Name  string            `json:"name" validate:"required,max=2"`
		Age   int               `json:"age" validate:"min=18,max=99"`
		Kind  string            `json:"kind" validate:"oneof=a b"`
		Mail  string            `json:"mail" validate:"email"`
		Tags  []string          `json:"tags" validate:"min=1,unique,dive,min=3"`
		Notes map[string]string `json:"notes" validate:"min=1,dive,keys,max=1,endkeys,required"`
	}
	s := sabir.NewService("users")
	answer := user{Name: "Ada", Age: 1, Kind: "c", Tags: []string{"x", "x"}, Notes: map[string]string{"long": ""}}
	sabir.Handle(s, "get", func(context.Context, sabir.Empty) (user, error) { return answer, nil })
	sabir.Handle(s, "list", func(context.Context, sabir.Empty) ([]user, error) { return []user{answer}, nil })
	sabir.HandleStream(s, "all", func(_ context.Context, s *sabir.Stream[sabir.Empty, user]) error { return s.Send(answer) })
	sabir.Handle(s, "put", func(context.Context, user) (sabir.Empty, error) { return sabir.Empty{}, nil })
	_, base := start(t, []*sabir.Service{s}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	session := connect(t, base+"/mcp", withSessions, nil)
	tools := toolsOf(t, session)
	for _, name := range []string{"users_get", "users_list", "users_all"} {
		result, _ := callTool(t, session, name, map[string]any{})
		var got any
		var schema jsonschema.Schema
		if json.Unmarshal([]byte(mustJSON(t, result.StructuredContent)), &got) != nil || json.Unmarshal([]byte(mustJSON(t, tools[name].OutputSchema)), &schema) != nil {
			t.Fatalf("%s: no JSON", name)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := resolved.Validate(got); err != nil || got == nil {
			t.Errorf("%s: the answer does not fit its schema: %v", name, err)
		}
	}
	if in := mustJSON(t, tools["users_put"].InputSchema); !strings.Contains(in, `"maximum":99`) || !strings.Contains(in, `"enum":["a","b"]`) {
		t.Errorf("the input has lost its rules: %s", in)
	}
}

func TestAnActionWithoutOutputAnswersThatItIsDone(t *testing.T) {
	result, texts := callTool(t, connect(t, startOrders(t, mcp.Config{}), withSessions, nil), "orders_remove", map[string]any{"id": "o-1"})
	if result.IsError || result.StructuredContent != nil || !slices.Equal(texts, []string{"done"}) {
		t.Errorf("%q %v", texts, result.StructuredContent)
	}
}

func TestErrorsAreResultsWithTheMessageForTheModel(t *testing.T) {
	for _, revision := range revisions {
		session := connect(t, startOrders(t, mcp.Config{}), revision, nil)
		for name, test := range map[string]struct {
			arguments any
			want      []string // parts of the texts
		}{
			"orders_buy":    {nil, []string{"there are only 3 left", `"error":"OutOfStock","code":"FailedPrecondition","retryable":false,"data":{"left":3}`}},
			"orders_get":    {map[string]any{"id": "o-9"}, []string{"the input of orders.get is not valid: id: ", `"error":"ValidationFailed"`}},
			"orders_create": {map[string]any{"id": 7}, []string{"/id", `"error":"BadInput"`}},
			"orders_count":  {map[string]any{"words": 1}, []string{`lack the member "input"`, `"error":"BadInput"`}},
			"orders_panic":  {nil, []string{"internal error", `"error":"Panic"`}},
			"orders_fail":   {nil, []string{"internal error", `"error":"HandlerFailed"`}},
		} {
			result, texts := callTool(t, session, name, test.arguments)
			if !result.IsError || len(texts) != 2 || !strings.Contains(texts[0], test.want[0]) || !strings.Contains(texts[1], test.want[1]) {
				t.Errorf("%s: %s: %q, want %q", revision, name, texts, test.want)
			}
			for _, text := range texts {
				if strings.Contains(text, "hunter2") || strings.Contains(text, "unexpected EOF") || strings.Contains(text, ".go:") {
					t.Errorf("%s: %s shows what is not for callers: %s", revision, name, text)
				}
			}
		}
	}
}

func TestListsComeInPages(t *testing.T) {
	for _, revision := range revisions {
		session := connect(t, startOrders(t, mcp.Config{PageSize: 3}), revision, nil)
		first, err := session.ListTools(t.Context(), nil)
		if err != nil || len(first.Tools) != 3 || first.NextCursor == "" {
			t.Fatalf("%s: %d tools, cursor %q, %v", revision, len(first.Tools), first.NextCursor, err)
		}
		if all := toolsOf(t, session); len(all) != 9 {
			t.Errorf("%s: %d tools", revision, len(all))
		}
		if _, err := session.ListTools(t.Context(), &sdk.ListToolsParams{Cursor: "no such"}); err == nil {
			t.Errorf("%s: a cursor that was not given", revision)
		}
	}
}

func TestTwoActionsWithOneNameAsToolsAreTheFirstOfThem(t *testing.T) {
	a, b := sabir.NewService("a"), sabir.NewService("a_b")
	sabir.Handle(a, "b_c", func(context.Context, sabir.Empty) (string, error) { return "a.b_c", nil })
	sabir.Handle(b, "c", func(context.Context, sabir.Empty) (string, error) { return "a_b.c", nil })
	_, base := start(t, []*sabir.Service{a, b}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	session := connect(t, base+"/mcp", withSessions, nil)
	if _, texts := callTool(t, session, "a_b_c", nil); texts[0] != `{"result":"a.b_c"}` {
		t.Errorf("%q", texts)
	}
}

func TestMistakesInTheOptionsAreErrorsOfTheStart(t *testing.T) {
	for want, c := range map[string]mcp.Config{
		"Tools and Resources: ":                  {Tools: []string{"or ders"}},
		"PageSize -1":                            {PageSize: -1},
		"MaxSessions -1":                         {MaxSessions: -1},
		`OAuthResource "/mcp"`:                   {OAuthResource: "/mcp", OAuthServers: []string{"https://login.example"}},
		`OAuthScopes "read write"`:               {OAuthResource: "https://api.example/mcp", OAuthServers: []string{"https://login.example"}, OAuthScopes: []string{"read write"}},
		"name at least one authorization server": {OAuthResource: "https://api.example/mcp", OAuthServers: []string{}},
	} {
		node := sabir.NewNode(sabir.Serve(orders()), sabir.HTTP(":0", mcp.At("/mcp", c)))
		err := node.Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		stop(t, node)
	}
}

// The client of the TypeScript SDK 1.22 drops what schemas have beside the members of their root, and then refuses the whole list over a
// reference to it. Several vendors of models resolve no references.
func TestATypeStandsInTheSchemaWhereItIsUsed(t *testing.T) {
	type leaf struct {
		Name string `json:"name" validate:"max=5"`
	}
	type tree struct {
		A, B  leaf
		Nodes []*tree `json:"nodes,omitempty"`
		Any   *any    `json:"any/~,omitempty"`
	}
	type pair struct {
		Left  *tree           `json:"le/ft,omitempty"`
		Leafs map[string]leaf `json:"leafs"`
	}
	s := sabir.NewService("trees")
	sabir.Handle(s, "pair", func(_ context.Context, in pair) (pair, error) { return in, nil })
	sabir.Handle(s, "tree", func(_ context.Context, in tree) (tree, error) { return in, nil })
	sabir.Handle(s, "list", func(_ context.Context, in []leaf) ([]tree, error) { return nil, nil })
	sabir.HandleStream(s, "watch", func(_ context.Context, st *sabir.Stream[leaf, tree]) error { return nil }, sabir.ServerStream())
	_, base := start(t, []*sabir.Service{s}, mcp.At("/mcp", mcp.Config{Tools: []string{"trees.*"}}))
	tools := toolsOf(t, connect(t, base+"/mcp", withSessions, nil))
	refs := regexp.MustCompile(`"\$ref":"([^"]*)"`)
	for name, want := range map[string][2][]string{
		"trees_pair":  {{"#/$defs/TreeInput", "#/$defs/TreeInput"}, {"#/properties/le~1ft"}},
		"trees_tree":  {{"#/$defs/TreeInput", "#/$defs/TreeInput"}, {"#"}},
		"trees_list":  {nil, {"#/properties/result/items"}},
		"trees_watch": {nil, {"#/properties/values/items"}},
	} {
		for i, s := range []any{tools[name].InputSchema, tools[name].OutputSchema} {
			text := mustJSON(t, s)
			var got []string
			for _, found := range refs.FindAllStringSubmatch(text, -1) {
				got = append(got, found[1])
			}
			if !slices.Equal(got, want[i]) || (i == 1 || want[i] == nil) && strings.Contains(text, "$defs") {
				t.Errorf("%s: the references are %q: %s", name, got, text)
			}
			var parsed jsonschema.Schema
			if err := json.Unmarshal([]byte(text), &parsed); err != nil {
				t.Fatal(err)
			}
			if _, err := parsed.Resolve(nil); err != nil {
				t.Errorf("%s: %v: %s", name, err, text)
			}
		}
	}
}

// Each of these types has the one below it four times: written out, the schema would have a million of the last.
func TestASchemaWhoseTypesDoubleStaysSmall(t *testing.T) {
	brokers.Long(t)
	s := sabir.NewService("wide")
	sabir.Handle(s, "get", func(_ context.Context, in doubled[doubled[doubled[doubled[doubled[doubled[doubled[doubled[doubled[doubled[item]]]]]]]]]]) (sabir.Empty, error) {
		return sabir.Empty{}, nil
	})
	_, base := start(t, []*sabir.Service{s}, mcp.At("/mcp", mcp.Config{Tools: []string{"wide.*"}}))
	tool := toolsOf(t, connect(t, base+"/mcp", withSessions, nil))["wide_get"]
	if text := mustJSON(t, tool.InputSchema); len(text) > 64<<10 {
		t.Errorf("the schema has %d bytes", len(text))
	}
}

type doubled[T any] struct{ A, B, C, D T }
