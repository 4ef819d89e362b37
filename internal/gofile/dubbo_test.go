package gofile

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/javaclass"
)

func depotClasses(t testing.TB) javaclass.Classes {
	t.Helper()
	classes := make(javaclass.Classes)
	if err := classes.ReadJar("../javaclass/testdata/depot.jar"); err != nil {
		t.Fatal(err)
	}
	return classes
}

// depotService is the interface of the jar.
var depotService = []DubboInterface{{Name: "com.depot.api.DepotService", Service: "depot", Version: "1.0.0"}}

// The golden file is compiled, and calls Java, in the tests of cmd/sabir.
func TestAnInterfaceOfDubboIsAPackage(t *testing.T) {
	want, err := os.ReadFile("../../cmd/sabir/testdata/depot/depot.go")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	actions, notes, err := WriteDubbo(&out, depotClasses(t), depotService, "depot")
	if err != nil || actions != 13 || len(notes) != 5 || out.String() != string(want) {
		t.Errorf("%d actions, %q, %v:\n%s", actions, notes, err, out.String())
	}
}

// class is a class with fields, for what the jar does not have.
func class(name string, fields ...javaclass.Field) *javaclass.Class {
	return &javaclass.Class{Name: name, Fields: fields, Interfaces: []javaclass.Type{{Name: "java.io.Serializable"}}}
}

// written is the package of an interface with one method that takes and gives the type, with its notes.
func written(t *testing.T, of javaclass.Type, classes ...*javaclass.Class) (text string, notes []string) {
	t.Helper()
	all := make(javaclass.Classes)
	for _, c := range classes {
		all[c.Name] = c
	}
	all["com.shop.Shop"] = &javaclass.Class{Name: "com.shop.Shop", Interface: true, Methods: []javaclass.Method{{Name: "sell", In: []javaclass.Type{of, of}, Erased: []string{of.String(), of.String()}, Out: of}}}
	var out bytes.Buffer
	if _, n, err := WriteDubbo(&out, all, []DubboInterface{{Name: "com.shop.Shop", Service: "shop"}}, ""); err != nil {
		t.Fatal(err)
	} else {
		notes = n
	}
	return out.String(), notes
}

func TestWhatGoCannotSayOfJavaIsANote(t *testing.T) {
	list := func(of string) javaclass.Type {
		return javaclass.Type{Name: "java.util.List", Of: []javaclass.Type{{Name: of}}}
	}
	for name, c := range map[string]struct {
		of         javaclass.Type
		classes    []*javaclass.Class
		text, note string
	}{
		"a class that is missing": {javaclass.Type{Name: "com.shop.Gone"}, nil, "Arg1 any ", "com.shop.Gone is any, since it was not in what was read"},
		"a class without Serializable": {javaclass.Type{Name: "com.shop.Plain"}, []*javaclass.Class{{Name: "com.shop.Plain"}}, "Arg1 *Plain ",
			"com.shop.Plain is not Serializable"},
		"a list of shorts":  {list("java.lang.Short"), nil, "Arg1 []int16 ", "Java gets an Integer, Double or String for each java.lang.Short"},
		"an array of boxes": {javaclass.Type{Name: "java.lang.Integer", Arrays: 1}, nil, "Arg1 []int32 ", "a null number, boolean or time is the zero value"},
		"a list of sets": {javaclass.Type{Name: "java.util.List", Of: []javaclass.Type{{Name: "java.util.Set", Of: []javaclass.Type{{Name: "java.lang.Integer"}}}}}, nil, "Arg1 [][]int32 ",
			"Java gets an ArrayList or HashMap for each Set<Integer>"},
		"a map of arrays": {javaclass.Type{Name: "java.util.Map", Of: []javaclass.Type{{Name: "java.lang.String"}, {Name: "int", Arrays: 1}}}, nil, "Arg1 map[string][]int32 ",
			"Java gets an ArrayList or HashMap for each int[]"},
		"a map of any keys": {javaclass.Type{Name: "java.util.Map"}, nil, "Arg1 map[string]any ", "has texts as keys here"},
		"a list of a class": {javaclass.Type{Name: "com.shop.Many"}, []*javaclass.Class{{Name: "com.shop.Many", Super: javaclass.Type{Name: "java.util.ArrayList"}}}, "Arg1 any ",
			"com.shop.Many is any, since it extends a class of java.util"},
		"a map of objects": {javaclass.Type{Name: "java.util.Map", Of: []javaclass.Type{{Name: "com.shop.Key"}, {Name: "java.lang.Long"}}}, []*javaclass.Class{class("com.shop.Key")},
			"Arg1 *hessian.Map ", "a map with keys of Key is a *hessian.Map"},
		"a class with others below it": {javaclass.Type{Name: "com.shop.Base"}, []*javaclass.Class{class("com.shop.Base"), {Name: "com.shop.More", Super: javaclass.Type{Name: "com.shop.Base"}}},
			"Arg1 *Base ", "only the fields of Base are kept"},
		"a class that inherits from a missing one": {javaclass.Type{Name: "com.shop.Heir"}, []*javaclass.Class{{Name: "com.shop.Heir", Super: javaclass.Type{Name: "com.shop.Gone"}}},
			"Arg1 *Heir ", "com.shop.Gone was not in what was read"},
		"characters":          {javaclass.Type{Name: "char", Arrays: 1}, nil, "Arg1 string ", ""},
		"a timestamp":         {javaclass.Type{Name: "java.sql.Timestamp"}, nil, "Arg1 *Timestamp ", ""},
		"lists of timestamps": {list("java.sql.Timestamp"), nil, `type Timestamp struct { Value time.Time ` + "`json:\"value\"` }", ""},
		"an exception":        {javaclass.Type{Name: "com.shop.Late"}, []*javaclass.Class{{Name: "com.shop.Late", Super: javaclass.Type{Name: "java.lang.Exception"}}}, "Arg1 *hessian.Exception ", ""},
	} {
		text, notes := written(t, c.of, c.classes...)
		if !strings.Contains(strings.Join(strings.Fields(text), " "), c.text) || !strings.Contains(strings.Join(notes, "\n"), c.note) {
			t.Errorf("%s: %q\n%s", name, notes, text)
		}
	}
}

func TestADefinitionOfARegistryIsAPackageWithNotes(t *testing.T) {
	data, err := os.ReadFile("../javaclass/testdata/depot.json")
	if err != nil {
		t.Fatal(err)
	}
	classes := make(javaclass.Classes)
	if _, err := classes.ReadDefinition(data); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	_, notes, err := WriteDubbo(&out, classes, depotService, "depot")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		`hessian.Register[ItemSize]("com.depot.api.Item$Size")`,
		`{Name: "take", Parameters: []string{"java.lang.String", "int"}}`,
		`{Name: "measure", Parameters: []string{"com.depot.api.Item$Size"}}`,
		"[DepotServiceSortInput, map[Kind][]int32]", "Items []any `json:\"items\"`", `KindLarge Kind = "large"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
	for _, want := range []string{"says nothing of exceptions", "the constants of com.depot.api.Kind are texts by its toString"} {
		if !strings.Contains(strings.Join(notes, "\n"), want) {
			t.Errorf("%q is without %q", notes, want)
		}
	}
}

func TestAClassThatCouldNotBeReadIsNamedWhereItIsNeeded(t *testing.T) {
	broken := func(name string) *javaclass.Class {
		return &javaclass.Class{Name: name, Fault: errors.New("it is no class file")}
	}
	text, notes := written(t, javaclass.Type{Name: "com.shop.Item"}, class("com.shop.Item", javaclass.Field{Name: "of", Type: javaclass.Type{Name: "com.shop.Broken"}}),
		broken("com.shop.Broken"), broken("com.tool.Other"))
	if all := strings.Join(notes, "\n"); !strings.Contains(text, "Of any ") || !strings.Contains(all, "com.shop.Broken is any, since it cannot be read (it is no class file)") || strings.Contains(all, "com.tool.Other") {
		t.Errorf("%q\n%s", notes, text)
	}
	if _, _, err := WriteDubbo(io.Discard, javaclass.Classes{"com.shop.Shop": broken("com.shop.Shop")}, []DubboInterface{{Name: "com.shop.Shop", Service: "shop"}}, ""); err == nil || !strings.Contains(err.Error(), "no class file") {
		t.Errorf("an interface that cannot be read: %v", err)
	}
}

func TestClassesOfOneNameHaveNamesOfTheirOwn(t *testing.T) {
	a := class("com.shop.Item", javaclass.Field{Name: "other", Type: javaclass.Type{Name: "com.stock.Item"}}, javaclass.Field{Name: "a_b", Type: javaclass.Type{Name: "int"}}, javaclass.Field{Name: "aB", Type: javaclass.Type{Name: "int"}})
	text, _ := written(t, javaclass.Type{Name: "com.shop.Item"}, a, class("com.stock.Item"))
	for _, want := range []string{"Other *Item2 ", "AB int32 `json:\"a_b\"`", "AB2 int32 `json:\"aB\"`", `hessian.Register[Item2]("com.stock.Item")`} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}

func FuzzWriteDubbo(f *testing.F) {
	classes := depotClasses(f)
	jar, err := zip.OpenReader("../javaclass/testdata/depot.jar")
	if err != nil {
		f.Fatal(err)
	}
	defer jar.Close()
	for _, file := range jar.File {
		in, err := file.Open()
		if err != nil {
			f.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if in.Close(); err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := javaclass.Parse(data)
		if err != nil {
			return
		}
		all := maps.Clone(classes)
		all[c.Name] = c
		interfaces := depotService
		if c.Interface && c.Name != interfaces[0].Name {
			interfaces = append(interfaces[:1:1], DubboInterface{Name: c.Name, Service: "other"})
		}
		if _, _, err := WriteDubbo(new(bytes.Buffer), all, interfaces, ""); err != nil && !strings.Contains(err.Error(), "inherits from") && !strings.Contains(err.Error(), "is no interface") {
			t.Error(err)
		}
	})
}

func FuzzWriteDefinition(f *testing.F) {
	data, err := os.ReadFile("../javaclass/testdata/depot.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		classes := make(javaclass.Classes)
		d, err := classes.ReadDefinition(data)
		if err != nil {
			return
		}
		if _, _, err := WriteDubbo(new(bytes.Buffer), classes, []DubboInterface{{Name: d.Interface, Service: "other", Version: d.Version, Group: d.Group}}, ""); err != nil && !strings.Contains(err.Error(), "is no interface") {
			t.Error(err)
		}
	})
}
