package gob_test

import (
	"fmt"

	"github.com/sabir-go/sabir/codec/gob"
)

func Example() {
	type order struct {
		ID    string  `json:"id"`
		Total float64 `json:"total"`
	}
	data, err := gob.Codec.Append(nil, order{"o-1", 12.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	var back order
	err = gob.Codec.Decode(data, &back)
	fmt.Println(back, err)
	// Output: {o-1 12.5} <nil>
}
