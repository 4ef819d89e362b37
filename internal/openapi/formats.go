package openapi

import "github.com/sabir-go/sabir/internal/schema"

// formats has the formats of integers in the document, by those of Sabir. OpenAPI has int32 and int64, and generators of clients take
// 32 bits where they do not know a format: a client for Go or Java would fail with an int of three billion, and with a duration of three
// seconds. A uint64 above 2^63-1 is beyond the numbers of such clients anyway. Bounds say which type it is.
var formats = map[string]string{"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32",
	"int": "int64", "uint": "int64", "uint32": "int64", "uint64": "int64", "duration-ns": "int64"}

// known gives the integers of a copied schema formats that generators of clients know.
func known(s *schema.Schema) *schema.Schema {
	if s == nil {
		return nil
	}
	for one := range s.All() {
		if one.Format == "duration-ns" && one.Description == "" {
			one.Description = "Nanoseconds."
		}
		if format, ok := formats[one.Format]; ok {
			one.Format = format
		}
	}
	return s
}
