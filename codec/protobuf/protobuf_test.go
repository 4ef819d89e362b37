package protobuf_test

import (
	"errors"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/protobuf"
)

func lookup(t testing.TB) codec.Codec {
	c, ok := codec.Lookup(protobuf.Name)
	if !ok {
		t.Fatal("the codec is not registered")
	}
	return c
}

func TestAMessageComesBack(t *testing.T) {
	c := lookup(t)
	sent := wrapperspb.String("Ada")
	for name, v := range map[string]any{"a message": sent, "a variable that holds one": &sent} {
		data, err := c.Append([]byte("before"), v)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got *wrapperspb.StringValue
		if err := c.Decode(data[len("before"):], &got); err != nil || !proto.Equal(got, sent) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
		into := wrapperspb.String("Bob")
		if err := c.Decode(data[len("before"):], into); err != nil || !proto.Equal(into, sent) {
			t.Errorf("%s, into a message: got %v, %v", name, into, err)
		}
	}
}

func TestWhatIsNoMessageIsRefused(t *testing.T) {
	c := lookup(t)
	number := 7
	for _, v := range []any{7, &number, nil, "text", struct{}{}} {
		if out, err := c.Append([]byte("x"), v); err == nil || string(out) != "x" {
			t.Errorf("Append(%T): %q, %v", v, out, err)
		}
		if err := c.Decode(nil, v); err == nil {
			t.Errorf("Decode into %T: no error", v)
		}
	}
}

func TestBrokenBytesAreACodecError(t *testing.T) {
	var got *wrapperspb.StringValue
	err := lookup(t).Decode([]byte{0xff, 0xff, 0xff}, &got)
	if e, ok := errors.AsType[*codec.Error](err); !ok || e.Codec != protobuf.Name {
		t.Errorf("got %v", err)
	}
}

func TestMessagesAreClaimedAndNothingElse(t *testing.T) {
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[*wrapperspb.StringValue](): protobuf.Name,
		reflect.TypeFor[wrapperspb.StringValue]():  "",
		reflect.TypeFor[*int]():                    "",
		reflect.TypeFor[string]():                  "",
		reflect.TypeFor[any]():                     "",
	} {
		if got := codec.Claimed(typ); got != want {
			t.Errorf("%v is claimed by %q, want %q", typ, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	c := lookup(f)
	f.Add([]byte{0x0a, 3, 'A', 'd', 'a'})
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, data []byte) {
		var m *wrapperspb.StringValue
		if c.Decode(data, &m) == nil {
			if _, err := c.Append(nil, m); err != nil {
				t.Errorf("decoded %x but cannot encode it: %v", data, err)
			}
		}
	})
}
