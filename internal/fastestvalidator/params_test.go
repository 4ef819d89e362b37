package fastestvalidator_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/fastestvalidator"
	"github.com/sabir-go/sabir/internal/schema"
)

type node struct {
	Name  string `json:"name"`
	Left  *node  `json:"left,omitempty"`
	Right *node  `json:"right,omitempty"`
}

type twice[T any] struct{ A, B T }

type many = twice[twice[twice[twice[twice[twice[twice[twice[twice[twice[twice[twice[int]]]]]]]]]]]] // 4,096 numbers

func TestInputsBecomeParamsWithTheirRules(t *testing.T) {
	for _, c := range []struct {
		in   any
		want string
	}{
		{struct {
			ID string `json:"id" validate:"required,min=1,max=8"`
		}{}, `{"id":{"max":8,"min":1,"type":"string"}}`},
		{struct {
			N int     `json:"n" validate:"gt=0,lte=9"`
			M int     `json:"m" validate:"gt=3"`
			F float64 `json:"f" validate:"lt=0"`
		}{}, `{"f":{"negative":true,"type":"number"},"m":{"integer":true,"min":4,"type":"number"},"n":{"integer":true,"max":9,"positive":true,"type":"number"}}`},
		{struct {
			On *bool `json:"on,omitempty"`
		}{}, `{"on":{"optional":true,"type":"boolean"}}`},
		{struct {
			Kind string `json:"kind" validate:"oneof=a b"`
			Mail string `json:"mail" validate:"email"`
			Code string `json:"code" validate:"len=3"`
		}{}, `{"code":{"length":3,"type":"string"},"kind":{"type":"enum","values":["a","b"]},"mail":{"type":"email"}}`},
		{struct {
			At    time.Time      `json:"at"`
			Bytes []byte         `json:"bytes"`
			Any   any            `json:"any"`
			Map   map[string]int `json:"map"`
		}{}, `{"any":{"optional":true,"type":"any"},"at":{"convert":true,"optional":true,"type":"date"},"bytes":{"optional":true,"type":"any"},"map":{"key":"string","optional":true,"type":"record","value":{"integer":true,"type":"number"}}}`},
		{[]string(nil), `{"$$root":true,"items":{"type":"string"},"type":"array"}`},
		{struct {
			Page int `json:"page" default:"1"`
		}{}, `{"page":{"default":1,"integer":true,"optional":true,"type":"number"}}`},
	} {
		var set schema.Set
		s, err := set.OfCall(reflect.TypeOf(c.in), schema.Input)
		if err != nil {
			t.Fatal(err)
		}
		if got := fastestvalidator.Params(s, set.Defs); string(got) != c.want {
			t.Errorf("%T is\n%s\nwant\n%s", c.in, got, c.want)
		}
	}
}

func TestParamsOfTypesThatContainOthersOftenAreBounded(t *testing.T) {
	for _, of := range []reflect.Type{reflect.TypeFor[node](), reflect.TypeFor[many]()} {
		var set schema.Set
		s, err := set.OfCall(of, schema.Input)
		if err != nil {
			t.Fatal(err)
		}
		if params := fastestvalidator.Params(s, set.Defs); !json.Valid(params) || len(params) > 100_000 {
			t.Errorf("%v: %d bytes: %.200s", of, len(params), params)
		}
	}
}
