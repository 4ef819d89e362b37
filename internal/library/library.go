// Package library is the seam between package validate, which compiles the usual rules and makes their errors itself, and a
// library with all others, which a program links by an import of validate/playground. What the library hands out is text with
// marks, which this package writes and reads.
package library

import "reflect"

// Failure is a field that failed a rule, as the library reports it.
type Failure interface {
	Tag() string       // the rule as written, an alias, or alternatives
	ActualTag() string // the rule that an alias stands for
	Namespace() string // where the field is, see Locate
	Field() string     // its name, with marks
	Param() string
	Value() any
	Kind() reflect.Kind
	Type() reflect.Type // nil where there is no value
}

// Library is one configured instance. It may be called by many goroutines at once. Its methods panic with what functions of the
// program panic with, and for tags that cannot work.
type Library interface {
	// Parse panics for a tag that it cannot read.
	Parse(tag string)
	// Rehearse checks one field of the struct at ptr, by the library's name of it, without calling functions of the program.
	Rehearse(ptr any, field string)
	// Passes reports whether a value alone satisfies a tag.
	Passes(value any, tag string) bool
	// Struct lists the failures of the struct at ptr, without the fields that skip reports.
	Struct(ptr any, skip func(field []byte) bool) ([]Failure, error)
	// Value lists the failures of a value with a tag.
	Value(value any, tag string) ([]Failure, error)
	// Translate puts a failure of this library into words.
	Translate(f Failure) string
}

// Setup configures an instance.
type Setup struct {
	Register []func(instance any) error // adds the program's functions to the library's own type of instance
	Rules    []string                   // with functions of the program
	Aliases  map[string]string
	Language any // from an Extension; nil for English
}

// Extension is one addition that a program makes to the library. It has one of the other fields alone, or Register together
// with the field that says what Register is for.
type Extension struct {
	Register func(instance any) error
	Rule     string         // that Register adds or replaces, or that Message is for
	Structs  []reflect.Type // that Register adds a function for
	Types    []reflect.Type // whose values Register's function replaces

	Message  func(Failure) string
	Language any
}

// New makes an instance; nil in a program that links no library.
var New func(Setup) (Library, error)

// Import is the import declaration with which a program links the library.
const Import = `import _ "github.com/sabir-go/sabir/validate/playground"`
