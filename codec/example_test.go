package codec_test

import (
	"fmt"

	"github.com/sabir-go/sabir/codec"
	_ "github.com/sabir-go/sabir/codec/json"
)

func Example() {
	c, ok := codec.Lookup("json")
	if !ok {
		fmt.Println("this program does not link the json codec")
		return
	}
	data, err := c.Append(nil, map[string]int{"answer": 42})
	if err != nil {
		fmt.Println(err)
		return
	}
	var back map[string]int
	err = c.Decode(data, &back)
	fmt.Println(string(data), back["answer"], err)
	// Output: {"answer":42} 42 <nil>
}
