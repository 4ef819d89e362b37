package codec_test

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/claim"
)

// faulty is a third-party codec that does not contain the panics of its values.
type faulty struct {
	named
	do func()
}

func (f faulty) Append([]byte, any) ([]byte, error) { f.do(); return nil, nil }
func (f faulty) Decode([]byte, any) error           { f.do(); return nil }

// claiming is one that claims a type.
type claiming struct {
	faulty
	typ reflect.Type
}

func (c claiming) Claims(t reflect.Type) bool { return t == c.typ }

func TestARegisteredCodecDoesNotPanic(t *testing.T) {
	name := fresh("faulty")
	codec.Register(faulty{name, func() { panic(errors.New("the password is swordfish")) }})
	c, _ := codec.Lookup(string(name))
	out, err := c.Append([]byte("kept"), 1)
	if string(out) != "kept" {
		t.Errorf("dst became %q", out)
	}
	for what, err := range map[string]error{"Append": err, "Decode": c.Decode(nil, new(int))} {
		p, ok := errors.AsType[*codec.PanicError](err)
		if !ok || p.Codec != string(name) || !strings.Contains(string(p.Stack), "TestARegisteredCodecDoesNotPanic") {
			t.Errorf("%s: got %#v", what, err)
		}
		if strings.Contains(err.Error(), "swordfish") || errors.Unwrap(err) != nil {
			t.Errorf("%s: the error tells what the panic said: %v", what, err)
		}
		if !strings.Contains(p.Detail(), "swordfish") {
			t.Errorf("%s: the detail for the log does not: %s", what, p.Detail())
		}
	}
}

func TestAMethodThatEndsItsGoroutineEndsOnlyThat(t *testing.T) {
	c := codec.Contained(faulty{fresh("exiting"), runtime.Goexit})
	done, returned := make(chan struct{}), false
	go func() {
		defer close(done)
		_ = c.Decode(nil, new(int))
		returned = true
	}()
	<-done
	if returned {
		t.Error("the goroutine went on")
	}
}

func TestAContainedCodecClaimsWhatItClaimed(t *testing.T) {
	name := fresh("claiming")
	own := reflect.ArrayOf(int(runs.Add(1)), reflect.TypeFor[claiming]()) // which no other codec claims
	codec.Register(&claiming{faulty{name, func() {}}, own})
	if got := claim.Codec(own); got != string(name) {
		t.Errorf("the type is claimed by %q", got)
	}
	c, _ := codec.Lookup(string(name))
	if _, ok := c.(interface{ Claims(reflect.Type) bool }); !ok {
		t.Errorf("a %T claims nothing", c)
	}
	if plain, _ := codec.Lookup(string(name)); codec.Contained(plain) != plain {
		t.Error("it was contained twice")
	}
	if _, ok := codec.Contained(fresh("plain")).(interface{ Claims(reflect.Type) bool }); ok {
		t.Error("a codec that claims nothing got the method")
	}
}
