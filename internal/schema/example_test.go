package schema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	"github.com/sabir-go/sabir/internal/schema"
)

type Signup struct {
	Email string  `json:"email" validate:"required,email" doc:"where we write to" example:"ada@example.org"`
	Plan  string  `json:"plan" validate:"oneof=free pro" default:"free"`
	Note  *string `json:"note" validate:"omitempty,max=200"`
}

type Account struct {
	ID uint32 `json:"id"`
}

func ExampleSet_Of() {
	var set schema.Set
	in, err := set.Of(reflect.TypeFor[Signup](), schema.Input)
	fmt.Println(in.Ref, err)
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	out.Encode(set.Defs["Signup"])
	// Output:
	// #/$defs/Signup <nil>
	// {
	//   "type": "object",
	//   "properties": {
	//     "email": {
	//       "type": "string",
	//       "format": "email",
	//       "description": "where we write to",
	//       "examples": [
	//         "ada@example.org"
	//       ],
	//       "minLength": 1,
	//       "x-validate": "required,email"
	//     },
	//     "plan": {
	//       "type": "string",
	//       "enum": [
	//         "free",
	//         "pro"
	//       ],
	//       "default": "free",
	//       "x-validate": "oneof=free pro"
	//     },
	//     "note": {
	//       "type": [
	//         "string",
	//         "null"
	//       ],
	//       "maxLength": 200,
	//       "x-validate": "omitempty,max=200"
	//     }
	//   },
	//   "required": [
	//     "email"
	//   ],
	//   "x-go-type": "github.com/sabir-go/sabir/internal/schema_test.Signup"
	// }
}

func ExampleDescribe() {
	d, err := schema.Describe(reflect.TypeFor[struct{}](), reflect.TypeFor[*Account]())
	text, _ := json.Marshal(d)
	fmt.Println(string(text), err)
	// Output:
	// {"out":{"$ref":"#/$defs/Account"},"$defs":{"Account":{"type":"object","properties":{"id":{"type":"integer","format":"uint32","minimum":0,"maximum":4294967295}},"required":["id"],"x-go-type":"github.com/sabir-go/sabir/internal/schema_test.Account"}}} <nil>
}
