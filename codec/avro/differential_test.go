package avro_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	library "github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/sabir-go/sabir/codec/avro"
)

type line struct {
	Product string  `json:"product" avro:"product"`
	Count   int32   `json:"count" avro:"count"`
	Price   float64 `json:"price" avro:"price"`
}

// order has only what Avro has types for, with the tags of the library.
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

// theirs is order as the library takes it, which has no integers in fixed types.
type theirs struct {
	ID     int64             `avro:"id"`
	Big    [8]byte           `avro:"big"`
	Note   *string           `avro:"note"`
	None   *line             `avro:"none"`
	First  *line             `avro:"first"`
	Lines  []line            `avro:"lines"`
	Tags   map[string]string `avro:"tags"`
	Raw    []byte            `avro:"raw"`
	Hash   [3]byte           `avro:"hash"`
	Small  int8              `avro:"small"`
	Wide   uint32            `avro:"wide"`
	Half   float32           `avro:"half"`
	Paid   bool              `avro:"paid"`
	At     time.Time         `avro:"at"`
	Matrix [][]float64       `avro:"matrix"`
}

func someOfTheirs() theirs {
	o := someOrder()
	t := theirs{o.ID, [8]byte{}, o.Note, o.None, o.First, o.Lines, o.Tags, o.Raw, o.Hash, o.Small, o.Wide, o.Half, o.Paid, o.At, o.Matrix}
	binary.BigEndian.PutUint64(t.Big[:], o.Big)
	return t
}

func parsed(t *testing.T, typ reflect.Type) *library.Schema {
	t.Helper()
	text, err := avro.Schema(typ)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := library.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestTheLibraryReadsTheContainerFileThatAppendWrote(t *testing.T) {
	data, err := avro.Codec.Append(nil, someOrder())
	if err != nil {
		t.Fatal(err)
	}
	file, err := ocf.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var got theirs
	if err := file.Decode(&got); err != nil || !reflect.DeepEqual(got, someOfTheirs()) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, someOfTheirs())
	}
	if err := file.Decode(&got); err != io.EOF {
		t.Errorf("after the one value: %v", err)
	}
}

func TestDecodeReadsAContainerFileThatTheLibraryWrote(t *testing.T) {
	var data bytes.Buffer
	file, err := ocf.NewWriter(&data, parsed(t, reflect.TypeFor[order]()), ocf.WithMetadata(map[string][]byte{"user": []byte("x")}))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(file.Encode(someOfTheirs()), file.Close()); err != nil {
		t.Fatal(err)
	}
	var got order
	if err := avro.Codec.Decode(data.Bytes(), &got); err != nil || !reflect.DeepEqual(got, someOrder()) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, someOrder())
	}
}

func TestSingleObjectsAreThoseOfTheLibraryBothWays(t *testing.T) {
	schema := parsed(t, reflect.TypeFor[order]())
	written, err := schema.AppendSingleObject(nil, someOfTheirs())
	if err != nil {
		t.Fatal(err)
	}
	ours, err := avro.SingleObject.Append(nil, someOrder())
	if err != nil {
		t.Fatal(err)
	}
	var back theirs
	if rest, err := schema.DecodeSingleObject(ours, &back); err != nil || len(rest) > 0 || !reflect.DeepEqual(back, someOfTheirs()) {
		t.Errorf("the library got %+v, %d bytes left, %v", back, len(rest), err)
	}
	var got order
	if err := avro.Codec.Decode(written, &got); err != nil || !reflect.DeepEqual(got, someOrder()) {
		t.Errorf("Decode got %+v, %v from the library's bytes", got, err)
	}
}

// The canonical form leaves out logical types, as the specification says; a library that keeps them gives other fingerprints
// to types with times, which no other language's reader finds.
func TestTheFingerprintIsThatOfTheSpecification(t *testing.T) {
	type event struct {
		At time.Time `json:"at"`
	}
	data, err := avro.SingleObject.Append(nil, event{})
	if err != nil {
		t.Fatal(err)
	}
	h := library.NewRabin()
	h.Write([]byte(`{"name":"Event","type":"record","fields":[{"name":"at","type":"long"}]}`))
	want := binary.LittleEndian.AppendUint64([]byte{0xc3, 0x01}, h.Sum64())
	if !bytes.Equal(data[:10], want) {
		t.Errorf("got %x, want %x", data[:10], want)
	}
}

func TestNamesInASchemaAreResolvedInTheirNamespace(t *testing.T) {
	const text = `{"type":"record","name":"a.b.Outer","fields":[
		{"name":"first","type":{"type":"fixed","name":"Two","size":2}},
		{"name":"second","type":"Two"},
		{"name":"third","type":"a.b.Two"},
		{"name":"more","type":["null","Outer"]}]}`
	var got any
	if err := avro.Codec.Decode(container(text, []byte("aabbcc\x02ddeeff\x00")), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"first": []byte("aa"), "second": []byte("bb"), "third": []byte("cc"),
		"more": map[string]any{"first": []byte("dd"), "second": []byte("ee"), "third": []byte("ff"), "more": nil}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
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
			if err := avro.Codec.Decode(container(tt.schema, []byte(tt.body)), target.Interface()); err != nil {
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
