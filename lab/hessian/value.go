package main

// complexObject is the reply of the action "parse" of node-hsf's published benchmark.
func complexObject() map[string]any {
	return map[string]any{
		"string": "hello world", "number": 1024.1, "boolean": true,
		"array": []any{"hello", 1024.12, true, map[string]any{"foo": "bar"}, []any{int32(1), int32(2), int32(3)}},
		"obj": map[string]any{
			"string": "hello", "boolean": true, "array": []any{"hello", "world"}, "number": 1024.123,
			"obj": map[string]any{"foo": "bar"},
		},
	}
}

// complexStruct is the complex value with Go types where they are known.
type complexStruct struct {
	String  string  `json:"string"`
	Number  float64 `json:"number"`
	Boolean bool    `json:"boolean"`
	Array   []any   `json:"array"`
	Obj     struct {
		String  string   `json:"string"`
		Boolean bool     `json:"boolean"`
		Array   []string `json:"array"`
		Number  float64  `json:"number"`
		Obj     struct {
			Foo string `json:"foo"`
		} `json:"obj"`
	} `json:"obj"`
}
