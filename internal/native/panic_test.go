package native_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/native"
)

// explosive panics where its text demands it.
type explosive string

func (e explosive) explode(when explosive) {
	if e == when {
		panic("the password is swordfish")
	}
}

func (e explosive) MarshalText() ([]byte, error) { e.explode("written"); return []byte(e), nil }
func (e *explosive) UnmarshalText(text []byte) error {
	explosive(text).explode("read")
	*e = explosive(text)
	return nil
}

type charged struct {
	Number int
	In     explosive
	Large  []byte
}

// The versions of charged that another program may have: one field less, one field more.
type smaller struct{ In explosive }

type larger struct {
	Number int
	In     explosive
	Large  []byte
	More   []string
}

func TestAPanicIsTheErrorAtEachEntry(t *testing.T) {
	of := native.For[charged]()
	good := charged{Number: 1, In: "good", Large: bytes.Repeat([]byte("x"), 100)}
	bad := good
	bad.In = "read"
	data, err := of.Append(nil, &bad)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := native.For[larger]().From(of.Schema())
	if err != nil {
		t.Fatal(err)
	}
	less, err := native.For[smaller]().From(of.Schema())
	if err != nil {
		t.Fatal(err)
	}
	message, err := native.Append(nil, &bad)
	if err != nil {
		t.Fatal(err)
	}
	unwritable := good
	unwritable.In = "written"
	appended := func(out []byte, err error) error {
		if string(out) != "kept" {
			t.Errorf("dst became %q", out)
		}
		return err
	}
	var owned charged
	for name, entry := range map[string]func() error{
		"Type.Append":        func() error { return appended(of.Append([]byte("kept"), &unwritable)) },
		"Append":             func() error { return appended(native.Append([]byte("kept"), &unwritable)) },
		"Append of a value":  func() error { return appended(native.Append([]byte("kept"), unwritable)) },
		"Append of a list":   func() error { return appended(native.Append([]byte("kept"), []charged{good, unwritable})) },
		"Append of a key":    func() error { return appended(native.Append([]byte("kept"), map[explosive]int{"written": 1})) },
		"Append of a scalar": func() error { return appended(native.Append([]byte("kept"), explosive("written"))) },
		"Type.Decode":        func() error { return of.Decode(data, new(charged)) },
		"Type.DecodeAlias":   func() error { return of.DecodeAlias(data, new(charged)) },
		"Type.DecodeOwned": func() error {
			shared, err := of.DecodeOwned(data, &owned)
			if shared != (owned.Large != nil) {
				t.Errorf("shared is %v for %q", shared, owned.Large)
			}
			return err
		},
		"Decode":                               func() error { return native.Decode(message, new(charged)) },
		"Type.Decode of a smaller type's data": func() error { return foreign.Decode(data, new(larger)) },
		"Type.Decode into a smaller type":      func() error { return less.Decode(data, new(smaller)) },
	} {
		err := entry()
		p, ok := errors.AsType[*codec.PanicError](err)
		if !ok || p.Codec != native.Name || !strings.Contains(string(p.Stack), "explode") || strings.Contains(err.Error(), "swordfish") {
			t.Errorf("%s: got %v", name, err)
		}
		var back charged
		again, err := of.Append(nil, &good)
		if err == nil {
			err = of.Decode(again, &back)
		}
		if err != nil || back.In != good.In {
			t.Errorf("after %s: %+v, %v", name, back, err)
		}
	}
}
