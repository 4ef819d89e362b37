package native_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/native"
)

type (
	figure interface{ Area() float64 }
	square struct{ Side float64 }
	circle struct{ Radius float64 }
	rename struct{ X int8 }
)

func (s square) Area() float64  { return s.Side * s.Side }
func (c *circle) Area() float64 { return 3 * c.Radius * c.Radius }

func init() {
	native.Register("test.square", square{})
	native.Register("test.circle", &circle{})
	native.Register("test.everything", everything{})
}

func TestRegisteredTypesTravelInInterfaces(t *testing.T) {
	same(t, []figure{square{2}, &circle{1}, nil})
	same(t, []any{square{2}, everythingValue(), &circle{3}})
}

func TestTheBasicTypesAreRegisteredFromTheStart(t *testing.T) {
	same(t, []any{true, "s", 1, int8(1), int16(1), int32(1), int64(1), uint(1), uint8(1), uint16(1), uint32(1), uint64(1),
		float32(1), 1.0, []byte("b"), time.Unix(1, 0).UTC(), time.Second, []any{}, map[string]any{}, nil})
}

func TestATypeThatIsNotRegisteredIsNotEncoded(t *testing.T) {
	_, err := native.Append(nil, map[string]any{"k": pid{}})
	if err == nil || !strings.Contains(err.Error(), "/k: a native_test.pid in an interface: register it") {
		t.Errorf("got %v", err)
	}
}

func TestATypeThatIsNoSuchInterfaceIsNotBuilt(t *testing.T) {
	data, err := native.For[any]().Append(nil, new(any("text")))
	if err != nil {
		t.Fatal(err)
	}
	if err := native.For[figure]().Decode(data, new(figure)); err == nil || !strings.Contains(err.Error(), "which is no native_test.figure") {
		t.Errorf("got %v", err)
	}
}

func TestAnInterfaceValueOfAnotherSchemaIsTranslatedOnceKnown(t *testing.T) {
	native.Register("test.rename", rename{})
	data, err := native.For[any]().Append(nil, new(any(rename{5})))
	if err != nil {
		t.Fatal(err)
	}
	// The same message as a writer with {Y, X int8} would send it.
	type writer struct{ Y, X int8 }
	old, other := native.For[rename]().Schema().Hash(), native.For[writer]().Schema().Hash()
	message := strings.Replace(string(data), string(old[:])+"\x01\x05", string(other[:])+"\x02\x07\x05", 1)
	var got any
	if err := native.For[any]().Decode([]byte(message), &got); err == nil || !strings.Contains(err.Error(), "AddSchema") {
		t.Fatalf("got %v", err)
	}
	if err := native.AddSchema(native.For[writer]().Schema()); err != nil {
		t.Fatal(err)
	}
	if err := native.For[any]().Decode([]byte(message), &got); err != nil || !reflect.DeepEqual(got, rename{5}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestRegisterPanicsOnAMistake(t *testing.T) {
	for name, register := range map[string]func(){
		"no name":     func() { native.Register("", square{}) },
		"nil":         func() { native.Register("test.nil", nil) },
		"taken name":  func() { native.Register("test.square", pid{}) },
		"taken type":  func() { native.Register("test.other", square{}) },
		"no encoding": func() { native.Register("test.chan", make(chan int)) },
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "native: ") {
					t.Errorf("%s: got %s", name, text)
				}
			}()
			register()
		}()
	}
	native.Register("test.square", square{}) // once more is no mistake
}
