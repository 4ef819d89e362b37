package schema

import "reflect"

// Described holds the schemas of an action's input and output, in a form that can be sent as JSON and read back.
type Described struct {
	In   *Schema            `json:"in,omitempty"`  // nil for nothing
	Out  *Schema            `json:"out,omitempty"` // nil for nothing
	More []*Schema          `json:"more,omitempty"`
	Defs map[string]*Schema `json:"$defs,omitempty"` // the named types that the others refer to
}

// Describe describes one action: its input, its output, and in More other types of outputs in their order, such as those
// of the data of its errors; nil for nil. A struct without fields is nothing. To describe many actions use a [Set].
func Describe(in, out reflect.Type, more ...reflect.Type) (Described, error) {
	var set Set
	var d Described
	var err error
	if d.In, err = set.OfCall(in, Input); err != nil {
		return d, err
	}
	if d.Out, err = set.OfCall(out, Output); err != nil {
		return d, err
	}
	for _, t := range more {
		s, err := set.Of(t, Output)
		if err != nil {
			return d, err
		}
		d.More = append(d.More, s)
	}
	d.Defs = set.Defs
	return d, nil
}

// OfCall is Of for the input or output of an action. It returns nil for a struct without fields, which counts as no input or
// output. For a pointer it describes the type that it points to, since callers and handlers never pass nil.
func (s *Set) OfCall(t reflect.Type, side Side) (*Schema, error) {
	for t != nil && t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	if t != nil && t.Kind() == reflect.Struct && t.NumField() == 0 && !has(t, ownType) && !(&builder{side: side}).isPlain(t) {
		return nil, nil
	}
	return s.Of(t, side)
}
