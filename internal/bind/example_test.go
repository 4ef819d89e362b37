package bind_test

import (
	"fmt"
	"reflect"

	"github.com/sabir-go/sabir/internal/bind"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/web/exchange"
)

type listOrders struct {
	User int      `json:"user"`
	Tags []string `json:"tags" query:"tag"`
	Page int      `json:"page"`
}

// A request goes from its path to the JSON that its action takes.
func Example() {
	form, err := route.New("GET", "/users/{user}/orders", reflect.TypeFor[listOrders]())
	if err != nil {
		panic(err)
	}
	var router bind.Router[*bind.Binder]
	if err := router.Add(form.Method, form.Pattern, bind.New(form)); err != nil {
		panic(err)
	}

	x := &exchange.Exchange{Method: "GET", Path: "/users/7/orders", Query: "tag=new&tag=not+paid&page=2"}
	binder, params, ok := router.Find(x.Method, x.Path, x.Params)
	if !ok {
		panic("not found")
	}
	x.Params = params
	input, err := binder.Append(nil, x)
	fmt.Println(string(input), err)

	x.Query = "page=two&page=3"
	_, err = binder.Append(nil, x)
	fmt.Println(err)
	// Output:
	// {"user":7,"tags":["new","not paid"],"page":2} <nil>
	// bad request: the query parameter page must be an integer; the query parameter page is given more than once
}
