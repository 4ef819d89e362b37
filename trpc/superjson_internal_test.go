package trpc

import (
	"encoding/json"
	"testing"
)

func FuzzInputsOfSuperjson(f *testing.F) {
	for _, seed := range []string{`{"json":{"at":"2026-01-02T03:04:05Z"},"meta":{"values":{"at":["Date"]},"v":1}}`, `{"json":null,"meta":{"values":["undefined"]}}`,
		`{"json":[[1]],"meta":{"values":["set",{"0":["bigint"]}]}}`, `{"json":[null],"meta":{"values":[["custom","a"]],"referentialEqualities":[["0"]]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		value, meta, ok := superjsonOf(input)
		if !ok {
			t.Skip()
		}
		got, err := plain(value, meta)
		if err != nil && (got != nil || len(err.Error()) > 2000) || got != nil && !json.Valid(got) {
			t.Errorf("%q, %.3000v", got, err)
		}
	})
}
