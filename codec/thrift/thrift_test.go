package thrift_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/thrift"
)

func Example() {
	type order struct {
		ID    string `json:"id" thrift:"1"`
		Total int64  `json:"total" thrift:"4"`
	}
	data, err := thrift.Compact.Append(nil, order{"o-1", 300})
	fmt.Printf("%x %v\n", data, err)
	var got order
	err = thrift.Compact.Decode(data, &got)
	fmt.Println(got, err)
	// Output:
	// 18036f2d3136d80400 <nil>
	// {o-1 300} <nil>
}

func TestBothProtocolsAreRegistered(t *testing.T) {
	for _, want := range []codec.Codec{thrift.Codec, thrift.Compact} {
		if got, ok := codec.Lookup(want.Name()); !ok || got != want {
			t.Errorf("%s: %v, %v", want.Name(), got, ok)
		}
	}
}

func TestBadNumbersAreRefused(t *testing.T) {
	type twice struct {
		A int `thrift:"2"`
		B int `thrift:"2"`
	}
	type zero struct {
		A int `thrift:"0"`
	}
	type large struct {
		A int `thrift:"32768"`
	}
	for want, v := range map[string]any{
		"fields A and B of thrift_test.twice both have number 2": twice{}, `"0" is no number of a field`: zero{}, `"32768" is no number`: large{},
	} {
		if _, err := thrift.Codec.Append(nil, v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: got %v, want %q", v, err, want)
		}
	}
}

func TestAnErrorSaysWhereAndWhat(t *testing.T) {
	type writer struct{ Lines []struct{ Count string } }
	type reader struct{ Lines []struct{ Count int64 } }
	v := writer{Lines: []struct{ Count string }{{"a"}}}
	data, err := thrift.Codec.Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	err = thrift.Codec.Decode(data, new(reader))
	if want := "thrift: at /Lines/0/Count: want I64, got STRING (offset 11)"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestNumbersThatDoNotFitAreRefused(t *testing.T) {
	for _, p := range protocols {
		for _, pair := range []struct{ from, into any }{
			{int64(1 << 40), new(int32)}, {int32(200), new(int8)}, {int8(-1), new(uint8)}, {int32(-1), new(uint64)}, {1e300, new(float32)},
		} {
			data, err := p.codec.Append(nil, pair.from)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.codec.Decode(data, pair.into); err == nil || !strings.Contains(err.Error(), "out of the range") {
				t.Errorf("%v into %T: %v", pair.from, pair.into, err)
			}
		}
	}
}

func TestATimeKeepsItsNanosecondsAndComesBackInUTC(t *testing.T) {
	sent := time.Date(2024, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	for _, p := range protocols {
		data, err := p.codec.Append(nil, sent)
		if err != nil {
			t.Fatal(err)
		}
		var got time.Time
		if err := p.codec.Decode(data, &got); err != nil || !got.Equal(sent) || got.Location() != time.UTC {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestNestingEndsAt128Levels(t *testing.T) {
	type chain struct{ Next *chain }
	build := func(levels int) *chain {
		var head *chain
		for range levels {
			head = &chain{head}
		}
		return head
	}
	for _, p := range protocols {
		data, err := p.codec.Append(nil, build(128))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.codec.Decode(data, new(chain)); err != nil {
			t.Errorf("128 levels: %v", err)
		}
		if _, err := p.codec.Append(nil, build(129)); err == nil {
			t.Error("129 levels were written")
		}
	}
}

func TestTheSessionAfterAnErrorIsAFreshOne(t *testing.T) {
	type inner struct{ Next *inner }
	for _, p := range protocols {
		good, err := p.codec.Append(nil, inner{&inner{}})
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			if p.codec.Decode(good[:1], new(inner)) == nil {
				t.Fatal("half a message was accepted")
			}
			again, err := p.codec.Append(nil, inner{&inner{}})
			if err != nil || string(again) != string(good) {
				t.Fatalf("after an error: %x, %v, want %x", again, err, good)
			}
		}
	}
}

func TestWhatIsWrittenInDepthIsReadAndSkipped(t *testing.T) {
	type holder struct{ Any any }
	type other struct {
		X string `thrift:"9"`
	}
	for _, p := range protocols {
		var v any = "end"
		deepest := 0
		for levels := 1; levels < 200; levels++ {
			v = []any{v}
			data, err := p.codec.Append(nil, holder{v})
			if err != nil {
				break
			}
			if err := p.codec.Decode(data, new(holder)); err != nil {
				t.Fatalf("%d levels cannot be read: %v", levels, err)
			}
			if err := p.codec.Decode(data, new(other)); err != nil {
				t.Fatalf("%d levels cannot be skipped: %v", levels, err)
			}
			deepest = levels
		}
		if deepest < 60 || deepest > 128 {
			t.Errorf("the deepest list that is written has %d levels", deepest)
		}
	}
}
