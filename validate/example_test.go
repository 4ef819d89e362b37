package validate_test

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/sabir-go/sabir/validate"
)

func ExampleValidator_Struct() {
	type Item struct {
		Price float64 `json:"price" validate:"gt=0"`
	}
	type Order struct {
		Name  string `json:"name" validate:"required,max=64"`
		Items []Item `json:"items" validate:"required,dive"`
	}
	err := validate.New().Struct(&Order{Items: []Item{{Price: 5}, {Price: -1}}})
	if list, ok := errors.AsType[validate.Errors](err); ok {
		for _, field := range list {
			fmt.Printf("%s (%s): %s, got %#v\n", field.Path, field.Pointer, field.Message, field.Value)
		}
	}
	// Output:
	// name (/name): name is a required field, got ""
	// items[1].price (/items/1/price): price must be greater than 0, got -1
}

func ExampleValidator_Compile() {
	type Hello struct {
		Name string `json:"name" validate:"required,max=5"`
	}
	plan, err := validate.New().Compile(reflect.TypeFor[Hello]())
	if err != nil {
		fmt.Println(err) // a tag that cannot work
	}
	in := Hello{"Grace Hopper"}
	fmt.Println(plan.Check(unsafe.Pointer(&in)))
	// Output: validation failed: name: name must be a maximum of 5 characters in length
}

func ExampleTagError() {
	type Hello struct {
		Name string `json:"name" validate:"requird"`
	}
	_, err := validate.New().Compile(reflect.TypeFor[Hello]())
	fmt.Println(err)
	// Output: validate: field Name of validate_test.Hello, tag "requird": no rule is called "requird"
}
