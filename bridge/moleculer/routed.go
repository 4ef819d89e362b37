package moleculer

import (
	"slices"
	"strconv"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/route"
)

// routed reads the input of an action that has routes. moleculer-web gives what it takes from paths, queries and forms as texts, and a list with one
// element as that element. So params that are not the input as they are get a second reading, in which these fields are what their texts say.
type routed struct {
	codec.Codec
	fields []route.Param
}

// routedFormat is the format for the input of an action with these routes.
func routedFormat(values codec.Codec, routes []route.Route) codec.Codec {
	var fields []route.Param
	for _, r := range routes {
		for _, p := range slices.Concat(r.Params, r.Form) { // append could write into what all readers of the routes share
			if p.Kind != route.Text || p.List {
				fields = append(fields, p)
			}
		}
	}
	if fields == nil {
		return values
	}
	return routed{values, fields}
}

func (r routed) Decode(data []byte, v any) error {
	err := r.Codec.Decode(data, v)
	if err == nil {
		return nil
	}
	if said, changed := r.said(data); !changed || r.Codec.Decode(said, v) != nil {
		return err // of what the caller sent
	}
	return nil
}

// said returns the params with what the texts in them say.
func (r routed) said(data []byte) (said []byte, changed bool) {
	var members map[string]any
	if r.Codec.Decode(data, &members) != nil {
		return nil, false
	}
	for _, f := range r.fields {
		member, there := members[f.Field]
		if list, ok := member.([]any); ok && f.List {
			for i := range list {
				if value, ok := saidBy(list[i], f.Kind); ok {
					list[i], changed = value, true
				}
			}
		} else if value, ok := saidBy(member, f.Kind); ok || there && f.List {
			if f.List {
				value = []any{value}
			}
			members[f.Field], changed = value, true
		}
	}
	if !changed {
		return nil, false
	}
	said, err := r.Codec.Append(nil, members)
	return said, err == nil
}

// saidBy is the number or the boolean that a text says. The value is as it was where ok is false.
func saidBy(value any, kind route.Kind) (said any, ok bool) {
	text, ok := value.(string)
	if !ok {
		return value, false
	}
	switch kind {
	case route.Integer:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, true
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return n, true
		}
	case route.Number:
		var n float64
		if json.Codec.Decode([]byte(text), &n) == nil {
			return n, true
		}
	case route.Boolean:
		if text == "true" || text == "false" {
			return text == "true", true
		}
	}
	return value, false
}
