package native_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/sabir-go/sabir/codec/native"
)

// A program that keeps messages keeps their schema beside them, and reads them years later into another version of the type.
func ExampleAddSchema() {
	type PointV1 struct{ X, Y int32 }
	type PointV2 struct {
		Label  string
		Height int64 `sabir:",alias=Y"`
		X      int64
	}
	schema, err := native.Schema(reflect.TypeFor[PointV1]())
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := native.Codec.Append(nil, &PointV1{1, -2})
	if err != nil {
		fmt.Println(err)
		return
	}

	var p PointV2
	if err := native.AddSchema(schema); err != nil {
		fmt.Println(err)
		return
	}
	err = native.Codec.Decode(data, &p)
	fmt.Printf("%+v %v\n", p, err)
	// Output: {Label: Height:-2 X:1} <nil>
}

func TestASchemaThatIsNoneIsRefused(t *testing.T) {
	if err := native.AddSchema([]byte("Order")); err == nil {
		t.Error("no error")
	}
	if _, err := native.Schema(reflect.TypeFor[chan int]()); err == nil {
		t.Error("a channel has a schema")
	}
}
