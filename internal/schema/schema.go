package schema

// Schema is a JSON Schema (json-schema.org, draft 2020-12) with the keywords that Go types and validation rules need. Its
// zero value allows everything. Numbers in Enum, Const, Default and Examples are of type [Number], so that none loses digits.
type Schema struct {
	Ref         string   `json:"$ref,omitempty"`   // "#/$defs/User"; beside it stand at most annotations: Description, Examples, WriteOnly, Rules …
	Type        Types    `json:"type,omitempty"`   // more than one for what may be null
	Format      string   `json:"format,omitempty"` // "date-time", "int64", "uint64", "int32", "double", "email", "uuid", "duration-ns" …
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Enum        []any    `json:"enum,omitempty"`
	Const       any      `json:"const,omitempty"`
	Default     any      `json:"default,omitempty"`
	Examples    []any    `json:"examples,omitempty"`
	AnyOf       []Schema `json:"anyOf,omitempty"`
	AllOf       []Schema `json:"allOf,omitempty"`
	Not         *Schema  `json:"not,omitempty"`

	Properties           Properties `json:"properties,omitempty"` // in the order of the Go fields
	Required             []string   `json:"required,omitempty"`
	AdditionalProperties *Schema    `json:"additionalProperties,omitempty"` // of maps
	PropertyNames        *Schema    `json:"propertyNames,omitempty"`
	MinProperties        *int       `json:"minProperties,omitempty"`
	MaxProperties        *int       `json:"maxProperties,omitempty"`

	Items       *Schema `json:"items,omitempty"`
	MinItems    *int    `json:"minItems,omitempty"`
	MaxItems    *int    `json:"maxItems,omitempty"`
	UniqueItems bool    `json:"uniqueItems,omitempty"`

	MinLength       *int   `json:"minLength,omitempty"` // characters
	MaxLength       *int   `json:"maxLength,omitempty"`
	Pattern         string `json:"pattern,omitempty"`
	ContentEncoding string `json:"contentEncoding,omitempty"` // "base64" for []byte

	Minimum          *Number `json:"minimum,omitempty"`
	Maximum          *Number `json:"maximum,omitempty"`
	ExclusiveMinimum *Number `json:"exclusiveMinimum,omitempty"`
	ExclusiveMaximum *Number `json:"exclusiveMaximum,omitempty"`

	Deprecated bool `json:"deprecated,omitempty"`
	WriteOnly  bool `json:"writeOnly,omitempty"` // secrets in inputs, which answers do not repeat

	// Rules are validation rules that JSON Schema cannot express, as their tags have them: "eqfield=Password". A reader that does
	// not know them passes them over.
	Rules []string `json:"x-rules,omitempty"`
	// Tag is the whole `validate` tag of a member, for programs that check values as package validate does: in its order, with
	// its names of rules.
	Tag string `json:"x-validate,omitempty"`
	// FieldNumber is the number of a member in its `protobuf` tag; 0 for none. See Properties.Numbers.
	FieldNumber int `json:"x-protobuf,omitempty"`
	// ProtoType is the type in Protocol Buffers where the JSON does not tell it: "bytes", "optional", "optional string"; of a map that of
	// its keys, "int64".
	ProtoType string `json:"x-protobuf-type,omitempty"`
	// ProtoFields are the fields in Protocol Buffers where they are others than the members. See Fields.
	ProtoFields Properties `json:"x-protobuf-fields,omitempty"`
	// GoType is the full name of the named Go type, for listings.
	GoType string `json:"x-go-type,omitempty"`
}

// Types is the JSON types of a value. One is written as a string, several as an array.
type Types []string

// Properties is the members of an object in their order.
type Properties []Property

// Property is one member of an object.
type Property struct {
	Name   string
	Schema *Schema
}

// Number is a bound as its digits, since 2^63-1 is no float64.
type Number string
