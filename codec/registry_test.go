package codec_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir/codec"
)

// named is a codec that has a name and nothing else.
type named string

func (n named) Name() string                             { return string(n) }
func (n named) Append(dst []byte, _ any) ([]byte, error) { return dst, nil }
func (n named) Decode([]byte, any) error                 { return nil }

var runs atomic.Int64

// fresh returns a name that no test has registered, since the registry lasts as long as the process.
func fresh(prefix string) named { return named(fmt.Sprintf("%s-%d", prefix, runs.Add(1))) }

func TestLookupFindsWhatWasRegistered(t *testing.T) {
	name := fresh("lookup")
	codec.Register(name)
	c, ok := codec.Lookup(string(name))
	if !ok || c != codec.Contained(name) || c.(interface{ Unwrap() codec.Codec }).Unwrap() != name {
		t.Errorf("got %v, %v", c, ok)
	}
}

func TestLookupOfAnUnknownNameFindsNothing(t *testing.T) {
	for _, name := range []string{"", "no-such-codec", "LOOKUP-2"} {
		if c, ok := codec.Lookup(name); ok || c != nil {
			t.Errorf("%q: got %v, %v", name, c, ok)
		}
	}
}

func TestNamesAreInAlphabeticalOrderAndTheCallersOwn(t *testing.T) {
	registered := []named{fresh("order-b"), fresh("order-c"), fresh("order-a")}
	for _, name := range registered {
		codec.Register(name)
	}
	names := codec.Names()
	if !slices.IsSorted(names) {
		t.Errorf("not in order: %v", names)
	}
	for _, name := range registered {
		if !slices.Contains(names, string(name)) {
			t.Errorf("%s is missing in %v", name, names)
		}
	}
	names[0] = "overwritten"
	if slices.Contains(codec.Names(), "overwritten") {
		t.Error("a change to the slice changed the registry")
	}
}

func TestRegisterPanicsOnAMistake(t *testing.T) {
	taken := fresh("taken")
	codec.Register(taken)
	tests := []struct {
		name  string
		codec codec.Codec
		want  string
	}{
		{"nil", nil, "codec: Register was given a nil codec"},
		{"a taken name", taken, fmt.Sprintf("codec: Register: %q is registered already", taken)},
		{"no name", named(""), `codec: Register: the name "" is not made of`},
		{"upper case", named("JSON"), `codec: Register: the name "JSON" is not made of`},
		{"a slash", named("a/b"), `codec: Register: the name "a/b" is not made of`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				got, _ := recover().(string)
				if !strings.HasPrefix(got, tt.want) {
					t.Errorf("panic %q, want %q", got, tt.want)
				}
			}()
			codec.Register(tt.codec)
		})
	}
}

// A panic must not leave the registry locked.
func TestTheRegistryWorksAfterAPanic(t *testing.T) {
	first, second := fresh("panic"), fresh("panic")
	codec.Register(first)
	func() {
		defer func() { _ = recover() }()
		codec.Register(first)
	}()
	codec.Register(second)
	if _, ok := codec.Lookup(string(second)); !ok {
		t.Errorf("%s is not registered", second)
	}
}

func TestTheRegistryIsSafeForConcurrentUse(t *testing.T) {
	var group sync.WaitGroup
	for range 20 {
		name := fresh("concurrent")
		group.Go(func() {
			codec.Register(name)
			codec.Names()
			if _, ok := codec.Lookup(string(name)); !ok {
				t.Errorf("%s is not registered", name)
			}
		})
	}
	group.Wait()
}
