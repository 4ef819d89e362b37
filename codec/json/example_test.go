package json_test

import (
	"errors"
	"fmt"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
)

func Example_append() {
	type reply struct {
		Text  string   `json:"text"`
		Names []string `json:"names"`
	}
	buffer, err := json.Codec.Append([]byte("body: "), reply{Text: "Hello, Ada"})
	fmt.Println(string(buffer), err)
	// Output: body: {"text":"Hello, Ada","names":[]} <nil>
}

func Example_decode() {
	var order struct {
		Items []struct {
			Price float64 `json:"price"`
		} `json:"items"`
	}
	err := json.Codec.Decode([]byte(`{"items":[{"price":1.5},{"price":"two"}]}`), &order)
	fmt.Println(err)

	if e, ok := errors.AsType[*codec.Error](err); ok {
		fmt.Println("place:", e.Pointer)
	}
	// Output:
	// json: at /items/1/price: want number, got string (offset 33)
	// place: /items/1/price
}

func ExampleConfig() {
	var config struct {
		Port int `json:"port"`
	}
	err := json.New(json.Config{Strict: true}).Decode([]byte(`{"prot":80}`), &config)
	fmt.Println(err)
	// Output: json: at /prot: the target has no such member (offset 1)
}
