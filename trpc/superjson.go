package trpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/schema"
)

// A client with the transformer superjson sends {"json": input, "meta": …}, where meta names the values that JSON has not, and reads every value and
// error in the same form. Nothing else in its requests says that it has one. Values of Go are JSON without meta, so answers have none.

// superjsonOf returns the input and what describes its values, of an input in the form of superjson.
func superjsonOf(input []byte) (value, meta json.RawMessage, ok bool) {
	var members map[string]json.RawMessage
	if jsonv2.Unmarshal(input, &members) != nil { // as a name that is there twice, which the action refuses
		return nil, nil, false
	}
	value, ok = members["json"]
	meta, described := members["meta"]
	return value, meta, ok && (len(members) == 1 || described && len(members) == 2)
}

// takesJSON reports whether an input of the action may have a member with the name "json" itself, such as that of a map.
func takesJSON(types map[string]*schema.Schema, a *api.Action) bool {
	if a == nil || a.In == nil {
		return false
	}
	in := a.In.Resolve(types)
	if len(in.Properties) > 0 {
		return slices.ContainsFunc(in.Properties, func(p schema.Property) bool { return p.Name == "json" })
	}
	return len(in.Type) == 0 || slices.Contains(in.Type, "object")
}

// readSuperjson finds out whether the calls are those of a client with superjson, and then reads their inputs. One call whose input is in that form
// and can mean nothing else is enough, as a client has one transformer.
func (s *server) readSuperjson(c *calls) {
	types := s.site.API().Types
	c.superjson = slices.ContainsFunc(c.list, func(one call) bool {
		_, _, ok := superjsonOf(one.input)
		return ok && !takesJSON(types, one.action)
	})
	if !c.superjson {
		return
	}
	for i := range c.list {
		one := &c.list[i]
		one.superjson = !c.streamed // whose lines have the form as a whole
		value, meta, ok := superjsonOf(one.input)
		if !ok {
			continue
		}
		input, err := plain(value, meta)
		if one.input = input; err != nil {
			one.refused = failure(http.StatusBadRequest, "BadInput", err.Error()).at(one.path)
		}
	}
}

// plain returns a value of superjson as JSON; nil for undefined. The types that it reads are those whose JSON is the one that Go writes for such values.
func plain(value, meta json.RawMessage) ([]byte, error) {
	if len(meta) == 0 {
		return value, nil
	}
	var described struct {
		Values any             `json:"values"`
		Same   json.RawMessage `json:"referentialEqualities"`
	}
	if err := json.Unmarshal(meta, &described); err != nil {
		return nil, errors.New(`superjson: "meta" cannot be read`)
	}
	if err := readable(described.Values, ""); err != nil {
		return nil, err
	}
	// With dedupe, and in circles, null stands for a value that is elsewhere in the input.
	if len(described.Same) > 0 && hasNull(value) {
		return nil, errors.New("superjson: the input holds one object at two places, and null or undefined: send copies of the object, and do not set dedupe")
	}
	if top, ok := described.Values.([]any); ok && top[0] == "undefined" {
		return nil, nil
	}
	return value, nil
}

// readable returns why values with these types cannot be read. A type stands in a list, with those of the members after it; members are by name.
func readable(types any, at string) error {
	switch t := types.(type) {
	case nil:
		return nil
	case []any:
		if len(t) == 0 || len(t) > 2 {
			break
		}
		kind, _ := t[0].(string)
		if list, ok := t[0].([]any); ok && len(list) > 0 {
			kind, _ = list[0].(string) // such as a class, with its name
		}
		switch kind {
		case "Date", "URL", "set", "undefined":
		default:
			where := "the input"
			if at != "" {
				where = strconv.QuoteToGraphic(short(at))
			}
			return errors.New("superjson: " + where + " has the type " + strconv.QuoteToGraphic(short(kind)) +
				", which is not read: send strings, numbers, booleans, lists, objects, Date, Set, URL or undefined, or leave the transformer out of the client's links")
		}
		if len(t) == 2 {
			return readable(t[1], at)
		}
		return nil
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(t)) {
			inner := name
			if at != "" {
				inner = short(at) + "." + name
			}
			if err := readable(t[name], inner); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.New(`superjson: "meta" cannot be read`)
}

// hasNull reports whether there is a null anywhere in a value.
func hasNull(value []byte) bool {
	tokens := json.NewDecoder(bytes.NewReader(value))
	tokens.UseNumber()
	for {
		switch token, err := tokens.Token(); {
		case err != nil:
			return false
		case token == nil:
			return true
		}
	}
}

// appendSuperjson appends a value in the form of superjson.
func appendSuperjson(dst, value []byte) []byte {
	return append(append(append(dst, `{"json":`...), value...), '}')
}
