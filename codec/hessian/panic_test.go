package hessian_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/hessian"
)

// explosive panics where its text demands it.
type explosive string

func (e explosive) MarshalText() ([]byte, error) {
	if e == "written" {
		panic("the password is swordfish")
	}
	return []byte(e), nil
}

func (e *explosive) UnmarshalText(text []byte) error {
	if string(text) == "read" {
		panic("the password is swordfish")
	}
	*e = explosive(text)
	return nil
}

// A stream that ended inside a value is of no use, so the panic stays its error until it is reset.
func TestAPanicEndsAStreamUntilItIsReset(t *testing.T) {
	e := hessian.NewEncoder(nil)
	if err := e.Encode("first"); err != nil {
		t.Fatal(err)
	}
	before := string(e.Bytes())
	mustBePanic(t, "Encode", e.Encode([]explosive{"good", "written"}))
	mustBePanic(t, "the next Encode", e.Encode("second"))
	if string(e.Bytes()) != before {
		t.Errorf("the stream became %q", e.Bytes())
	}
	e.Reset(nil)
	if err := errors.Join(e.Encode([]explosive{"good", "read"}), e.Encode("second")); err != nil {
		t.Fatalf("after Reset: %v", err)
	}
	d := hessian.NewDecoder(e.Bytes())
	mustBePanic(t, "Decode", d.Decode(new([]explosive)))
	mustBePanic(t, "the next Decode", d.Decode(new(string)))
	mustBePanic(t, "Skip", d.Skip())
	d.Reset(e.Bytes())
	var second string
	if err := errors.Join(d.Skip(), d.Decode(&second)); err != nil || second != "second" {
		t.Errorf("after Reset: %q, %v", second, err)
	}
}

func mustBePanic(t *testing.T, what string, err error) {
	t.Helper()
	if _, ok := errors.AsType[*codec.PanicError](err); !ok || strings.Contains(err.Error(), "swordfish") {
		t.Errorf("%s: got %v", what, err)
	}
}

// errors.Is follows causes until there is none, and the peer decides what is the cause of what.
func TestDecodedCausesComeToAnEnd(t *testing.T) {
	for rings := 1; rings <= 4; rings++ {
		first := &hessian.Exception{Class: "first"}
		last := first
		for range rings - 1 {
			last.Cause = &hessian.Exception{Class: "next"}
			last = last.Cause
		}
		last.Cause = first
		data, err := hessian.Codec.Append(nil, first)
		if err != nil {
			t.Fatal(err)
		}
		var back *hessian.Exception
		if err := hessian.Codec.Decode(data, &back); err != nil {
			t.Fatal(err)
		}
		causes := 0
		for at := back; at != nil && causes <= rings; at = at.Cause {
			causes++
		}
		if causes != rings {
			t.Errorf("%d exceptions in a ring became %d", rings, causes)
		}
	}
}

func TestALongChainOfCausesIsRefused(t *testing.T) {
	e := hessian.NewEncoder(nil)
	chain := make([]*hessian.Exception, 1000)
	for i := range chain {
		chain[i] = &hessian.Exception{Class: "one"}
		if i > 0 {
			chain[i].Cause = chain[i-1]
		}
	}
	// Each is written before the one that refers to it, so that nothing nests.
	if err := e.Encode(chain); err != nil {
		t.Fatal(err)
	}
	var back []*hessian.Exception
	if err := hessian.Codec.Decode(e.Bytes(), &back); err == nil || !strings.Contains(err.Error(), "causes") {
		t.Errorf("got %v", err)
	}
}
