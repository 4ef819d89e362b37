package main

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/codec/json"
)

// check has each row read what all rows of its wire wrote, itself among them, and compares the answers with the value.
func check(rows []*row, want []byte) error {
	var wanted any
	if err := stdjson.Unmarshal(want, &wanted); err != nil {
		return err
	}
	var wrong []error
	for _, reader := range rows {
		for _, writer := range rows {
			if reader.wire != writer.wire {
				continue
			}
			message := append(append([]byte(nil), reader.data[:reader.head]...), writer.data[writer.head:]...)
			text, err := reader.runner.answer(message)
			if err == nil {
				err = same(wanted, text)
			}
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s reads what %s wrote: %w", reader.Name, writer.Name, err))
			}
		}
	}
	return errors.Join(wrong...)
}

func same(want any, text []byte) error {
	var got any
	if err := stdjson.Unmarshal(text, &got); err != nil {
		return fmt.Errorf("the answer %.200q: %w", text, err)
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("got %.300s", text)
	}
	return nil
}

// asJSON is the JSON of a decoded value. An empty list or map is one, also where a format gives nil for it.
func asJSON(v any) ([]byte, error) {
	if loose, ok := v.(*any); ok {
		v = *loose
	}
	return json.Append(nil, plain(v))
}

// plain takes the types away that Hessian libraries give to lists and maps.
func plain(v any) any {
	switch v := v.(type) {
	case map[any]any:
		m := make(map[string]any, len(v))
		for key, value := range v {
			m[fmt.Sprint(key)] = plain(value)
		}
		return m
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, value := range v {
			m[key] = plain(value)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case *hessian.List:
		return plain(v.Items)
	case *complexObject:
		typed := *v
		typed.Array, _ = plain(typed.Array).([]any)
		return &typed
	}
	return v
}
