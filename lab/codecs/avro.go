package main

import (
	"reflect"

	"github.com/hamba/avro/v2"

	"github.com/sabir-go/sabir/lab/codecs/shape"
)

func avroCodecs() []codec {
	return []codec{{name: "hamba/avro", entries: []entry{
		avroEntry(`"string"`, shape.Text), avroEntry(avroPID, shape.NewPID()), avroEntry(avroProcessID, shape.NewProcessID()),
		avroEntry(avroSimple, shape.NewSimple()), avroEntry(avroComplex, shape.NewComplex()), avroEntry(avroNested, shape.NewNested()),
		avroEntry(`{"type":"map","values":`+avroItem+`}`, shape.NewItems()),
		avroEntry(`{"type":"map","values":{"type":"map","values":`+avroItem+`}}`, shape.NewGroups()),
	}}}
}

// Avro has no unsigned integers: the library takes a uint64 as 8 fixed bytes.
const (
	avroPID = `{"type":"record","name":"PID","fields":[{"name":"node","type":"string"},
		{"name":"id","type":{"type":"fixed","name":"id8","size":8}},
		{"name":"creation","type":{"type":"fixed","name":"creation8","size":8}}]}`
	avroProcessID = `{"type":"record","name":"ProcessID","fields":[{"name":"name","type":"string"},{"name":"node","type":"string"}]}`
	avroSimple    = `{"type":"record","name":"Simple","fields":[{"name":"a","type":"float"},{"name":"b","type":"double"},
		{"name":"c","type":"string"}]}`
	avroComplex = `{"type":"record","name":"Complex","fields":[{"name":"name","type":"string"},{"name":"id","type":"int"},
		{"name":"tags","type":{"type":"array","items":"string"}},{"name":"metadata","type":{"type":"map","values":"string"}},
		{"name":"pid","type":` + avroPID + `},{"name":"process_id","type":` + avroProcessID + `}]}`
	avroNested = `{"type":"record","name":"Nested","fields":[{"name":"name","type":"string"},{"name":"id","type":"int"},
		{"name":"complex","type":` + avroComplex + `},{"name":"complex_map","type":{"type":"map","values":"Complex"}},
		{"name":"nested_map","type":{"type":"map","values":"string"}}]}`
	avroItem = `{"type":"record","name":"Item","fields":[{"name":"name","type":"string"},{"name":"id","type":"int"}]}`
)

func avroEntry[T any](schemaText string, v T) entry {
	schema := avro.MustParse(schemaText)
	// The library takes structs by pointer, strings and maps by value; they are put into an interface once.
	var given any = v
	if reflect.TypeFor[T]().Kind() == reflect.Struct {
		given = &v
	}
	writer, reader := avro.NewWriter(nil, 4096), avro.NewReader(nil, 0)
	decode := func(data []byte, back *T) error {
		reader.Reset(data).ReadVal(schema, back)
		err := reader.Error
		reader.Error = nil
		return err
	}
	return entry{
		encode: func([]byte) ([]byte, error) {
			writer.Reset(nil)
			writer.WriteVal(schema, given)
			return writer.Buffer(), writer.Error
		},
		decode: func(data []byte) error {
			var back T
			return decode(data, &back)
		},
		verify: func(data []byte) error {
			var back T
			if err := decode(data, &back); err != nil {
				return err
			}
			return same(v, back)
		},
	}
}
