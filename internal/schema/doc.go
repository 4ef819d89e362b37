// Package schema describes Go types as JSON Schema, draft 2020-12 (https://json-schema.org/draft/2020-12): what package
// codec/json writes and reads for them, with the rules of their `validate` tags. What is generated for other languages and
// for users is made of this description alone.
//
//	type Signup struct {
//		Email string  `json:"email" validate:"required,email" doc:"where we write to" example:"ada@example.org"`
//		Plan  string  `json:"plan" validate:"oneof=free pro" default:"free"`
//		Note  *string `json:"note" validate:"omitempty,max=200"`
//	}
//
//	var set schema.Set
//	in, err := set.Of(reflect.TypeFor[Signup](), schema.Input) // {"$ref":"#/$defs/Signup"}; set.Defs has the type
//
// # Struct tags
//
// Names and forms come from `json`, rules from `validate`. For users there are `doc:"…"`, `example:"…"`, `default:"…"` (which
// a node fills in, see package validate) and `deprecated:"true"`. A text is given as it is, anything else as
// JSON; what does not fit the field's type is an error. A field with `sabir:"secret"` is writeOnly in inputs.
//
// # Null, absent and required
//
// A schema describes the documents that the codec writes. The codec reads a little more: null for anything, which is as if the
// member were not there, and members it does not know, which it skips.
//
//   - A pointer may be null, unless an option of the json tag leaves it out then or, in an input, its rules refuse nil ("required",
//     or any rule without "omitempty" before it). Nothing else may be null: nil slices and maps are [] and {}.
//   - In an input a member is required when leaving it out is refused: when the zero value of the field does not pass its
//     rules. That is so for "required", and just as well for "min=1" on a number or "email" without "omitempty". A member with a
//     default is never required: it has its default when it is checked.
//   - In an output a member is required when it is always written: no omitempty, no omitzero, not from an embedded pointer.
//   - "required" means what it means to the checker: not the zero value. So a text then has minLength 1, a bool is true, a
//     number is not 0. A slice or map may be empty, and what a pointer points to may be zero.
//   - "omitempty" lets the zero value pass. It is added where the codec may write it: a text with "omitempty,email" is "" or
//     an address; with `json:",omitempty"` it is an address or absent.
//   - An output has no rules, since nothing checks what handlers answer: a client that holds an answer against its schema would
//     refuse one that breaks a rule. The values of "oneof" stay, since other languages make a type of them.
//
// # Inputs and outputs
//
// So the schemas of one type as an input and as an output may differ. Where they do, and a [Set] has both, the output
// has the type's name and the input has it with "Input" after it: "User" and "UserInput". A type that is used one way only, or is
// the same both ways, has its plain name.
//
// # What is not exact
//
// Rules that JSON Schema cannot express are kept in x-rules, and do not make a member required, since only the library
// knows what they refuse. Rules that a program replaced or added are not known here. Elements of lists and maps, and fields
// with `validate:"-"`, are described by their type with its rules, also where no "dive" lets the checker look at them. "1.0" is
// an integer to JSON Schema and is not to the codec.
package schema
