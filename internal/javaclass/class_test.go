package javaclass

import (
	"archive/zip"
	"fmt"
	"io"
	"strings"
	"testing"
)

// depot is a jar of the classes in cmd/sabir/testdata/depot/java, compiled with -parameters.
const depot = "testdata/depot.jar"

func TestAJarHasTheTypesOfItsSources(t *testing.T) {
	classes := make(Classes)
	if err := classes.ReadJar(depot); err != nil {
		t.Fatal(err)
	}
	service, item, kind := classes["com.depot.api.DepotService"], classes["com.depot.api.Item"], classes["com.depot.api.Kind"]
	if len(classes) != 12 || service == nil || item == nil || kind == nil {
		t.Fatalf("%d classes", len(classes))
	}
	if got := fmt.Sprint(service.Interfaces); !service.Interface || got != "[com.depot.api.Readable]" || fmt.Sprint(service.Interfaces[0].Of) != "[com.depot.api.Item java.lang.Long]" {
		t.Errorf("the service extends %s", got)
	}
	methods := make(map[string]Method)
	for _, m := range service.Methods {
		methods[m.Name+"("+strings.Join(m.Erased, ",")+")"] = m
	}
	sort := methods["sort(java.util.Map,java.util.Map)"]
	if got := fmt.Sprintf("%v %v %v", sort.Names, sort.In[0].Of, sort.In[0].Of[1].Of); got != "[numbers names] [com.depot.api.Kind java.util.Set] [java.lang.Integer]" {
		t.Errorf("sort: %s", got)
	}
	if got := fmt.Sprint(methods["take(java.lang.String,int)"].Throws); got != "[com.depot.api.NoneLeftException]" {
		t.Errorf("take throws %s", got)
	}
	if got := methods["sums(int[],java.lang.String[])"].Out.String(); got != "long[]" || len(service.Methods) != 12 { // without the static one
		t.Errorf("sums gives %s, of %d methods", got, len(service.Methods))
	}
	if got := fmt.Sprint(kind.Constants, kind.Enum, item.Super.Of, len(item.Fields)); got != "[SMALL VERY_LARGE] true [java.lang.Long] 11" {
		t.Errorf("the enum and the item: %s", got)
	}
	if got := fmt.Sprint(classes["com.depot.api.Base"].Parameters, classes["com.depot.api.Base"].Fields); got != "[{T java.lang.Object}] [{id T} {since java.time.LocalDate}]" {
		t.Errorf("the base: %s", got)
	}
}

func TestWhatIsNoClassIsRefused(t *testing.T) {
	for name, data := range map[string]string{
		"nothing":               "",
		"text":                  "class",
		"only the start":        "\xca\xfe\xba\xbe",
		"an unknown constant":   "\xca\xfe\xba\xbe\x00\x00\x00\x3d\x00\x05\x63",
		"65,535 constants":      "\xca\xfe\xba\xbe\x00\x00\x00\x3d\xff\xff\x01\x00\x00",
		"a text that is longer": "\xca\xfe\xba\xbe\x00\x00\x00\x3d\x00\x02\x01\xff\xffx",
	} {
		if c, err := Parse([]byte(data)); err == nil {
			t.Errorf("%s is %+v", name, c)
		}
	}
}

func FuzzParse(f *testing.F) {
	jar, err := zip.OpenReader(depot)
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
		c, err := Parse(data)
		if (c == nil) != (err != nil) {
			t.Fatalf("%+v, %v", c, err)
		}
		if c == nil {
			return
		}
		if strings.ContainsAny(c.Name, "\n\"`") {
			t.Errorf("the name is %q", c.Name)
		}
		for _, m := range c.Methods {
			if len(m.In) != len(m.Erased) || m.Names != nil && len(m.Names) != len(m.In) {
				t.Errorf("%+v", m)
			}
		}
	})
}
