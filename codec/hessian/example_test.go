package hessian_test

import (
	"fmt"

	"github.com/sabir-go/sabir/codec/hessian"
)

type User struct {
	Name string `json:"name"`
	Age  int32  `json:"age"`
}

type Color string

func ExampleRegister() {
	hessian.Register[User]("com.example.User")
	hessian.Register[Color]("com.example.Color")

	data, err := hessian.Codec.Append(nil, []any{&User{"Ada", 36}, Color("RED")})
	fmt.Printf("%q %v\n", data, err)

	var v []any
	err = hessian.Codec.Decode(data, &v)
	fmt.Printf("%+v %T %v\n", v[0], v[1], err)
	// Output:
	// "zC\x10com.example.User\x92\x04name\x03age`\x03Ada\xb4C\x11com.example.Color\x91\x04namea\x03RED" <nil>
	// &{Name:Ada Age:36} hessian_test.Color <nil>
}

func Example_append() {
	type order struct { // without a Java name: a map
		ID    int64    `json:"id"`
		Items []string `json:"items"`
	}
	data, err := hessian.Codec.Append(nil, order{7, []string{"tea"}})
	fmt.Printf("%q %v\n", data, err)
	// Output: "H\x02id\xe7\x05itemsy\x03teaZ" <nil>
}

func Example_decode() {
	var user struct {
		Name string `json:"name"`
		Age  int8   `json:"age"`
	}
	err := hessian.Codec.Decode([]byte("H\x04name\x03Ada\x03age\xc9\x2cZ"), &user)
	fmt.Println(err)
	// Output: hessian: at /age: want int8, got a number that it cannot hold (offset 14)
}

func ExampleEncoder() {
	list := []any{"shared"}
	e := hessian.NewEncoder(nil)
	for _, argument := range []any{"method", list, list} {
		if err := e.Encode(argument); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("%q\n", e.Bytes())
	// Output: "\x06methody\x06sharedQ\x90"
}

func ExampleDecoder() {
	d := hessian.NewDecoder([]byte("\x06methody\x06sharedQ\x90"))
	var method string
	var first, second []string
	for _, target := range []any{&method, &first, &second} {
		if err := d.Decode(target); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(method, first, second, &first[0] == &second[0], d.Len())
	// Output: method [shared] [shared] true 0
}

func ExampleObject() {
	object := &hessian.Object{Class: "com.example.Point", Fields: []hessian.Field{{Name: "x", Value: 1.0}, {Name: "y", Value: 0.5}}}
	data, err := hessian.Codec.Append(nil, object)
	fmt.Printf("%q %v\n", data, err)

	var v any
	err = hessian.Codec.Decode(data, &v)
	x, _ := v.(*hessian.Object).Get("x")
	fmt.Println(x, err)
	// Output:
	// "C\x11com.example.Point\x92\x01x\x01y`\\_\x00\x00\x01\xf4" <nil>
	// 1 <nil>
}
