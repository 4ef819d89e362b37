package javaclass

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// published is the definition that Dubbo 3.3.6 publishes of the interface in depot.jar.
const published = "testdata/depot.json"

func readDefinition(t testing.TB) (Classes, Definition) {
	t.Helper()
	data, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	classes := make(Classes)
	d, err := classes.ReadDefinition(data)
	if err != nil {
		t.Fatal(err)
	}
	return classes, d
}

func TestADefinitionHasTheTypesThatItsProviderPublishes(t *testing.T) {
	classes, d := readDefinition(t)
	if want := (Definition{Interface: "com.depot.api.DepotService", Version: "1.0.0", Application: "provider"}); d != want {
		t.Errorf("it is of %+v, want %+v", d, want)
	}
	methods := make(map[string]Method)
	for _, m := range classes[d.Interface].Methods {
		methods[m.Name+"("+strings.Join(m.Erased, ",")+")"] = m
	}
	sort := methods["sort(java.util.Map,java.util.Map)"]
	if got := fmt.Sprint(len(methods), sort.In[0].Of, sort.In[0].Of[1].Of, methods["sums(int[],java.lang.String[])"].Out); got != "13 [com.depot.api.Kind java.util.Set] [java.lang.Integer] long[]" {
		t.Errorf("the methods: %s", got)
	}
	item := classes["com.depot.api.Item"]
	fields := make(map[string]string)
	for _, f := range item.Fields {
		fields[f.Name] = f.Type.String()
	}
	if got := fmt.Sprintln(len(fields), fields["size"], fields["picture"], fields["id"], item.Fields[0].Name); got != "13 com.depot.api.Item$Size byte[] java.lang.Object count\n" {
		t.Errorf("the item: %s", got)
	}
	if size, kind, shape := classes["com.depot.api.Item$Size"], classes["com.depot.api.Kind"], classes["com.depot.api.Shape"]; size == nil || !kind.Enum || fmt.Sprint(kind.Constants) != "[SMALL large]" || shape.Abstract {
		t.Errorf("%+v, %+v, %+v", size, kind, shape)
	}
	if got := classes["com.depot.api.Page"].Fields[1].Type; got.Name != "java.util.List" || got.Of[0].Name != "java.lang.Object" {
		t.Errorf("a list of a parameter is %v", got)
	}
	if len(classes) != 6 { // java.* is no class of it
		t.Errorf("%d classes", len(classes))
	}
}

func TestADefinitionOfDubbo27HasObjectsAsTypes(t *testing.T) {
	classes := make(Classes)
	d, err := classes.ReadDefinition([]byte(`{"canonicalName":"com.shop.Shop.Till","methods":[{"name":"pay","parameterTypes":["java.util.List<? extends com.shop.Note[]>"],"returnType":"void"}],
		"types":[{"type":"com.shop.Note","properties":{"worth":{"type":"long"},"of":{"$ref":"$.types[1]","type":"java.util.List<?>"}}},{"type":"com.shop.Coin","enum":["ONE"]}]}`))
	note := classes["com.shop.Note"]
	if err != nil || d.Interface != "com.shop.Shop$Till" || classes[d.Interface].Methods[0].In[0].Of[0].String() != "com.shop.Note[]" || fmt.Sprint(note.Fields) != "[{of java.util.List} {worth long}]" || !classes["com.shop.Coin"].Enum {
		t.Errorf("%+v, %v: %+v", d, err, note)
	}
}

func TestWhatIsNoDefinitionIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":               ``,
		"another document":      `{"app":"shop","revision":"1"}`,
		"a list":                `[]`,
		"a name with a comment": `{"canonicalName":"com.shop.*/"}`,
		"a method with a brace": `{"canonicalName":"com.shop.Shop","methods":[{"name":"a}","returnType":"void"}]}`,
		"no type":               `{"canonicalName":"com.shop.Shop","methods":[{"name":"a","returnType":""}]}`,
		"an open type":          `{"canonicalName":"com.shop.Shop","methods":[{"name":"a","returnType":"java.util.List<int"}]}`,
		"a deep type":           `{"canonicalName":"com.shop.Shop","methods":[{"name":"a","returnType":"` + strings.Repeat("a.A<", 100) + `"}]}`,
		"many types":            `{"canonicalName":"com.shop.Shop","types":[` + strings.Repeat(`{},`, maxTypes) + `{}]}`,
		"many bytes":            strings.Repeat(" ", MaxDefinition+1),
	} {
		if d, err := make(Classes).ReadDefinition([]byte(text)); err == nil {
			t.Errorf("%s is %+v", name, d)
		}
	}
}

func FuzzReadDefinition(f *testing.F) {
	data, err := os.ReadFile(published)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"canonicalName":"a.B","methods":[{"name":"c","parameterTypes":["a.D<? super E[],?>"],"returnType":"T"}],"types":[{"type":"a.D","properties":{"e":{"type":"int"}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		classes := make(Classes)
		d, err := classes.ReadDefinition(data)
		if err != nil {
			return
		}
		if c := classes[d.Interface]; c == nil || strings.ContainsAny(d.Interface, "\n\"`*/") {
			t.Fatalf("%+v", d)
		}
		for _, c := range classes {
			for _, m := range c.Methods {
				if len(m.In) != len(m.Erased) {
					t.Errorf("%+v", m)
				}
			}
		}
	})
}
