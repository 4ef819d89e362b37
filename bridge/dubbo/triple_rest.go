package dubbo

import (
	stdjson "encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/sabir-go/sabir/codec/json"
)

// fromOtherSite reports whether a page of another site makes a browser ask: what GET calls may change something.
func fromOtherSite(h http.Header) bool {
	site := h.Get("Sec-Fetch-Site")
	return h.Get("Origin") != "" || site != "" && site != "none" && site != "same-origin"
}

// queryArguments is the codec of arguments in the query of a URL, by the names that they have in JSON. An input that is no struct is the one parameter.
type queryArguments struct{ jsonArguments }

// Decode implements codec.Codec.
func (queryArguments) Decode(data []byte, v any) error {
	values, err := url.ParseQuery(string(data))
	if err != nil {
		return err
	}
	target := reflect.TypeOf(v).Elem()
	if p := positionsOf(target); p.err != nil {
		return p.err
	} else if p.fields == nil {
		if len(values) > 1 {
			return errors.New("several parameters for an action that takes one argument")
		}
		for _, list := range values {
			return json.Decode(jsonOf(list, target), v)
		}
		return nil
	}
	object := make(map[string]stdjson.RawMessage)
	for f := range target.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		list, has := values[name]
		if !has {
			list, has = values[strings.ToLower(name[:1])+name[1:]]
		}
		if has && f.IsExported() && name != "-" {
			object[name] = jsonOf(list, f.Type)
		}
	}
	text, err := stdjson.Marshal(object)
	if err != nil {
		return err
	}
	return json.Decode(text, v)
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
