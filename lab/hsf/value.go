package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Args are the arguments of parse.
type Args struct {
	S string `json:"s"`
	A int    `json:"a"`
	B int    `json:"b"`
}

var args = Args{"s", 1, 2}

// Parsed is the reply of parse, as node-hsf's benchmark has it.
type Parsed struct {
	String  string  `json:"string"`
	Number  float64 `json:"number"`
	Boolean bool    `json:"boolean"`
	Array   []any   `json:"array"`
	Obj     Obj     `json:"obj"`
}

// Obj is the object in the reply of parse.
type Obj struct {
	String  string   `json:"string"`
	Boolean bool     `json:"boolean"`
	Array   []string `json:"array"`
	Number  float64  `json:"number"`
	Obj     Foo      `json:"obj"`
}

// Foo is the smallest object in the reply of parse.
type Foo struct {
	Foo string `json:"foo"`
}

// wantedJSON is the reply of parse as the report's Node program writes it.
const wantedJSON = `{"string":"hello world","number":1024.1,"boolean":true,"array":["hello",1024.12,true,{"foo":"bar"},[1,2,3]],` +
	`"obj":{"string":"hello","boolean":true,"array":["hello","world"],"number":1024.123,"obj":{"foo":"bar"}}}`

// parsed makes the reply anew, as a handler does.
func parsed() Parsed {
	return Parsed{
		String: "hello world", Number: 1024.1, Boolean: true,
		Array: []any{"hello", 1024.12, true, map[string]any{"foo": "bar"}, []any{1, 2, 3}},
		Obj:   Obj{String: "hello", Boolean: true, Array: []string{"hello", "world"}, Number: 1024.123, Obj: Foo{"bar"}},
	}
}

var (
	errShape = errors.New("the object has not the shape that it should have")
	errText  = errors.New("the answer is another text")
)

// check looks at the object's shape, or at all of it.
func (p *Parsed) check(full bool) error {
	if len(p.String) != 11 || len(p.Array) != 5 || len(p.Obj.Array) != 2 || len(p.Obj.Obj.Foo) != 3 {
		return errShape
	}
	if !full {
		return nil
	}
	return sameAsWanted(p)
}

// sameAsWanted compares values that may have other Go types for the same numbers.
func sameAsWanted(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(text, &got), json.Unmarshal([]byte(wantedJSON), &want)); err != nil {
		return err
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("got %s, want %s", text, wantedJSON)
	}
	return nil
}

// checkArgs returns an error unless parse was called with args. Each handler of parse runs it.
func checkArgs(a Args) error {
	if a != args {
		return fmt.Errorf("parse was called with %+v", a)
	}
	return nil
}
