package protojson_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/protobuf"
	"github.com/sabir-go/sabir/internal/protojson"
)

type fuzzed struct {
	Number int64             `json:"number"`
	Bytes  []byte            `json:"bytes"`
	At     time.Time         `json:"at"`
	Took   time.Duration     `json:"took"`
	Tags   map[string]uint64 `json:"tags"`
	Any    any               `json:"any"`
	Inner  *fuzzed           `json:"inner"`
}

// FuzzJSON reads any text as the JSON of a type. What was read is the same after it was written and read again.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `{"number":"-1","bytes":"AAH/","at":"2026-11-25T12:00:00Z","took":"1.5s","tags":{"a":"1"},"any":{"x":[1]},"inner":{}}`, `{"number":1e300}`, `[`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var first, second fuzzed
		if protojson.Codec.Decode(text, &first) != nil {
			return
		}
		again, err := protojson.Codec.Append(nil, &first)
		if err != nil {
			return // a text in an any, or a number that is none, may have no JSON
		}
		if err := protojson.Codec.Decode(again, &second); err != nil {
			t.Fatalf("%s was read, and written as %s: %v", text, again, err)
		}
		one, _ := protobuf.Codec.Append(nil, &first)
		two, _ := protobuf.Codec.Append(nil, &second)
		if len(one) != len(two) || len(first.Tags) == 0 && reflect.TypeOf(first.Any) != reflect.TypeOf(second.Any) {
			t.Fatalf("%s became %s: %x and %x", text, again, one, two)
		}
	})
}
