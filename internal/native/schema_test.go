package native_test

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/native"
)

func TestASchemaComesBackFromItsBytes(t *testing.T) {
	for _, s := range []*native.Schema{
		native.For[everything]().Schema(), native.For[nested]().Schema(), native.For[tree]().Schema(), native.For[int]().Schema(),
		native.For[list]().Schema(), native.For[page[map[string]item]]().Schema(),
	} {
		got, err := native.ParseSchema(s.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if got.Hash() != s.Hash() || string(got.Bytes()) != string(s.Bytes()) {
			t.Errorf("got %s %x\nwant %s %x", got.Hash(), got.Bytes(), s.Hash(), s.Bytes())
		}
	}
}

func TestSchemaOfIsTheSchemaOfTheType(t *testing.T) {
	s, err := native.SchemaOf(reflect.TypeFor[item]())
	if err != nil || s.Hash() != native.For[item]().Schema().Hash() {
		t.Errorf("got %v, %v", s, err)
	}
	for _, bad := range []reflect.Type{nil, reflect.TypeFor[func()]()} {
		if _, err := native.SchemaOf(bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestBadSchemasAreRefused(t *testing.T) {
	tests := []struct{ name, hex, want string }{
		{"nothing", "", "ends inside"},
		{"another version", "02 05 00", "version 2"},
		{"no kind", "01 00 00", "type 0"},
		{"a kind with parts as a root", "01 14 00", "type 20"},
		{"a definition that is not there", "01 20 00", "type 32"},
		{"more definitions than bytes", "01 20 7f 14 05", "larger than the schema"},
		{"a definition of a number", "01 20 01 05 05", "no parts"},
		{"an empty field name", "01 20 01 18 00 01 00 05", "empty or used twice"},
		{"a field name twice", "01 20 01 18 00 02 01 61 05 01 61 05", "empty or used twice"},
		{"a long name", "01 20 01 18 80 02 61 61", "255 bytes"},
		{"too many fields", "01 20 01 18 00 7f 01 61 05", "larger than the schema"},
		{"a struct in itself", "01 20 01 18 00 01 01 61 20", "contains itself"},
		{"an array of itself", "01 20 01 16 02 20", "contains itself"},
		{"a huge array", "01 20 01 16 ffffffffff01 05", "at most 2147483647"},
		{"bytes left over", "01 05 00 00", "after the end"},
	}
	for _, tt := range tests {
		raw, err := hex.DecodeString(strings.ReplaceAll(tt.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := native.ParseSchema(raw); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := native.ParseSchema(make([]byte, 64<<10+1)); err == nil {
		t.Error("a schema of more than 64 KiB was accepted")
	}
}

// chain is the schema of structs that each hold the next one twice.
func chain(levels int) []byte {
	data := []byte{1, 32, byte(levels)}
	if levels >= 0x80 {
		data = []byte{1, 32, byte(levels) | 0x80, byte(levels >> 7)}
	}
	ref := func(v int) []byte {
		if v < 0x80 {
			return []byte{byte(v)}
		}
		return []byte{byte(v) | 0x80, byte(v >> 7)}
	}
	for i := range levels {
		next := ref(33 + i)
		if i == levels-1 {
			next = []byte{14} // a string
		}
		data = append(append(append(append(data, 24, 0, 2, 1, 'a'), next...), 1, 'b'), next...)
	}
	return data
}

func TestStructsByValueNestTo128(t *testing.T) {
	if _, err := native.ParseSchema(chain(128)); err != nil {
		t.Errorf("128: %v", err)
	}
	if _, err := native.ParseSchema(chain(129)); err == nil || !strings.Contains(err.Error(), "128") {
		t.Errorf("129: got %v", err)
	}
}

// The schema stands for 2^128 strings. Neither resolving nor skipping may try them all.
func TestASchemaCannotMakeWorkOutOfProportion(t *testing.T) {
	schema, err := native.ParseSchema(chain(128))
	if err != nil {
		t.Fatal(err)
	}
	type reader struct {
		C string
		A struct{} `json:"a"`
	}
	typ, err := native.For[reader]().From(schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := typ.Decode(make([]byte, 10000), new(reader)); err == nil {
		t.Error("10000 bytes passed for 2^128 strings")
	}
}

func TestKnownSchemasAreBounded(t *testing.T) {
	base := native.For[struct{ Bounded int }]().Schema()
	if err := native.AddSchema(base); err != nil {
		t.Fatal(err)
	}
	var err error
	for i := 0; err == nil && i <= 1024; i++ {
		// An array of i bytes: one schema for each i.
		s, parseErr := native.ParseSchema([]byte{1, 32, 1, 22, byte(i) | 0x80, byte(i>>7) | 0x80, 1, 6})
		if parseErr != nil {
			t.Fatal(parseErr)
		}
		err = native.AddSchema(s)
	}
	if err == nil || !strings.Contains(err.Error(), "no more are kept") {
		t.Errorf("got %v", err)
	}
	if err := native.AddSchema(base); err != nil {
		t.Errorf("a known schema is refused: %v", err)
	}
	if native.AddSchema(nil) == nil {
		t.Error("a nil schema was added")
	}
	native.ForgetSchemas()
}

// "secret" in a sabir tag sets how a field is shown. As a name it would put one secret of the writer into another of the reader.
func TestSecretIsNoNameOfAField(t *testing.T) {
	type account struct {
		Password string `json:"password" sabir:"secret"`
		Pin      string `json:"pin" sabir:",secret"`
		Token    string `sabir:"secret,alias=key"`
		Code     string `sabir:"c, secret"`
		Hidden   string `json:"-" sabir:"secret"`
	}
	schema, err := native.SchemaOf(reflect.TypeFor[account]())
	if err != nil {
		t.Fatal(err)
	}
	data, err := native.Codec().Append(nil, account{"a", "b", "c", "d", "e"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := schema.AppendJSON(nil, data[8:])
	if want := `{"password":"a","pin":"b","Token":"c","c":"d"}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
}

func TestOfTwoFieldsAtOneDepthTheTaggedOneCounts(t *testing.T) {
	type tagged struct {
		ID string `json:"Name"`
	}
	type plain struct{ Name string }
	type both struct {
		plain
		tagged
	}
	data, err := native.Codec().Append(nil, both{plain{"x"}, tagged{"y"}})
	if err != nil {
		t.Fatal(err)
	}
	var got both
	if err := native.Codec().Decode(data, &got); err != nil || got != (both{tagged: tagged{"y"}}) {
		t.Errorf("got %+v, %v", got, err)
	}
}
