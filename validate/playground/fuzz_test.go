package playground

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// FuzzVerdictsAgree makes a struct type with random rules from a number, fills it from bytes, and holds the compiled
// check and the library to the same verdict and the same list of errors.
func FuzzVerdictsAgree(f *testing.F) {
	for number := range uint16(200) {
		f.Add(number, []byte("\x01\x02\x03abc\x00\xff\x10\x07user12"))
	}
	for i := range fixedTypes {
		f.Add(uint16(65535-i), []byte("\x03\x01Ada\x05\x02ab\x00\x01\x01\x09\x02\x02\x01"))
	}
	f.Fuzz(func(t *testing.T, number uint16, data []byte) {
		checked := fuzzRangeOf(t, number)
		typ, ok := checked.typ(number)
		if !ok {
			return
		}
		ptr := reflect.New(typ)
		r := reader(data)
		r.fill(ptr.Elem(), 0)
		checked.compare(t, ptr.Interface())
	})
}

// fuzzRange serves a range of type numbers, so that neither validator collects more types than it can keep quickly.
type fuzzRange struct {
	contenders
	types map[uint16]reflect.Type // nil where the type does not compile
}

var (
	fuzzRanges   = map[uint16]*fuzzRange{}
	fuzzRangesMu sync.Mutex
)

func fuzzRangeOf(t *testing.T, number uint16) *fuzzRange {
	fuzzRangesMu.Lock()
	defer fuzzRangesMu.Unlock()
	checked, ok := fuzzRanges[number/64]
	if !ok {
		checked = &fuzzRange{newContenders(t), map[uint16]reflect.Type{}}
		fuzzRanges[number/64] = checked
	}
	return checked
}

func (checked *fuzzRange) typ(number uint16) (reflect.Type, bool) {
	fuzzRangesMu.Lock()
	defer fuzzRangesMu.Unlock()
	typ, ok := checked.types[number]
	if !ok {
		typ = fuzzType(number)
		if _, err := checked.linked.Compile(typ); err != nil {
			typ = nil
		}
		checked.types[number] = typ
	}
	return typ, typ != nil
}

// fixedTypes are shapes that reflect cannot make.
var fixedTypes = []reflect.Type{
	reflect.TypeFor[tree](), reflect.TypeFor[order](), reflect.TypeFor[related](), reflect.TypeFor[promoted](),
}

type tree struct {
	Name     string           `json:"name" validate:"required,max=3"`
	Left     *tree            `json:"left"`
	Right    *tree            `json:"right" validate:"omitempty"`
	Children []tree           `json:"children" validate:"max=3,dive"`
	ByName   map[string]*tree `json:"by_name" validate:"omitempty,dive,keys,max=2,endkeys,required"`
	Unseen   []tree           `json:"unseen"`
}

type order struct {
	ID    string `json:"id" validate:"uuid4|len=3"`
	Items []item `json:"items" validate:"required,min=1,dive"`
	Note  *string
	Paid  *bool `validate:"required"`
	Any   any   `validate:"omitempty"`
	Time  time.Time
}

type item struct {
	Code  word     `json:"code" validate:"alphanum,min=1,max=4"`
	Count uint16   `json:"count" validate:"gt=0,lt=100"`
	Price *float64 `json:"price" validate:"omitnil,gte=0"`
	Pair  [2]int8  `validate:"dive,ne=0"`
}

type related struct {
	A string `validate:"omitempty,max=3"`
	B string `validate:"eqfield=A"`
	C string `validate:"required_if=A abc"`
	D *int   `validate:"excluded_with=B"`
	E []int  `validate:"required_without=D,dive,min=1"`
}

type hidden struct {
	Depth int `validate:"gte=1"`
	//lint:ignore U1000 the library does not look at it
	low int `validate:"required"`
}

type promoted struct {
	hidden
	item `validate:"required"`
	*order
	//lint:ignore U1000 read by reflection
	word `validate:"max=3"`
}

var (
	fuzzScalars = []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[word](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](),
		reflect.TypeFor[int32](), reflect.TypeFor[int64](), reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](),
		reflect.TypeFor[uint32](), reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[bool](),
		reflect.TypeFor[time.Duration](), reflect.TypeFor[inner](), reflect.TypeFor[item](), reflect.TypeFor[time.Time](),
	}
	fuzzKeys    = []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[word](), reflect.TypeFor[int](), reflect.TypeFor[uint8]()}
	fuzzCompare = []string{"min", "max", "len", "eq", "ne", "gt", "gte", "lt", "lte"}
	fuzzText    = []string{"alpha", "alphanum", "numeric", "number", "boolean", "ascii", "printascii", "lowercase", "uppercase", "contains=a",
		"excludes=a", "startswith=a", "endswith=a", "containsany=ab1", "excludesall=ab1", "oneof=user admin 12", "eq=user", "ne=user",
		"uuid", "uuid4", "uuid7", "email", "hexcolor", "url", "startsnotwith=a", "endsnotwith=a", "noneof=a b"}
	fuzzOmits = []string{"omitempty", "omitnil", "omitzero", "required", "isdefault"}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// fuzzType is the struct type with the given number.
func fuzzType(number uint16) reflect.Type {
	if back := 65535 - int(number); back < len(fixedTypes) {
		return fixedTypes[back]
	}
	r := rand.New(rand.NewPCG(uint64(number), 7))
	var fields []reflect.StructField
	for i := range 1 + r.IntN(4) {
		t, tag := fuzzField(r, 0)
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("F%d", i), Type: t, Tag: reflect.StructTag(fmt.Sprintf("json:%q validate:%q", strings.Repeat("f", i+1), tag)),
		})
	}
	return reflect.StructOf(fields)
}

// fuzzField makes a type and a tag that mostly fits it.
func fuzzField(r *rand.Rand, depth int) (reflect.Type, string) {
	var t reflect.Type
	var tags []string
	n := r.IntN(10)
	if depth > 2 {
		n = 0
	}
	switch {
	case n < 5:
		t = pick(r, fuzzScalars)
		tags = fuzzTags(r, t)
	case n < 6:
		elem, tag := fuzzField(r, depth+1)
		return reflect.PointerTo(elem), tag
	default:
		elem, tag := fuzzField(r, depth+1)
		switch n {
		case 6:
			t = reflect.ArrayOf(r.IntN(3), elem)
		case 7:
			t = reflect.MapOf(pick(r, fuzzKeys), elem)
		default:
			t = reflect.SliceOf(elem)
		}
		tags = fuzzTags(r, t)
		if r.IntN(4) > 0 {
			tags = append(tags, "dive")
			if t.Kind() == reflect.Map && r.IntN(2) == 0 {
				tags = append(append(append(tags, "keys"), fuzzTags(r, t.Key())...), "endkeys")
			}
			if tag != "" {
				tags = append(tags, tag)
			}
		}
	}
	return t, strings.Join(tags, ",")
}

func fuzzTags(r *rand.Rand, t reflect.Type) []string {
	var tags []string
	for range r.IntN(4) {
		if r.IntN(3) == 0 {
			tags = append(tags, pick(r, fuzzOmits))
			continue
		}
		either := []string{fuzzRule(r, t)}
		for r.IntN(4) == 0 {
			either = append(either, fuzzRule(r, t))
		}
		tags = append(tags, strings.Join(either, "|"))
	}
	return tags
}

func fuzzRule(r *rand.Rand, t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Struct:
		return pick(r, []string{"required", "isdefault"})
	case t.Kind() == reflect.Bool:
		return pick(r, []string{"eq=true", "ne=true", "boolean", "required"})
	case t.Kind() == reflect.String && r.IntN(2) == 0:
		return pick(r, fuzzText)
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64 && r.IntN(5) == 0:
		return pick(r, []string{"oneof=1 2 -3 010", "number", "numeric"})
	case t == reflect.TypeFor[time.Duration]() && r.IntN(2) == 0:
		return pick(r, fuzzCompare) + "=" + pick(r, []string{"1s", "2ns", "0", "5m"})
	}
	return fmt.Sprintf("%s=%d", pick(r, fuzzCompare), r.IntN(7)-r.IntN(2))
}

// reader turns bytes into values. It gives zeros when it has run out.
type reader []byte

func (r *reader) byte() byte {
	if len(*r) == 0 {
		return 0
	}
	b := (*r)[0]
	*r = (*r)[1:]
	return b
}

func (r *reader) number() uint64 {
	switch b := r.byte(); {
	case b < 200:
		return uint64(b) - 100 // small, also negative
	case b < 220:
		return uint64(numbers[int(b)%len(numbers)])
	default:
		var raw [8]byte
		for i := range raw {
			raw[i] = r.byte()
		}
		return binary.LittleEndian.Uint64(raw[:])
	}
}

func (r *reader) text() string {
	b := int(r.byte())
	if b >= 64 {
		return texts[b%len(texts)]
	}
	n := min(b%12, len(*r))
	s := string((*r)[:n])
	*r = (*r)[n:]
	return s
}

func (r *reader) fill(v reflect.Value, depth int) {
	if !v.CanSet() || depth > 8 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(r.text())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.number()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.number())
	case reflect.Float32, reflect.Float64:
		if b := r.byte(); b < 128 {
			v.SetFloat(floatValues[int(b)%len(floatValues)])
		} else {
			v.SetFloat(math.Float64frombits(r.number()))
		}
	case reflect.Bool:
		v.SetBool(r.byte()&1 == 1)
	case reflect.Pointer:
		if r.byte()%3 > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			r.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if n := int(r.byte() % 6); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			r.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		n := int(r.byte() % 5)
		if n == 0 {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for range n - 1 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			r.fill(key, depth+1)
			r.fill(value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.Interface:
		anything := []any{nil, "", "x", 1.5, inner{}, &inner{Name: "ab"}, map[string]any{}}
		if x := anything[int(r.byte())%len(anything)]; x != nil {
			v.Set(reflect.ValueOf(x))
		}
	case reflect.Struct:
		if v.Type().ConvertibleTo(reflect.TypeFor[time.Time]()) {
			if r.byte()&1 == 1 {
				v.Set(reflect.ValueOf(time.Unix(1e9, 0)).Convert(v.Type()))
			}
			return
		}
		for i := range v.NumField() {
			r.fill(v.Field(i), depth+1)
		}
	}
}

func FuzzTextsAgree(f *testing.F) {
	type body struct {
		Email    string `validate:"email"`
		URL      string `validate:"url"`
		Web      string `validate:"http_url"`
		URI      string `validate:"uri"`
		Host     string `validate:"hostname"`
		FQDN     string `validate:"fqdn"`
		Port     string `validate:"hostname_port"`
		IP       string `validate:"ip"`
		IPv4     string `validate:"ipv4"`
		IPv6     string `validate:"ipv6"`
		CIDR     string `validate:"cidrv4"`
		Color    string `validate:"hexcolor"`
		Hex      string `validate:"hexadecimal"`
		Base     string `validate:"base64url"`
		ULID     string `validate:"ulid"`
		Letters  string `validate:"alphaunicode"`
		Mixed    string `validate:"alphanumunicode"`
		Version  string `validate:"semver"`
		Latitude string `validate:"latitude"`
		Number   string `validate:"numeric"`
		Bytes    string `validate:"multibyte"`
		Rune     string `validate:"containsrune=é"`
	}
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		value := reflect.New(reflect.TypeFor[body]())
		for _, field := range value.Elem().Fields() {
			field.SetString(s)
		}
		if !newContenders(t).compare(t, value.Interface()) {
			t.Fatal("it needs the library")
		}
	})
}
