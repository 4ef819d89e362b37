package avro_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	library "github.com/twmb/avro"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/avro"
)

func ExampleSchema() {
	type order struct {
		ID    string   `json:"id"`
		Total int64    `json:"total"`
		Tags  []string `json:"tags"`
	}
	text, err := avro.Schema(reflect.TypeFor[order]())
	fmt.Println(text, err)
	// Output:
	// {"type":"record","name":"Order","fields":[{"name":"id","type":"string"},{"name":"total","type":"long"},{"name":"tags","type":{"type":"array","items":"string"}}]} <nil>
}

func TestAvroIsRegistered(t *testing.T) {
	c, ok := codec.Lookup("avro")
	if !ok || c.Name() != "avro" {
		t.Fatalf("Lookup(%q) = %v, %v", "avro", c, ok)
	}
}

func TestASingleObjectOfAnotherSchemaIsReadOnceTheSchemaIsKnown(t *testing.T) {
	type written struct {
		A int32
		B string
	}
	type read struct {
		B string
		A int64
	}
	data, err := avro.SingleObject.Append(nil, written{1, "b"})
	if err != nil {
		t.Fatal(err)
	}
	var got read
	if err := avro.Codec.Decode(data, &got); err == nil || !strings.Contains(err.Error(), "AddSchema") {
		t.Fatalf("before: %+v, %v", got, err)
	}
	text, err := avro.Schema(reflect.TypeFor[written]())
	if err != nil {
		t.Fatal(err)
	}
	if err := avro.AddSchema(text); err != nil {
		t.Fatal(err)
	}
	if err := avro.Codec.Decode(data, &got); err != nil || got != (read{"b", 1}) {
		t.Errorf("after: %+v, %v", got, err)
	}
}

func TestTextsThatAreNoSchemaAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "{", "an unknown type": `"decimal"`, "no fields": `{"type":"record","name":"A"}`, "a number": "1",
		"too deep": strings.Repeat(`{"type":"array","items":`, 129) + `"int"` + strings.Repeat("}", 129),
		"too long": `{"type":"record","name":"` + strings.Repeat("A", 70_000) + `","fields":[]}`,
	} {
		err := avro.AddSchema(text)
		if _, ok := errors.AsType[*codec.Error](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTimesAreRoundedDownToMicrosecondsAndComeBackInUTC(t *testing.T) {
	sent := time.Date(2024, 1, 2, 3, 4, 5, 6789, time.FixedZone("", 3600))
	data, err := avro.Codec.Append(nil, sent)
	if err != nil {
		t.Fatal(err)
	}
	var got time.Time
	if err := avro.Codec.Decode(data, &got); err != nil || !got.Equal(sent.Truncate(time.Microsecond)) || got.Location() != time.UTC {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestATimeBeyondSixtyFourBitsOfMicrosecondsIsRefused(t *testing.T) {
	for _, year := range []int{-300_000, 300_000} {
		if data, err := avro.Codec.Append(nil, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)); err == nil || !strings.Contains(err.Error(), "timestamp-micros") {
			t.Errorf("the year %d: %x, %v", year, data, err)
		}
	}
	for _, micros := range []int64{math.MinInt64, math.MaxInt64} {
		var back time.Time
		if data, err := avro.Codec.Append(nil, time.UnixMicro(micros)); err != nil || avro.Codec.Decode(data, &back) != nil || back.UnixMicro() != micros {
			t.Errorf("%d came back as %v, %v", micros, back, err)
		}
	}
}

func TestAnAvroTagNamesAFieldAndSkipsOne(t *testing.T) {
	type tagged struct {
		A int64 `json:"a" avro:"first"`
		B int64 `avro:"-"`
		C int64 `json:"c-d"`
	}
	text, err := avro.Schema(reflect.TypeFor[tagged]())
	want := `{"type":"record","name":"Tagged","fields":[{"name":"first","type":"long"},{"name":"c_d","type":"long"}]}`
	if err != nil || text != want {
		t.Errorf("got  %s, %v\nwant %s", text, err, want)
	}
}

func TestFieldsThatAvroCannotTellApartAreRefused(t *testing.T) {
	type twins struct {
		A int `json:"a-b"`
		B int `json:"a_b"`
	}
	if _, err := avro.Codec.Append(nil, twins{}); err == nil || !strings.Contains(err.Error(), `both named "a_b"`) {
		t.Errorf("got %v", err)
	}
}

func TestAnErrorSaysWhereAndWhat(t *testing.T) {
	type writer struct{ Lines []struct{ Count string } }
	type reader struct{ Lines []struct{ Count int } }
	data, err := avro.Codec.Append(nil, writer{Lines: []struct{ Count string }{{"a"}}})
	if err != nil {
		t.Fatal(err)
	}
	err = avro.Codec.Decode(data, new(reader))
	if want := "avro: at /Lines/0/Count: want what fits int, got Avro's string"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestWhatIsWrittenInDepthIsReadAndSkipped(t *testing.T) {
	type holder struct{ Any any }
	type other struct{ X int }
	value := func(levels int) holder {
		var v any = "end"
		for range levels {
			v = []any{v}
		}
		return holder{v}
	}
	deepest := 0
	for levels := 1; levels < 200; levels++ {
		data, err := avro.Codec.Append(nil, value(levels))
		if err != nil {
			break
		}
		deepest = levels
		var got holder
		if err := avro.Codec.Decode(data, &got); err != nil {
			t.Fatalf("%d levels cannot be read: %v", levels, err)
		}
		if err := avro.Codec.Decode(data, new(other)); err != nil {
			t.Fatalf("%d levels cannot be skipped: %v", levels, err)
		}
	}
	if deepest < 100 || deepest > 128 {
		t.Errorf("the deepest list that is written has %d levels", deepest)
	}
}

// Each record holds two of the next, so 60 of them have 2^60 values that take no bytes at all.
func TestSchemasWhoseValuesDoubleWithEachLevelAreRefusedQuickly(t *testing.T) {
	var schema strings.Builder
	for i := range 60 {
		fmt.Fprintf(&schema, `{"type":"record","name":"R%d","fields":[{"name":"a","type":`, i)
	}
	schema.WriteString(`"null"`)
	for i := 59; i >= 0; i-- {
		second := `"null"`
		if i < 59 {
			second = fmt.Sprintf(`"R%d"`, i+1)
		}
		fmt.Fprintf(&schema, `},{"name":"b","type":%s}]}`, second)
	}
	for _, target := range []any{new(any), new(struct{ X int }), new(struct{ A, B any }), new([]struct{}), new(string)} {
		if err := avro.Codec.Decode(container(schema.String(), nil), target); err == nil {
			t.Errorf("decoded into %T", target)
		}
	}
	list := container(`{"type":"array","items":"null"}`, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01})
	if err := avro.Codec.Decode(list, new(any)); err == nil {
		t.Error("a list of 2^62 nulls was decoded")
	}
}

// A value without content takes memory, but no bytes of the message.
func TestListsOfValuesWithoutContentTakeMemoryInProportion(t *testing.T) {
	type wide struct{ A, B, C, D, E, F, G, H string }
	for _, items := range []string{
		`"null"`, `{"type":"fixed","name":"F","size":0}`, `{"type":"record","name":"A","fields":[]}`,
		`{"type":"record","name":"A","fields":[{"name":"a","type":"null"}]}`,
		`{"type":"record","name":"A","fields":[{"name":"a","type":{"type":"record","name":"B","fields":[{"name":"a","type":"null"}]}}]}`,
		`{"type":"record","name":"A","fields":[{"name":"key","type":{"type":"record","name":"B","fields":[]}},{"name":"value","type":"null"}]}`,
	} {
		schema := fmt.Sprintf(`{"type":"array","items":%s}%s`, items, strings.Repeat(" ", 10_000))
		for _, target := range []func() any{
			func() any { return new(any) }, func() any { return new([]any) }, func() any { return new([]wide) }, func() any { return new([]*wide) },
			func() any { return new([]struct{}) }, func() any { return new(map[struct{}]*wide) },
		} {
			for count := 1 << 8; count <= 1<<18; count *= 2 {
				data := container(schema, append(binary.AppendVarint(nil, int64(count)), 0))
				into := target()
				avro.Codec.Decode(data, into) // the schema is known now
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err := avro.Codec.Decode(data, into)
				runtime.ReadMemStats(&after)
				if taken := after.TotalAlloc - before.TotalAlloc; taken > uint64(256<<10+640*len(data)) {
					t.Errorf("%d of %s into a %T: %d bytes of data took %d bytes, %v", count, items, into, len(data), taken, err)
				}
			}
		}
	}
}

func TestRecordsThatHoldThemselvesAreRefused(t *testing.T) {
	type a struct{ A *a }
	for _, schema := range []string{
		`{"type":"record","name":"A","fields":[{"name":"A","type":"A"}]}`,
		`{"type":"record","name":"Any","fields":[{"name":"value","type":"Any"}]}`,
		`{"type":"record","name":"Any","fields":[{"name":"value","type":["Any"]}]}`,
	} {
		for _, target := range []any{new(any), new(a), new(struct{ X int })} {
			if err := avro.Codec.Decode(container(schema, make([]byte, 1<<20)), target); err == nil {
				t.Errorf("%s was decoded into %T", schema, target)
			}
		}
	}
}

// Schemas of other writers are remembered, but not without end; whichever are, messages are read.
func TestManyWritersAreRead(t *testing.T) {
	for i := range 300 {
		schema := fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"count","type":"int"}]}`, i)
		var got line
		if err := avro.Codec.Decode(container(schema, []byte{6}), &got); err != nil || got.Count != 3 {
			t.Fatalf("writer %d: %+v, %v", i, got, err)
		}
	}
}

func FuzzForeignSchemas(f *testing.F) {
	for _, seed := range []string{`"int"`, `["null","string"]`, `{"type":"array","items":"int"}`, `{"type":"map","values":["null","double"]}`,
		`{"type":"record","name":"A","fields":[{"name":"count","type":"long"},{"name":"next","type":["null","A"]}]}`,
		`{"type":"fixed","name":"F","size":3}`, `{"type":"enum","name":"E","symbols":["A"]}`, `{"type":"long","logicalType":"timestamp-micros"}`} {
		f.Add(seed, []byte{2, 2, 'a', 0, 0, 0, 0, 0})
	}
	f.Fuzz(func(t *testing.T, schema string, body []byte) {
		for _, target := range []any{new(any), new(line), new([]int), new(map[string]string), new(*string), new(time.Time), new([3]byte)} {
			err := avro.Codec.Decode(container(schema, body), target)
			if _, ok := errors.AsType[*codec.Error](err); err != nil && !ok {
				t.Errorf("a %T: %v", err, err)
			}
		}
	})
}

func Example_append() {
	type version1 struct {
		ID    int32  `json:"id"`
		Owner string `json:"owner"`
	}
	type version2 struct {
		Tags []string `json:"tags"`
		ID   int64    `json:"id"`
	}
	data, err := avro.Codec.Append(nil, version1{7, "Ada"})
	if err != nil {
		fmt.Println(err)
	}
	var got version2
	err = avro.Codec.Decode(data, &got)
	fmt.Println(got, err)

	var anything any
	err = avro.Codec.Decode(data, &anything)
	fmt.Println(anything, err)
	// Output:
	// {[] 7} <nil>
	// map[id:7 owner:Ada] <nil>
}

// The library encodes and decodes the same Go value by its own codecs, without a schema around it.
func BenchmarkAgainstTheLibrary(b *testing.B) {
	c, value := avro.SingleObject, someOrder()
	text, err := avro.Schema(reflect.TypeFor[order]())
	if err != nil {
		b.Fatal(err)
	}
	schema, theirs := library.MustParse(text), someOfTheirs()
	data, err := c.Append(nil, &value)
	if err != nil {
		b.Fatal(err)
	}
	buffer := make([]byte, 0, 1024)
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.Append(buffer, &value); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library append", func(b *testing.B) {
		for b.Loop() {
			if _, err := schema.AppendEncode(buffer, &theirs); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if err := c.Decode(data, new(order)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library decode", func(b *testing.B) {
		for b.Loop() {
			back := theirs
			if _, err := schema.Decode(data[10:], &back); err != nil {
				b.Fatal(err)
			}
		}
	})
}
