package dubbo

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"mime"
	"net/url"
	"reflect"
	"strings"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
)

// requestOf reads what a request says in a form that a codec of arguments takes: those of JSON have their names or their places, those of a query or a form their names. count is how
// many there are.
func (c *tripleCall) requestOf(body []byte) (count int, format codec.Codec, input []byte) {
	query := c.r.URL.RawQuery
	if c.isForm() {
		query, body = strings.Trim(query+"&"+strings.ReplaceAll(string(body), "\n", "%0A"), "&"), nil
	}
	if query == "" || len(body) > 0 && bytes.TrimSpace(body)[0] != '{' { // a list, or a value, which leaves nothing to a query
		count = countElements(body)
		return count, jsonArguments{declared: c.m.declares(c.inv.method, count)}, body
	}
	values, _ := url.ParseQuery(query) // the codec refuses what is none
	return len(values), queryArguments{}, append([]byte(query+"\n"), body...)
}

// isForm reports whether the body is a form of a web page.
func (c *tripleCall) isForm() bool {
	kind, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	return kind == "application/x-www-form-urlencoded"
}

// queryArguments is the codec of arguments by the names that they have in JSON: in the query of a URL, and in an object behind it and a line feed. An input that is no struct is the
// one parameter.
type queryArguments struct{ jsonArguments }

// Decode implements codec.Codec.
func (q queryArguments) Decode(data []byte, v any) error {
	query, body, _ := bytes.Cut(data, []byte("\n"))
	values, err := url.ParseQuery(string(query))
	if err != nil {
		return err
	}
	input := pointed(reflect.ValueOf(v).Elem())
	v = input.Addr().Interface()
	target := input.Type()
	switch p := positionsOf(target); {
	case p.err != nil:
		return p.err
	case p.fields != nil:
		return decodeNamed(values, body, v)
	case len(bytes.TrimSpace(body)) > 0: // the one argument
		return q.jsonArguments.Decode(body, v)
	case len(values) > 1:
		return errors.New("several parameters for an action that takes one argument")
	}
	for _, list := range values {
		return json.Codec.Decode(jsonOf(list, target), v)
	}
	return nil
}

// decodeNamed reads a struct from the members of an object, and from the parameters of a query for what that leaves out. Where no field has a name, the one that differs from it in its
// case only has it: parameters of Java begin with a small letter.
func decodeNamed(query url.Values, body []byte, v any) error {
	members := make(map[string]stdjson.RawMessage)
	if len(bytes.TrimSpace(body)) > 0 {
		if err := json.Codec.Decode(body, &members); err != nil {
			return err
		}
	}
	fields := make(map[string]reflect.Type)
	for f := range reflect.TypeOf(v).Elem().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		if f.IsExported() && name != "-" {
			fields[name] = f.Type
		}
	}
	for name := range members {
		if field := fieldOf(fields, name); field != name {
			if _, twice := members[field]; !twice {
				members[field] = members[name]
				delete(members, name)
			}
		}
	}
	for name, list := range query {
		field := fieldOf(fields, name)
		if _, has := members[field]; !has && fields[field] != nil {
			members[field] = jsonOf(list, fields[field])
		}
	}
	text, err := stdjson.Marshal(members)
	if err != nil {
		return err
	}
	return json.Codec.Decode(text, v)
}

// fieldOf is the name of the field that a name stands for; the name itself where there is none, or more than one.
func fieldOf(fields map[string]reflect.Type, name string) string {
	if _, exact := fields[name]; exact {
		return name
	}
	found := ""
	for field := range fields {
		if strings.EqualFold(field, name) {
			if found != "" {
				return name
			}
			found = field
		}
	}
	if found == "" {
		return name
	}
	return found
}

// jsonOf is the values of a parameter as JSON for a type: a text where that is one, a list where it takes several.
func jsonOf(values []string, t reflect.Type) stdjson.RawMessage {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem().Kind() != reflect.Uint8 {
		list := make([]stdjson.RawMessage, len(values))
		for i := range values {
			list[i] = jsonOf(values[i:i+1], t.Elem())
		}
		text, _ := stdjson.Marshal(list) // of JSON
		return text
	}
	last := values[len(values)-1]
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		if stdjson.Valid([]byte(last)) {
			return stdjson.RawMessage(last)
		}
	case reflect.Struct, reflect.Map, reflect.Interface:
		if stdjson.Valid([]byte(last)) {
			return stdjson.RawMessage(last)
		}
	}
	text, _ := stdjson.Marshal(last) // what is no number is refused as a text
	return text
}
