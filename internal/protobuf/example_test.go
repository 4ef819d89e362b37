package protobuf_test

import (
	"fmt"
	"reflect"

	"github.com/sabir-go/sabir/internal/protobuf"
)

func Example_append() {
	type order struct {
		ID    string   `json:"id" protobuf:"1"`
		Total int64    `json:"total" protobuf:"4"`
		Tags  []string `json:"tags" protobuf:"5"`
	}
	data, err := protobuf.Codec.Append(nil, order{"o-1", 300, []string{"new"}})
	fmt.Printf("%x %v\n", data, err)
	var got order
	err = protobuf.Codec.Decode(data, &got)
	fmt.Println(got, err)
	// Output:
	// 0a036f2d3120ac022a036e6577 <nil>
	// {o-1 300 [new]} <nil>
}

func ExampleDescriptor() {
	type order struct {
		ID   string            `json:"id"`
		Tags map[string]string `json:"tags"`
	}
	message, err := protobuf.Descriptor(reflect.TypeFor[order]())
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range message.Fields().Len() {
		f := message.Fields().Get(i)
		fmt.Println(f.Number(), f.Name(), f.Cardinality(), f.Kind(), f.IsMap())
	}
	// Output:
	// 1 id optional string false
	// 2 tags repeated message true
}
