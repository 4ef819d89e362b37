package schema_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/schema"
)

// field makes a struct type with one field, "f", of type T and with a validate tag.
func field[T any](tags string) reflect.Type {
	return fieldNamed[T](`json:"f"`, tags)
}

func fieldNamed[T any](jsonTag, tags string) reflect.Type {
	if tags != "" {
		tags = ` validate:"` + tags + `"`
	}
	return reflect.StructOf([]reflect.StructField{{Name: "F", Type: reflect.TypeFor[T](), Tag: reflect.StructTag(jsonTag + tags)}})
}

type Inner struct {
	Name string `json:"name" validate:"required"`
	Age  int    `json:"age" validate:"max=150"`
}

type loose struct {
	Name string `json:"name"`
}

type withPointer struct {
	*Inner
	B bool `json:"b"`
}

type withEmbedded struct {
	Inner
	B bool `json:"b"`
}

type filled struct {
	Size int `json:"size" default:"20" validate:"min=1,max=100"`
}

type withFilled struct {
	filled
	B bool `json:"b"`
}

type labels map[string]string

// verdicts are types with texts of their field, or whole texts where those begin with "=". The codec and the validator
// decide what is right; the schema has to agree.
var verdicts = []struct {
	typ     reflect.Type
	texts   string // separated by blanks
	looser  string // refused by the checker, accepted by the schema: what JSON Schema cannot express
	tighter string // accepted by the checker, refused by the schema: null, and what is written in no such way
}{
	{typ: field[string](""), texts: `"" "x" 1 true [] {} ={}`, tighter: `null`},
	{typ: field[string]("required"), texts: `"" "x" null ={}`},
	{typ: field[string]("min=2,max=3"), texts: `"" "a" "ab" "äöü" "🙂🙂🙂" "abcd" null ={}`},
	{typ: field[string]("omitempty,min=2"), texts: `"" "a" "ab" ={}`, tighter: `null`},
	{typ: fieldNamed[string](`json:"f,omitempty"`, "omitempty,min=2"), texts: `"a" "ab" ={}`, tighter: `"" null`},
	{typ: field[string]("max=0"), texts: `"" "a" ={}`, tighter: `null`},
	{typ: field[string]("max=-1"), texts: `"" "a" null ={}`},
	{typ: field[string]("len=2"), texts: `"" "ab" "abc" ={}`},
	{typ: field[string]("gt=1,lt=4"), texts: `"a" "ab" "abc" "abcd"`},
	{typ: field[string]("gte=1,lte=2"), texts: `"" "a" "ab" "abc"`},
	{typ: field[string]("eq=a"), texts: `"a" "b" "" ={}`},
	{typ: field[string]("ne=a"), texts: `"a" "b" "" ={}`},
	{typ: field[string]("ne=a,ne=b"), texts: `"a" "b" "c"`},
	{typ: field[string]("required,ne=a"), texts: `"a" "b" "" ={}`},
	{typ: field[string]("oneof=a 'b c' d"), texts: `"a" "b" "b\u0020c" "" ={}`},
	{typ: field[string]("omitempty,oneof=a b"), texts: `"a" "b" "" "c" ={}`},
	{typ: fieldNamed[string](`json:"f,omitempty"`, "omitempty,oneof=a b"), texts: `"a" "c" ={}`, tighter: `""`},
	{typ: field[string]("required,oneof=a ''"), texts: `"a" "" ={}`},
	{typ: field[string]("noneof=a b"), texts: `"a" "c" ""`},
	{typ: field[string]("omitempty,eq=a"), texts: `"a" "" "b"`},
	{typ: field[string]("isdefault"), texts: `"" "a" ={}`},
	{typ: field[string]("eq=a|eq=b"), texts: `"a" "b" "c" "" ={}`},
	{typ: field[string]("email|len=3"), texts: `"a@b.cd" "abc" "ab" ={}`},
	{typ: field[string]("omitempty,email|uuid"), texts: `"a@b.cd" "" "ab" ={}`},

	{typ: field[string]("email"), texts: `"ada@example.org" "ada@" "example.org" "" ={}`},
	{typ: field[string]("omitempty,email"), texts: `"ada@example.org" "ada@" "" ={}`},
	{typ: field[string]("url"), texts: `"https://example.org/a?b=c#d" "mailto:a@b.c" "example.org" "/a" "" ={}`},
	{typ: field[string]("http_url"), texts: `"http://a.b" "HTTPS://a.b/c" "ftp://a.b" ""`},
	{typ: field[string]("https_url"), texts: `"http://a.b" "https://a.b/c" ""`},
	{typ: field[string]("uri"), texts: `"https://a.b/c" "/a/b"`, looser: `"" "a"`},
	{typ: field[string]("uuid"), texts: `"01890a5d-ac96-774b-bcce-b302099a8057" "01890A5D-AC96-774B-BCCE-B302099A8057" "01890a5dac96774bbcceb302099a8057" "" ={}`},
	{typ: field[string]("uuid4"), texts: `"9b2e3c1a-5f3d-4c1e-8a2b-0123456789ab" "9b2e3c1a-5f3d-5c1e-8a2b-0123456789ab" "9B2E3C1A-5F3D-4C1E-8A2B-0123456789AB" ""`},
	{typ: field[string]("uuid3"), texts: `"9b2e3c1a-5f3d-3c1e-0a2b-0123456789ab" "9b2e3c1a-5f3d-5c1e-8a2b-0123456789ab" ""`},
	{typ: field[string]("uuid5"), texts: `"9b2e3c1a-5f3d-5c1e-8a2b-0123456789ab" "9b2e3c1a-5f3d-4c1e-8a2b-0123456789ab" ""`},
	{typ: field[string]("uuid7"), texts: `"01890a5d-ac96-774b-bcce-b302099a8057" "01890a5d-ac96-474b-bcce-b302099a8057" ""`},
	{typ: field[string]("uuid4_rfc4122"), texts: `"9B2E3C1A-5F3D-4C1E-8A2B-0123456789AB" "9b2e3c1a-5f3d-5c1e-8a2b-0123456789ab" ""`},
	{typ: field[string]("ulid"), texts: `"01ARZ3NDEKTSV4RRFFQ69G5FAV" "01arz3ndektsv4rrffq69g5fav" "91ARZ3NDEKTSV4RRFFQ69G5FAV" "01ARZ3NDEKTSV4RRFFQ69G5FAU" ""`},
	{typ: field[string]("ip"), texts: `"1.2.3.4" "fe80::1" "1.2.3" "x" ""`},
	{typ: field[string]("ipv4"), texts: `"1.2.3.4" "fe80::1" "1.2.3" "1.2.3.256" ""`},
	{typ: field[string]("ipv6"), texts: `"1.2.3.4" "fe80::1" "::" "1:2" ""`},
	{typ: field[string]("cidr"), texts: `"1.2.3.4/24" "fe80::/10" "1.2.3.4" "fe80::/129" ""`, looser: `"1.2.3.4/33" "::::/1"`},
	{typ: field[string]("cidrv4"), texts: `"1.2.3.0/24" "fe80::/10" "1.2.3.4" "1.2.3.0/33" "1.2.3.256/8" ""`, looser: `"1.2.3.4/24"`},
	{typ: field[string]("cidrv6"), texts: `"1.2.3.0/24" "fe80::/10" "fe80::/200" "fe80::" ""`},
	{typ: field[string]("hostname"), texts: `"example.org" "a-b" "1a" "-a" "a_b" "a..b" ""`},
	{typ: field[string]("hostname_rfc1123"), texts: `"example.org" "1a" "-a" "a_b" ""`},
	{typ: field[string]("alpha"), texts: `"abC" "a1" "ä" "" ={}`},
	{typ: field[string]("alphaspace"), texts: `"abC" "a\u0020b" "a1" ""`},
	{typ: field[string]("alphanum"), texts: `"abC1" "a-1" ""`},
	{typ: field[string]("alphaunicode"), texts: `"äß" "a1" ""`},
	{typ: field[string]("alphanumunicode"), texts: `"äß1" "a-1" ""`},
	{typ: field[string]("numeric"), texts: `"1" "-1.5" "+2" "1." ".5" "a" ""`},
	{typ: field[string]("number"), texts: `"1" "-1" "007" ""`},
	{typ: field[string]("boolean"), texts: `"true" "T" "0" "yes" "" ={}`},
	{typ: field[string]("hexadecimal"), texts: `"0xfF" "12ab" "xyz" ""`},
	{typ: field[string]("hexcolor"), texts: `"#fff" "#abcd" "#12345" "fff" ""`},
	{typ: field[string]("e164"), texts: `"+491234567" "12345678" "+0123" ""`},
	{typ: field[string]("ascii"), texts: `"a~" "ä" "" ={}`, tighter: `null`},
	{typ: field[string]("printascii"), texts: `"a~" "\u0007" ""`},
	{typ: field[string]("lowercase"), texts: `"abc1" "aBc" ""`, looser: `"Ä"`},
	{typ: field[string]("uppercase"), texts: `"ABC1" "aBc" ""`, looser: `"ä"`},
	{typ: field[string]("base64"), texts: `"YQ==" "YWJj" "Y*==" ""`, looser: `"YWJ"`},
	{typ: field[string]("sha256"), texts: `"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" "e3b0" ""`},
	{typ: field[string]("mongodb"), texts: `"507f1f77bcf86cd799439011" "507f" ""`},
	{typ: field[string]("semver"), texts: `"1.2.3" "1.2.3-rc.1+5" "v1.2.3" "1.2" ""`, looser: `"01.2.3"`},
	{typ: field[string]("contains=a.b"), texts: `"xa.by" "axb" "" ={}`},
	{typ: field[string]("startswith=a+"), texts: `"a+b" "aab" "ba+" ""`},
	{typ: field[string]("endswith=(x)"), texts: `"a(x)" "x" "(x)a" ""`},
	{typ: field[string]("startswith=a,endswith=b,contains=c"), texts: `"acb" "ab" "cb" "ac"`},
	{typ: field[string]("excludes=a.b"), texts: `"xa.by" "axb" "" ={}`, tighter: `null`},
	{typ: field[string]("startsnotwith=a,endsnotwith=b"), texts: `"ab" "xb" "ax" "xx" ""`},
	{typ: field[string]("containsany=]-^a"), texts: `"x-" "]" "^" "a" "\\" "b" ""`},
	{typ: field[string]("excludesall=]-^a"), texts: `"x-" "]" "^" "a" "\\" "b" ""`},
	{typ: field[string]("containsrune=ä"), texts: `"xä" "a" ""`},
	{typ: field[string]("excludesrune=ä"), texts: `"xä" "a" ""`},
	{typ: field[string]("datetime=2006-01-02T15:04:05Z07:00"), texts: `"2026-02-03T04:05:06Z" "2026-02-03T04:05:06.5+01:00" "2026-02-03" "" ={}`},
	{typ: field[string]("datetime=2006-01-02"), texts: `"2026-02-03" "2026-2-3" "2026-13-01" "2026-02-30" ""`},
	{typ: field[string]("datetime=15:04"), texts: `"23:59" "24:00" "1:00" ""`},
	{typ: field[string]("datetime=02.01.2006"), texts: `"03.02.2026" "3.2.2026" "03-02-2026" ""`, looser: `"31.02.2026"`},
	{typ: field[string]("datetime=Jan 2006"), texts: `"Feb\u00202026" ={}`, looser: `"" "x"`},
	{typ: field[string]("fqdn"), texts: `"a.example.org" ={}`, looser: `"a" ""`},
	{typ: field[string]("eqfield=F"), texts: `"x" "" ={}`, tighter: `null`},

	{typ: field[int](""), texts: `0 -1 9007199254740993 "1" 1.5 ={}`, tighter: `null`, looser: `1.0 1e2`},
	{typ: field[int]("required"), texts: `0 -1 1 null ={}`},
	{typ: field[int]("min=1,max=5"), texts: `0 1 5 6 null ={}`},
	{typ: field[int]("min=-1,max=5"), texts: `-2 -1 0 5 6 ={}`, tighter: `null`},
	{typ: field[int]("gt=1,lt=5"), texts: `1 2 4 5 ={}`},
	{typ: field[int]("required,min=0"), texts: `-1 0 1 ={}`},
	{typ: field[int]("required,min=-5,max=-1"), texts: `-6 -5 -1 0 ={}`},
	{typ: field[int]("omitempty,min=3"), texts: `0 1 3 ={}`, tighter: `null`},
	{typ: field[int]("omitempty,max=3"), texts: `0 1 3 4 ={}`},
	{typ: fieldNamed[int](`json:"f,omitempty"`, "omitempty,min=3"), texts: `1 3 ={}`, tighter: `0`},
	{typ: field[int]("oneof=1 2 03"), texts: `1 2 3 0 "1" ={}`},
	{typ: field[int]("omitempty,oneof=1 2"), texts: `1 3 0 ={}`},
	{typ: field[int]("required,oneof=0 1"), texts: `1 0 ={}`},
	{typ: field[int]("eq=0x10"), texts: `16 10 0 ={}`},
	{typ: field[int]("ne=0"), texts: `16 0 ={}`},
	{typ: field[int]("ne=5"), texts: `5 0 ={}`, tighter: `null`},
	{typ: field[int]("eq=1|gt=5"), texts: `1 2 6 0 ={}`},
	{typ: field[int]("eq=0|gt=5"), texts: `1 6 0 ={}`, tighter: `null`},
	{typ: field[int]("port"), texts: `0 1 65535 65536 ={}`},
	{typ: field[int]("numeric"), texts: `0 1 ={}`},
	{typ: field[int]("isdefault"), texts: `0 1 ={}`},
	{typ: field[int8](""), texts: `-128 127 -129 128`},
	{typ: field[uint8](""), texts: `0 255 -1 256`},
	{typ: field[int32](""), texts: `-2147483648 2147483647 -2147483649 2147483648`},
	{typ: field[uint32](""), texts: `4294967295 4294967296 -1`},
	{typ: field[int64]("max=9223372036854775806"), texts: `9223372036854775806 9223372036854775807`},
	{typ: field[uint64]("max=18446744073709551614"), texts: `18446744073709551614 18446744073709551615 -1`},
	{typ: field[uint]("required"), texts: `0 1 ={}`},
	{typ: field[float64](""), texts: `0 1.5 -1e300 "1" ={}`},
	{typ: field[float64]("required,gte=0"), texts: `-0.1 0 0.0 0.1 ={}`},
	{typ: field[float64]("min=0.1,lt=2"), texts: `0.05 0.1 1.99 2 ={}`},
	{typ: field[float32]("min=0.1,max=0.3"), texts: `0.1 0.3 0.09 0.31 ={}`},
	{typ: field[float64]("ne=0"), texts: `0 1`},
	{typ: field[time.Duration]("min=1s,max=1m"), texts: `999999999 1000000000 60000000000 60000000001 "1s" ={}`},

	{typ: field[bool](""), texts: `true false 0 "true" ={}`, tighter: `null`},
	{typ: field[bool]("required"), texts: `true false ={}`},
	{typ: field[bool]("eq=false"), texts: `true false ={}`},
	{typ: field[bool]("ne=false"), texts: `true false ={}`},

	{typ: field[*string](""), texts: `null "" "a" 1 ={}`},
	{typ: field[*string]("required"), texts: `null "" "a" ={}`},
	{typ: field[*string]("required,min=1"), texts: `null "" "a" ={}`},
	{typ: field[*string]("omitempty,min=2"), texts: `null "" "a" "ab" ={}`},
	{typ: field[*string]("min=1"), texts: `null "" "a" ={}`},
	{typ: field[*string]("omitempty,oneof=a b"), texts: `null "" "a" "c" ={}`},
	{typ: field[*string]("omitempty,eq=a"), texts: `null "" "a" "c" ={}`},
	{typ: field[*string]("omitnil,ip"), texts: `null "" "::1" "c" ={}`},
	{typ: field[*string]("omitzero,min=2"), texts: `null "" "a" "ab" ={}`},
	{typ: field[*string]("omitempty,excludes=a"), texts: `null "" "a" "b" ={}`},
	{typ: fieldNamed[*string](`json:"f,omitempty"`, "omitempty,min=2"), texts: `"" "a" "ab" ={}`, tighter: `null`},
	{typ: field[**int]("omitempty,min=2"), texts: `null 1 2 ={}`},
	{typ: field[*bool]("required"), texts: `null true false ={}`},
	{typ: field[*int]("eqfield=F"), texts: `1 null ={}`},
	{typ: field[any](""), texts: `null 1 "a" [] ={}`},
	{typ: field[any]("required"), texts: `null 1 "a" [] ={}`},

	{typ: field[[]string](""), texts: `[] ["a"] [1] "a" {} ={}`, tighter: `null`},
	{typ: field[[]string]("required"), texts: `[] ["a"] null ={}`},
	{typ: field[[]string]("min=1,max=2"), texts: `[] ["a"] ["a","b"] ["a","b","c"] null ={}`},
	{typ: field[[]string]("omitempty,min=1"), texts: `[] ["a"] ={}`, tighter: `null`},
	{typ: field[[]string]("omitzero,min=2"), texts: `[] ["a"] ["a","b"] ={}`},
	{typ: field[[]string]("len=1"), texts: `[] ["a"] ={}`},
	{typ: field[[]string]("ne=0"), texts: `[] ["a"] ={}`},
	{typ: field[[]string]("ne=-1"), texts: `[] ["a"] ={}`},
	{typ: field[map[string]int]("ne=0"), texts: `{} {"a":1} ={}`},
	{typ: field[[]string]("ne=1"), texts: `[] ["a"] ["a","b"] ={}`},
	{typ: field[[]string]("unique"), texts: `[] ["a","b"] ["a","a"]`},
	{typ: field[[]string]("required,dive,required,max=3"), texts: `[] ["a"] [""] ["abcd"] ={}`},
	{typ: field[[]string]("dive,omitempty,email"), texts: `[] [""] ["a@b.cd"] ["a"] ={}`},
	{typ: field[[][]int]("min=1,dive,min=1,dive,min=1"), texts: `[] [[]] [[1]] [[0]] ={}`},
	{typ: field[[]*int]("dive,required"), texts: `[] [null] [0] ={}`},
	{typ: field[[]*int]("dive,omitempty,min=1"), texts: `[] [null] [0] [1] ={}`},
	{typ: field[[]Inner]("dive"), texts: `[] [{}] [{"name":"a"}] [{"name":""}] [{"name":"a","age":151}]`},
	{typ: field[[]Inner](""), texts: `[] [{"name":"a"}]`, tighter: `[{}]`},
	{typ: field[[2]int]("dive,min=1"), texts: `[1,2] [0,1] [1] [1,2,3] ={}`, tighter: ``},
	{typ: field[[2]byte](""), texts: `[1,2] [0,256] "AQI="`},
	{typ: field[[]byte](""), texts: `"" "AQI=" ={}`, tighter: `null [1]`, looser: `"?"`},
	{typ: field[[]byte]("required"), texts: `"" "AQI=" null ={}`},
	{typ: field[[]byte]("min=2,max=4"), texts: `"" "AQI=" "AQIDBA==" "AQIDBAUGBw==" ={}`, looser: `"AQ==" "AQIDBAU="`},

	{typ: field[map[string]int](""), texts: `{} {"a":1} {"a":"b"} [] ={}`, tighter: `null`},
	{typ: field[map[string]int]("required,min=1,max=2"), texts: `{} {"a":1} {"a":1,"b":2,"c":3} ={}`},
	{typ: field[map[string]int]("ne=1"), texts: `{} {"a":1} {"a":1,"b":2}`},
	{typ: field[map[string]int]("dive,min=1"), texts: `{} {"a":1} {"a":0}`},
	{typ: field[map[string]int]("dive,keys,alpha,max=2,endkeys,min=1"), texts: `{} {"a":1} {"a":0} {"1":1} {"abc":1}`},
	{typ: field[map[string]string]("dive,keys,oneof=a b,endkeys"), texts: `{} {"a":""} {"c":""}`},
	{typ: field[map[int]string](""), texts: `{"1":"a"} {"-1":"a"} {"a":"a"} {"1.5":"a"}`},
	{typ: field[map[uint]string](""), texts: `{"1":"a"} {"-1":"a"}`},
	{typ: field[map[string]*Inner]("dive"), texts: `{"a":null} {"a":{"name":"x"}} {"a":{}}`},
	{typ: field[labels]("max=1"), texts: `{} {"a":"b"} {"a":"b","c":"d"}`},

	{typ: field[Inner](""), texts: `{} {"name":"a"} {"name":"a","age":151} {"name":"a","more":1} ={}`},
	{typ: field[Inner]("required"), texts: `{"name":"a"} {"name":""} ={}`},
	{typ: field[Inner]("omitempty"), texts: `{"name":"a"} ={}`, tighter: `{}`},
	{typ: field[Inner]("structonly"), texts: `{"name":"a"} ={}`, tighter: `{}`},
	{typ: field[loose](""), texts: `{} {"name":"a"} ={}`, tighter: `null`},
	{typ: field[loose]("required"), texts: `{"name":"a"} ={}`, looser: `{}`},
	{typ: field[*Inner](""), texts: `null {} {"name":"a"} ={}`},
	{typ: field[*Inner]("required"), texts: `null {} {"name":"a"} ={}`},
	{typ: fieldNamed[int](`json:"f" default:"1"`, "min=1,max=5"), texts: `1 5 6 ={}`, tighter: `0 null`},
	{typ: fieldNamed[int](`json:"f" default:"1"`, "required"), texts: `1 ={}`, tighter: `0 null`},
	{typ: fieldNamed[string](`json:"f" default:"free"`, "oneof=free pro"), texts: `"pro" "x" ={}`, tighter: `"" null`},
	{typ: fieldNamed[*int](`json:"f" default:"1"`, "required,min=1"), texts: `1 0 ={}`, tighter: `null`},
	{typ: fieldNamed[[]int](`json:"f" default:"[1,2]"`, "min=1"), texts: `[1] [] ={}`, tighter: `null`},
	{typ: field[filled](""), texts: `{} {"size":5} {"size":101} ={}`, tighter: `null`},
	{typ: field[filled]("required"), texts: `{} {"size":5} ={}`, tighter: `null`},
	{typ: field[*filled]("required"), texts: `{} {"size":101} null ={}`},
	{typ: reflect.TypeFor[withFilled](), texts: `={} ={"size":5} ={"size":101}`},
	{typ: reflect.TypeFor[withEmbedded](), texts: `={} ={"name":"a"} ={"b":true} ={"name":"a","age":200}`},
	{typ: reflect.TypeFor[withPointer](), texts: `={} ={"name":"a"} ={"b":true} ={"name":"a","age":200}`, looser: `={"age":1}`},

	{typ: field[time.Time](""), texts: `"2026-01-02T03:04:05Z" "2026-01-02T03:04:05.123456789+02:00" "2026-01-02" 1 ={}`, tighter: `null`},
	{typ: field[time.Time]("required"), texts: `"2026-01-02T03:04:05Z" "0001-01-01T00:00:00Z" ={}`},
	{typ: field[*time.Time]("omitempty"), texts: `"2026-01-02T03:04:05Z" null "x" ={}`},
	{typ: field[json.RawMessage](""), texts: `null 1 {"a":[]} ={}`},
	{typ: fieldNamed[int](`json:"f,string"`, ""), texts: `"5" "-5" "5.5" "a" 5 ={}`},
	{typ: fieldNamed[*uint](`json:"f,string"`, ""), texts: `"5" "-5" null ={}`},
	{typ: fieldNamed[bool](`json:"f,string"`, ""), texts: `"true" "no" true ={}`},
	{typ: fieldNamed[int](`json:"f,string"`, "required"), texts: `"5" ={}`, looser: `"0"`},
}

func TestASchemaDecidesAsTheCheckerDoes(t *testing.T) {
	for _, c := range verdicts {
		t.Run(c.typ.String(), func(t *testing.T) {
			s := schemaOf(t, c.typ, schema.Input)
			for _, list := range []struct {
				texts           string
				checker, schema func(verdict bool) bool
			}{
				{c.texts, same, same}, {c.looser, never, always}, {c.tighter, always, never},
			} {
				for text := range strings.FieldsSeq(list.texts) {
					whole, ok := strings.CutPrefix(text, "=")
					if !ok {
						whole = `{"f":` + text + `}`
					}
					right := checkerAccepts(c.typ, whole)
					if want := list.checker(right); right != want {
						t.Errorf("%s: the checker says %v, which this test does not expect", whole, right)
					}
					if got, want := s.accepts(whole), list.schema(right); got != want {
						t.Errorf("%s: the checker says %v, the schema %v\n%s", whole, right, got, s.text)
					}
				}
			}
		})
	}
}

func same(verdict bool) bool { return verdict }
func always(bool) bool       { return true }
func never(bool) bool        { return false }
