package exchange

import (
	"context"
	"crypto/tls"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

func TestResetLeavesOnlyWhatIsOfTheConnection(t *testing.T) {
	var x Exchange
	v := reflect.ValueOf(&x).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("text")
		case reflect.Int, reflect.Int64:
			f.SetInt(1)
		case reflect.Bool:
			f.SetBool(true)
		}
	}
	x.Header.Add("A", "b")
	x.Answer.Add("C", "d")
	x.Route, x.Principal, x.Body, x.Params, x.Out = 1, 1, []byte("b"), []string{"p"}, []byte("o")
	x.Context, x.Remote, x.TLS = context.Background(), netip.MustParseAddrPort("127.0.0.1:1"), new(tls.ConnectionState)

	x.Reset()
	kept := map[string]bool{"Context": true, "Remote": true, "TLS": true, "idRoom": true}
	for i := range v.NumField() {
		name, f := v.Type().Field(i).Name, v.Field(i)
		switch {
		case kept[name]:
		case name == "Header", name == "Answer":
			if h := f.Addr().Interface().(*Header); len(h.Fields()) > 0 || h.Has("A") || h.Has("C") {
				t.Errorf("%s has %v", name, h.Fields())
			}
		case f.Kind() == reflect.Slice:
			if f.Len() > 0 {
				t.Errorf("%s is %v", name, f)
			}
		case !f.IsZero():
			t.Errorf("%s is %v", name, f)
		}
	}
	if x.Context == nil || !x.Remote.IsValid() || x.TLS == nil {
		t.Error("what is of the connection went, too")
	}
}

func TestKeptValuesStayWhenTheBufferIsReused(t *testing.T) {
	buffer := []byte("/items/7 page=2 localhost X-Tenant acme 7")
	part := func(s string) string {
		at := strings.Index(string(buffer), s)
		return unsafe.String(&buffer[at], len(s))
	}
	lent := func() *Exchange {
		x := &Exchange{Method: "GET", Path: part("/items/7"), Query: part("page=2"), Host: part("localhost"), Params: []string{part("7"), ""}, Borrowed: true}
		x.Header.Add(part("X-Tenant"), part("acme"))
		x.Header.Add("Empty", "")
		return x
	}
	x, left := lent(), lent()
	x.MakeID(func(dst []byte) []byte { return append(dst, "made"...) })
	x.Keep()
	path, id := x.Path, x.ID
	clear(buffer)
	x.MakeID(func(dst []byte) []byte { return append(dst, "other"...) })
	if path != "/items/7" || id != "made" || x.Query != "page=2" || x.Host != "localhost" || x.Params[0] != "7" || x.Params[1] != "" ||
		x.Header.Get("X-Tenant") != "acme" || !x.Header.Has("Empty") {
		t.Errorf("%q %q %+v", path, id, x)
	}
	if left.Path == "/items/7" {
		t.Error("the buffer was not written again: this test shows nothing")
	}
}

func TestKeepTakesMemoryOnceAndOnlyFromWhatIsLent(t *testing.T) {
	x := Exchange{Path: "/a", Borrowed: true}
	if n := testing.AllocsPerRun(10, func() { x.Borrowed = true; x.Keep() }); n != 1 {
		t.Errorf("%v allocations", n)
	}
	if n := testing.AllocsPerRun(10, func() { x.Keep() }); n != 0 {
		t.Errorf("%v allocations of what is not lent", n)
	}
}

func TestAnIDIsMadeInTheExchangesOwnBuffer(t *testing.T) {
	var x Exchange
	const id = "0b5a2f5e-5a0e-4c1e-9a3b-3a1e5f0c7d21"
	if n := testing.AllocsPerRun(10, func() { x.MakeID(func(dst []byte) []byte { return append(dst, id...) }) }); n != 0 || x.ID != id || !x.Borrowed {
		t.Errorf("%v allocations, %q, lent %v", n, x.ID, x.Borrowed)
	}
	if x.MakeID(func(dst []byte) []byte { return append(dst, strings.Repeat(id, 2)...) }); x.ID != id+id {
		t.Errorf("a long one: %q", x.ID)
	}
}
