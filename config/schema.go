package config

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// Schema is the JSON schema of a file of settings, for editors. app is the struct of the program's own settings, or nil, which lets the
// section app hold anything.
func Schema(app any) []byte {
	root := schemaOf(reflect.TypeFor[Settings](), "")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Settings of a Sabir node"
	own := map[string]any{"type": "object", "description": "Settings of the program's own."}
	if app != nil {
		t := reflect.TypeOf(app)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		own = schemaOf(t, "Settings of the program's own.")
	}
	root["properties"].(map[string]any)["app"] = own
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	return append(text, '\n')
}

func schemaOf(t reflect.Type, doc string) map[string]any {
	s := map[string]any{"type": kindOf(t)}
	if doc != "" {
		s["description"] = doc
	}
	switch {
	case kindOf(t) == "array":
		s["items"] = schemaOf(t.Elem(), "")
	case t.Kind() == reflect.Map:
		s["additionalProperties"] = schemaOf(t.Elem(), "")
	case kindOf(t) == "object":
		properties := map[string]any{}
		for _, f := range fieldsOf(t) {
			name := nameOf(f)
			one := schemaOf(f.Type, f.Tag.Get("doc"))
			for rule := range strings.SplitSeq(f.Tag.Get("validate"), ",") {
				if list, found := strings.CutPrefix(rule, "oneof="); found {
					one["enum"] = strings.Fields(list)
				}
			}
			if text := f.Tag.Get("default"); text != "" {
				one["default"] = text
			}
			properties[name] = one
			if f.Type == secretType {
				properties[name+"_file"] = map[string]any{"type": "string", "description": "The name of a file with it. " + f.Tag.Get("doc")}
			}
		}
		s["properties"], s["additionalProperties"] = properties, false
	}
	return s
}
