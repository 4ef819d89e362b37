package avro_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	hamba "github.com/hamba/avro/v2"

	"github.com/sabir-go/sabir/codec/avro"
)

type line struct {
	Product string  `json:"product" avro:"product"`
	Count   int32   `json:"count" avro:"count"`
	Price   float64 `json:"price" avro:"price"`
}

// order has only what the library handles by itself, with its tags.
type order struct {
	ID     int64             `json:"id" avro:"id"`
	Big    uint64            `json:"big" avro:"big"`
	Note   *string           `json:"note" avro:"note"`
	None   *line             `json:"none" avro:"none"`
	First  *line             `json:"first" avro:"first"`
	Lines  []line            `json:"lines" avro:"lines"`
	Tags   map[string]string `json:"tags" avro:"tags"`
	Raw    []byte            `json:"raw" avro:"raw"`
	Hash   [3]byte           `json:"hash" avro:"hash"`
	Small  int8              `json:"small" avro:"small"`
	Wide   uint32            `json:"wide" avro:"wide"`
	Half   float32           `json:"half" avro:"half"`
	Paid   bool              `json:"paid" avro:"paid"`
	At     time.Time         `json:"at" avro:"at"`
	Matrix [][]float64       `json:"matrix" avro:"matrix"`
}

func someOrder() order {
	note := "żółw"
	return order{-7, 1 << 63, &note, nil, &line{"tea", -3, 2.5}, []line{{"a", 1, 0.1}, {}}, map[string]string{"k": "v"}, []byte{0, 255},
		[3]byte{1, 2, 3}, -128, 1 << 31, 0.5, true, time.UnixMicro(-12_345_678).UTC(), [][]float64{{1, 2}, {}}}
}

func parsed(t *testing.T, typ reflect.Type) hamba.Schema {
	t.Helper()
	text, err := avro.Schema(typ)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := hamba.ParseWithCache(text, "", &hamba.SchemaCache{})
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// head is the head of a container file in the words of the specification.
type head struct {
	Magic [4]byte           `avro:"magic"`
	Meta  map[string][]byte `avro:"meta"`
	Sync  [16]byte          `avro:"sync"`
}

var headSchema = hamba.MustParse(`{"type":"record","name":"org.apache.avro.file.Header","fields":[
	{"name":"magic","type":{"type":"fixed","name":"Magic","size":4}},
	{"name":"meta","type":{"type":"map","values":"bytes"}},
	{"name":"sync","type":{"type":"fixed","name":"Sync","size":16}}]}`)

func TestTheLibraryReadsTheContainerFileThatAppendWrote(t *testing.T) {
	data, err := avro.Append(nil, someOrder())
	if err != nil {
		t.Fatal(err)
	}
	file := hamba.NewReader(nil, 0).Reset(data)
	var h head
	file.ReadVal(headSchema, &h)
	schema, err := hamba.ParseWithCache(string(h.Meta["avro.schema"]), "", &hamba.SchemaCache{})
	if err != nil {
		t.Fatal(err)
	}
	count, _ := file.ReadLong(), file.ReadLong()
	var got order
	file.ReadVal(schema, &got)
	var end [16]byte
	file.Read(end[:])
	if file.Error != nil || string(h.Magic[:]) != "Obj\x01" || count != 1 || end != h.Sync || !reflect.DeepEqual(got, someOrder()) {
		t.Errorf("%q, %d values, marker %x and %x, %v\ngot  %+v\nwant %+v", h.Magic, count, h.Sync, end, file.Error, got, someOrder())
	}
}

func TestDecodeReadsAContainerFileThatTheLibraryWrote(t *testing.T) {
	schema := parsed(t, reflect.TypeFor[order]())
	text, err := avro.Schema(reflect.TypeFor[order]())
	if err != nil {
		t.Fatal(err)
	}
	body, err := hamba.Marshal(schema, someOrder())
	if err != nil {
		t.Fatal(err)
	}
	h := head{Magic: [4]byte{'O', 'b', 'j', 1}, Sync: [16]byte{1, 2, 3},
		Meta: map[string][]byte{"avro.schema": []byte(text), "avro.codec": []byte("null"), "user": []byte("x")}}
	file := hamba.NewWriter(nil, 1024)
	file.WriteVal(headSchema, h)
	file.WriteLong(1)
	file.WriteBytes(body)
	if _, err := file.Write(h.Sync[:]); err != nil || file.Error != nil {
		t.Fatal(err, file.Error)
	}
	var got order
	if err := avro.Decode(file.Buffer(), &got); err != nil || !reflect.DeepEqual(got, someOrder()) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, someOrder())
	}
}

func TestBodiesAreThoseOfTheLibraryBothWays(t *testing.T) {
	schema := parsed(t, reflect.TypeFor[order]())
	theirs, err := hamba.Marshal(schema, someOrder())
	if err != nil {
		t.Fatal(err)
	}
	ours, err := avro.New(avro.Fingerprint()).Append(nil, someOrder())
	if err != nil {
		t.Fatal(err)
	}
	const head = 10
	var back order
	if err := hamba.Unmarshal(schema, ours[head:], &back); err != nil || !reflect.DeepEqual(back, someOrder()) {
		t.Errorf("the library got %+v, %v", back, err)
	}
	var got order
	if err := avro.Decode(append(bytes.Clone(ours[:head]), theirs...), &got); err != nil || !reflect.DeepEqual(got, someOrder()) {
		t.Errorf("Decode got %+v, %v from the library's bytes, in which arrays say how many bytes they have", got, err)
	}
}

func TestTheFingerprintIsThatOfTheSpecification(t *testing.T) {
	data, err := avro.New(avro.Fingerprint()).Append(nil, someOrder())
	if err != nil {
		t.Fatal(err)
	}
	want, err := parsed(t, reflect.TypeFor[order]()).FingerprintUsing(hamba.CRC64AvroLE)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data[:10], append([]byte{0xc3, 0x01}, want...)) {
		t.Errorf("got %x, want c301%x", data[:10], want)
	}
}

// container makes a container file of a schema and a body as another program might.
func container(schema string, body []byte) []byte {
	long := func(n int) []byte {
		var out []byte
		for u := uint64(n) << 1; ; u >>= 7 {
			if u < 0x80 {
				return append(out, byte(u))
			}
			out = append(out, byte(u)|0x80)
		}
	}
	marker := strings.Repeat("m", 16)
	return []byte("Obj\x01" + string(long(1)) + string(long(11)) + "avro.schema" + string(long(len(schema))) + schema + "\x00" + marker +
		string(long(1)) + string(long(len(body))) + string(body) + marker)
}

func TestForeignSchemasAreReadByTheRulesOfTheSpecification(t *testing.T) {
	for _, tt := range []struct {
		name, schema string
		body         string
		want         any // its type is the target's
	}{
		{"int to long", `"int"`, "\x05", int64(-3)},
		{"int to float", `"int"`, "\x05", float32(-3)},
		{"long to double", `"long"`, "\x05", float64(-3)},
		{"float to double", `"float"`, "\x00\x00\xc0\x3f", 1.5},
		{"bytes to string", `"bytes"`, "\x02a", "a"},
		{"string to bytes", `"string"`, "\x02a", []byte("a")},
		{"enum to string", `{"type":"enum","name":"E","symbols":["A","B"]}`, "\x02", "B"},
		{"fixed to bytes", `{"type":"fixed","name":"F","size":2}`, "ab", []byte("ab")},
		{"a value to a pointer", `"int"`, "\x04", new(int)},
		{"a union to a value", `["null","string"]`, "\x02\x02a", "a"},
		{"a union of three", `["int","null","string"]`, "\x04\x02a", "a"},
		{"null to a slice", `"null"`, "", []int(nil)},
		{"blocks with their bytes", `{"type":"array","items":"int"}`, "\x03\x04\x02\x04\x02\x06\x00", []int{1, 2, 3}},
		{"a map in two blocks", `{"type":"map","values":"int"}`, "\x02\x02a\x02\x02\x02b\x04\x00", map[string]int{"a": 1, "b": 2}},
		{"milliseconds", `{"type":"long","logicalType":"timestamp-millis"}`, "\x02", time.UnixMilli(1).UTC()},
		{"a record of another name", `{"type":"record","name":"X","fields":[{"name":"more","type":{"type":"array","items":["null","string"]}},{"name":"count","type":"int"}]}`,
			"\x04\x00\x02\x02a\x00\x06", line{Count: 3}},
		{"anything to any", `{"type":"record","name":"X","fields":[{"name":"a","type":["null","int"]},{"name":"b","type":{"type":"map","values":"float"}}]}`,
			"\x02\x06\x02\x02k\x00\x00\xc0\x3f\x00", map[string]any{"a": int64(3), "b": map[string]any{"k": 1.5}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := reflect.New(reflect.TypeOf(tt.want))
			if _, dynamic := tt.want.(map[string]any); dynamic {
				target = reflect.ValueOf(new(any))
			}
			if err := avro.Decode(container(tt.schema, []byte(tt.body)), target.Interface()); err != nil {
				t.Fatal(err)
			}
			got := target.Elem().Interface()
			if p, ok := tt.want.(*int); ok {
				*p = 2
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %#v, want %#v", got, tt.want)
			}
		})
	}
}
