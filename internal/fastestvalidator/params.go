package fastestvalidator

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/sabir-go/sabir/internal/schema"
)

// Params writes the input of an action as the params that a service of Moleculer would describe it with: the other way round than [Schema].
// defs has the schemas that s refers to. What fastest-validator has no rule for is any value.
// It is nil where the bounds cannot be written.
func Params(s *schema.Schema, defs map[string]*schema.Schema) json.RawMessage {
	w := writer{defs: defs, within: make(map[string]bool), left: maxRules}
	root := w.rule(s)
	var params any = root
	if members, is := root["props"]; is {
		params = members
	} else {
		root["$$root"] = true
	}
	out, err := json.Marshal(params)
	if err != nil {
		return nil // a bound that JSON cannot hold, such as an infinite one
	}
	return out
}

// maxRules bounds the rules of one input. Types that contain many others, each several times, would have no end.
const maxRules = 1000

// writer writes schemas as rules.
type writer struct {
	defs   map[string]*schema.Schema
	within map[string]bool // the names whose rules are being written
	left   int
}

// anything lets every value pass.
func anything() map[string]any { return map[string]any{"type": "any"} }

// rule is the rule of a value. A type that lies in itself is any value there.
func (w *writer) rule(s *schema.Schema) map[string]any {
	if w.left--; s == nil || w.left < 0 {
		return anything()
	}
	description := s.Description
	if name := s.RefName(); name != "" {
		if s = w.defs[name]; s == nil || w.within[name] {
			return anything()
		}
		w.within[name] = true
		defer delete(w.within, name)
		return described(w.rule(s), description)
	}
	r := w.typed(s)
	if slices.Contains(s.Type, "null") && r["type"] != "any" {
		r["nullable"] = true
	}
	if s.Default != nil {
		r["default"] = s.Default
	}
	return described(r, description)
}

func described(r map[string]any, text string) map[string]any {
	if text != "" {
		r["description"] = text
	}
	return r
}

func (w *writer) typed(s *schema.Schema) map[string]any {
	types := slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
	switch {
	case len(types) != 1 || len(s.AnyOf) > 0:
		return anything()
	case len(s.Enum) > 0:
		return map[string]any{"type": "enum", "values": s.Enum}
	}
	switch types[0] {
	case "boolean":
		return map[string]any{"type": "boolean"}
	case "integer":
		r := numeric(s)
		r["integer"] = true
		return r
	case "number":
		return numeric(s)
	case "string":
		return text(s)
	case "array":
		r := map[string]any{"type": "array", "items": w.rule(s.Items)}
		lengths(r, s.MinItems, s.MaxItems)
		if s.UniqueItems {
			r["unique"] = true
		}
		return r
	case "object":
		return w.object(s)
	}
	return anything()
}

func (w *writer) object(s *schema.Schema) map[string]any {
	if s.AdditionalProperties != nil && len(s.Properties) == 0 {
		return map[string]any{"type": "record", "key": "string", "value": w.rule(s.AdditionalProperties)}
	}
	members := make(map[string]any, len(s.Properties))
	for _, p := range s.Properties {
		r := w.rule(p.Schema)
		if !slices.Contains(s.Required, p.Name) {
			r["optional"] = true
		}
		members[p.Name] = r
	}
	return map[string]any{"type": "object", "props": members}
}

func numeric(s *schema.Schema) map[string]any {
	r := map[string]any{"type": "number"}
	bound := func(name string, inclusive, exclusive *schema.Number, step float64) {
		if inclusive != nil {
			r[name] = json.Number(*inclusive)
		}
		if exclusive == nil {
			return
		}
		n, err := json.Number(*exclusive).Float64()
		switch whole := slices.Contains(s.Type, "integer"); {
		case err != nil:
		case n == 0 && step > 0:
			r["positive"] = true
		case n == 0:
			r["negative"] = true
		case whole:
			r[name] = n + step
		default: // there is no such rule: the next value is allowed
			r[name] = math.Nextafter(n, n+step)
		}
	}
	bound("min", s.Minimum, s.ExclusiveMinimum, 1)
	bound("max", s.Maximum, s.ExclusiveMaximum, -1)
	return r
}

func text(s *schema.Schema) map[string]any {
	if s.ContentEncoding != "" {
		return anything() // a Buffer
	}
	r := map[string]any{"type": "string"}
	switch s.Format {
	case "email", "uuid":
		r["type"] = s.Format
	case "uri":
		r["type"] = "url"
	case "date-time":
		return map[string]any{"type": "date", "convert": true}
	}
	if s.Pattern != "" {
		r["pattern"] = s.Pattern
	}
	lengths(r, s.MinLength, s.MaxLength)
	return r
}

func lengths(r map[string]any, shortest, longest *int) {
	if shortest != nil && longest != nil && *shortest == *longest {
		r["length"] = *shortest
		return
	}
	if shortest != nil {
		r["min"] = *shortest
	}
	if longest != nil {
		r["max"] = *longest
	}
}
