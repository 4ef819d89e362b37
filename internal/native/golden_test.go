package native_test

import (
	"bufio"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/native"
)

var addGolden = flag.Bool("add-golden", false, "append vectors for new cases; those that are there never change")

const goldenFile = "testdata/golden.txt"

// golden is one value whose bytes are frozen.
type golden struct {
	name  string
	value any // a pointer
}

type goldenFields struct {
	A int8
	B *uint16 `json:"bee"`
	C []string
	D map[string]int32
	E any
}

func goldenCases() []golden {
	b := uint16(300)
	return []golden{
		{"bool", new(true)}, {"int8", new(int8(-1))}, {"int16", new(int16(-300))}, {"int32", new(int32(1 << 20))},
		{"int", new(-1)}, {"int64", new(int64(-1 << 63))}, {"uint8", new(uint8(200))}, {"uint64", new(uint64(1<<64 - 1))},
		{"float32", new(float32(1.5))}, {"float64", new(-2.25)}, {"complex64", new(complex64(1 + 2i))},
		{"complex128", new(1 - 2i)}, {"string", new("Ergo Framework")}, {"bytes", new([]byte{1, 2})},
		{"nil-bytes", new([]byte(nil))}, {"empty-bytes", new([]byte{})},
		{"time-utc", new(time.Unix(1700000000, 5).UTC())}, {"time-zone", new(time.Unix(-1, 0).In(time.FixedZone("", 7200)))},
		{"duration", new(time.Second)}, {"array", new([2]int16{1, -1})}, {"byte-array", new([3]byte{1, 2, 3})},
		{"slice", new([]uint32{1, 1 << 31})}, {"nil-slice", new([]uint32(nil))}, {"empty-slice", new([]uint32{})},
		{"no-content", new([]struct{}{{}, {}})}, {"map", new(map[string]int{"a": 1})}, {"pointer", new(new("x"))},
		{"nil-pointer", new((*string)(nil))}, {"text", new([]money{{5}})}, {"interface", new([]any{"x", nil, 7})},
		{"pid", &pid{"demo@127.0.0.1", 312, 2}},
		{"struct", &goldenFields{-1, &b, []string{"x", ""}, map[string]int32{"k": -3}, true}},
		{"recursive", &page[string]{[]string{"a"}, &page[string]{}}},
	}
}

// The vectors are the format: a change that breaks them breaks every program that is out there. New cases are added with
//
//	go test -run Golden -add-golden
func TestGoldenVectorsDoNotChange(t *testing.T) {
	frozen := readGolden(t)
	for _, g := range goldenCases() {
		want, ok := frozen[g.name]
		if !ok {
			if *addGolden {
				appendGolden(t, g)
				continue
			}
			t.Errorf("%s: no vector in %s", g.name, goldenFile)
			continue
		}
		got := vector(t, g)
		if got != want {
			t.Errorf("%s: the format changed\ngot  %v\nwant %v", g.name, got, want)
		}
		message, err := hex.DecodeString(want.message)
		if err != nil {
			t.Fatal(err)
		}
		back := reflect.New(reflect.TypeOf(g.value).Elem()).Interface()
		if err := native.Decode(message, back); err != nil {
			t.Errorf("%s: %v", g.name, err)
			continue
		}
		if !reflect.DeepEqual(back, g.value) {
			t.Errorf("%s: got %#v, want %#v", g.name, back, g.value)
		}
		delete(frozen, g.name)
	}
	for name := range frozen {
		t.Errorf("%s: a vector without a case", name)
	}
}

// frozenVector is the schema and the message, hash included, in hexadecimal.
type frozenVector struct{ schema, message string }

func vector(t *testing.T, g golden) frozenVector {
	t.Helper()
	schema, err := native.SchemaOf(reflect.TypeOf(g.value).Elem())
	if err != nil {
		t.Fatal(err)
	}
	message, err := native.Append(nil, g.value)
	if err != nil {
		t.Fatal(err)
	}
	return frozenVector{hex.EncodeToString(schema.Bytes()), hex.EncodeToString(message)}
}

func readGolden(t *testing.T) map[string]frozenVector {
	t.Helper()
	file, err := os.Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := make(map[string]frozenVector)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		parts := strings.Fields(lines.Text())
		if len(parts) == 3 && parts[0] != "#" {
			all[parts[0]] = frozenVector{parts[1], parts[2]}
		}
	}
	return all
}

func appendGolden(t *testing.T, g golden) {
	t.Helper()
	file, err := os.OpenFile(goldenFile, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	v := vector(t, g)
	if _, err := fmt.Fprintln(file, g.name, v.schema, v.message); err != nil {
		t.Fatal(err)
	}
}
