package playground_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-playground/validator/v10"

	"github.com/sabir-go/sabir/validate"
	"github.com/sabir-go/sabir/validate/playground"
)

func ExampleRegisterValidation() {
	type User struct {
		Handle string `json:"handle" validate:"handle"`
	}
	v := validate.New()
	err := errors.Join(
		playground.RegisterValidation(v, "handle", func(field validator.FieldLevel) bool {
			return strings.HasPrefix(field.Field().String(), "@")
		}),
		v.SetMessage("handle", "{0} must begin with @"),
	)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(v.Struct(&User{"ada"}))
	// Output: validation failed: handle: handle must begin with @
}
