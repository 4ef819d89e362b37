package msgpack_test

import (
	"fmt"

	"github.com/sabir-go/sabir/codec/msgpack"
)

func Example() {
	type order struct {
		ID    string  `json:"id"`
		Total float64 `json:"total"`
	}
	data, err := msgpack.Codec.Append(nil, order{"o-1", 12.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	var back order
	err = msgpack.Codec.Decode(data, &back)
	fmt.Println(back, err)
	// Output: {o-1 12.5} <nil>
}
