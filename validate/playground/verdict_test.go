package playground

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-playground/validator/v10"

	"github.com/sabir-go/sabir/internal/library"
	"github.com/sabir-go/sabir/validate"
)

// libraryVerdict is the library's own answer, without anything of this package in between.
func libraryVerdict(lib *validator.Validate, ptr any) (failed validator.ValidationErrors, panicked any) {
	defer func() { panicked = recover() }()
	err := lib.Struct(ptr)
	if errors.As(err, &failed) || err == nil {
		return failed, nil
	}
	panic(err)
}

// withoutLibrary is a Validator that checks as in a program that does not link the library.
func withoutLibrary(t testing.TB) *validate.Validator {
	t.Helper()
	linked := library.New
	library.New = nil
	defer func() { library.New = linked }()
	v := validate.New()
	if _, err := v.Compile(reflect.TypeFor[inner]()); err != nil {
		t.Fatal(err)
	}
	return v
}

// contenders are the validators that must give the same verdicts: a Validator with the library, one without, and the library
// itself.
type contenders struct {
	linked, own *validate.Validator
	lib         *validator.Validate
}

func newContenders(t testing.TB) contenders {
	return contenders{validate.New(), withoutLibrary(t), validator.New(validator.WithRequiredStructEnabled())}
}

// compare checks the struct at ptr in all ways and fails the test where they differ. It reports whether it could be checked
// without the library.
func (c contenders) compare(t *testing.T, ptr any) bool {
	t.Helper()
	typ, value := reflect.TypeOf(ptr).Elem(), reflect.ValueOf(ptr).Elem()
	if _, err := c.linked.Compile(typ); err != nil {
		t.Fatalf("%v does not compile: %v", typ, err)
	}
	failed, panicked := libraryVerdict(c.lib, ptr)
	if panicked != nil {
		t.Fatalf("the library panics on %v %+v, which compiled: %v", typ, value, panicked)
	}
	err := c.linked.Struct(ptr)
	linked, _ := errors.AsType[validate.Errors](err)
	if (err == nil) != (failed == nil) || len(linked) != len(failed) {
		t.Fatalf("%v\n%+v\nlinked:  %v\nlibrary: %v", typ, value, err, failed)
	}
	unordered := map[string]int{} // maps have no order
	for i := range linked {
		unordered[linked[i].Rule+"="+linked[i].Param]++
		unordered[failed[i].Tag()+"="+failed[i].Param()]--
	}
	for rule, n := range unordered {
		if n != 0 {
			t.Fatalf("rule %s is reported differently\nlinked:  %v\nlibrary: %v", rule, linked, failed)
		}
	}
	if _, err := c.own.Compile(typ); err != nil {
		if !strings.Contains(err.Error(), library.Import) {
			t.Fatalf("%v compiles with the library only: %v", typ, err)
		}
		return false
	}
	own := c.own.Struct(ptr)
	if got, want := sorted(own), sorted(err); !slices.Equal(got, want) {
		t.Fatalf("%v\n%+v\nwithout the library:\n%v\nwith it:\n%v", typ, value, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return true
}

// sorted is the text of all that an error says of each field, in an order of its own, since maps have none.
func sorted(err error) []string {
	list, ok := errors.AsType[validate.Errors](err)
	if !ok && err != nil {
		return []string{err.Error()}
	}
	var texts []string
	for _, field := range list {
		if len(field.Path) > 255 {
			field.Message = "" // the library cuts the name, whose length it keeps in a byte
		}
		texts = append(texts, fmt.Sprintf("%#v", field))
	}
	slices.Sort(texts)
	return texts
}

// oneField is a struct with the field F of type t and the tag.
func oneField(t reflect.Type, tag string) reflect.Type {
	return reflect.StructOf([]reflect.StructField{{
		Name: "F", Type: t, Tag: reflect.StructTag(fmt.Sprintf("validate:%q", tag)),
	}})
}

type (
	word  string
	level int8
)

func to[T any](v T) *T { return &v }

const (
	someUUID   = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
	badVariant = "f47ac10b-58cc-4372-0567-0e02b2c3d479"
	someUUID1  = "F47AC10B-58CC-1372-C567-0E02B2C3D479"
)

var texts = []string{
	"", " ", "a", "ab", "abc", "abcd", "ABC", "aBc", "a1", "123", "-1.5", "+7", "1.", ".5", "1.2.3", "--1", "+",
	"false", "False", "a,b", "a|b", "é", "日本", "日本語x", "ß", "\xff", "a\xffb", "true", "True", "TRUE", "f", "0", "no", "user", "admin", "two words",
	"it's", "a\n", "\x00", "\x7f", "~", someUUID, someUUID1, badVariant, someUUID + "0", strings.Replace(someUUID, "-", "x", 1),
	"a@b.co", "a@b", "a.b@c.de", "@", "a@", "a@-b.co", "A_b+c@x-y.org", "a..b@c.de", "a@b.c0", "é@é.com", "a@b.co.",
	"http://example.org/x?y#z", "HTTPS://a.b", "https://", "file:///etc/x", "file:///", "mailto:a@b.co", "//host/x", "/a/b#c", "#c", "x:y",
	"1.2.3.4", "::1", "::ffff:1.2.3.4", "10.0.0.0/8", "10.0.0.1/8", "fe80::/10", "01:23:45:67:89:ab", "example.org", "example.org.", "1a.b-c.com", "a.b:80", ":80",
	"0xFf", "0x", "#fff", "#FFEEDD00", "#ff", "YWI=", "YWJj", "a-_w", "Europe/Berlin", "UTC", "Local", "1h3m", "+4915112345678", "1.2.3-rc.1+x", "a.b.c",
	"45.5", "-180.0", "181", "a b", "2026-01-31", "2026-02-31", "{}", "[1", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "d41d8cd98f00b204e9800998ecf8427e", "١٢", "é٣",
	"\"q s\"@b.co", "a b@c.de", "<a@b.co>", strings.Repeat("x", 64) + "@y.zz", strings.Repeat("x", 300),
}

var numbers = []int64{math.MinInt64, -129, -1, 0, 1, 2, 3, 4, 7, 127, 128, 255, 256, math.MaxInt64}

var floatValues = []float64{
	math.Inf(-1), -1.5, -1, math.Copysign(0, -1), 0, 0.1, float64(float32(0.1)), 1, 1.5, 2, 3, math.NaN(), math.Inf(1),
}

// values are the values that a kind is tried with.
func values(t reflect.Type) []reflect.Value {
	var list []reflect.Value
	add := func(v any) { list = append(list, reflect.ValueOf(v).Convert(t)) }
	switch k := t.Kind(); {
	case k == reflect.String:
		for _, s := range texts {
			add(s)
		}
	case k >= reflect.Int && k <= reflect.Uintptr:
		for _, n := range numbers {
			add(n)
		}
		if t == reflect.TypeFor[time.Duration]() {
			add(time.Second)
			add(5 * time.Second)
		}
	case k == reflect.Float32 || k == reflect.Float64:
		for _, f := range floatValues {
			add(f)
		}
	case k == reflect.Bool:
		add(true)
		add(false)
	case k == reflect.Slice:
		list = append(list, reflect.Zero(t))
		elements := values(t.Elem())
		for _, n := range []int{0, 1, 2, 3, 4, len(elements)} {
			s := reflect.MakeSlice(t, 0, n)
			list = append(list, reflect.Append(s, elements[:min(n, len(elements))]...))
		}
		for _, e := range elements {
			list = append(list, reflect.Append(reflect.Zero(t), e))
		}
	case k == reflect.Array:
		list = append(list, reflect.Zero(t))
		for _, e := range values(t.Elem()) {
			if t.Len() == 0 {
				break
			}
			a := reflect.New(t).Elem()
			a.Index(0).Set(e)
			list = append(list, a)
		}
	case k == reflect.Map:
		list = append(list, reflect.Zero(t), reflect.MakeMap(t))
		keys, elements := values(t.Key()), values(t.Elem())
		for i := range max(len(keys), len(elements)) {
			m := reflect.MakeMap(t)
			m.SetMapIndex(keys[i%len(keys)], elements[i%len(elements)])
			list = append(list, m)
		}
		m := reflect.MakeMap(t)
		for i := range min(3, len(keys)) {
			m.SetMapIndex(keys[i], elements[i%len(elements)])
		}
		list = append(list, m)
	default:
		list = append(list, reflect.Zero(t))
		switch t.Kind() {
		case reflect.Pointer:
			for _, e := range values(t.Elem()) {
				p := reflect.New(t.Elem())
				p.Elem().Set(e)
				list = append(list, p)
			}
		case reflect.Struct:
			if t.NumField() > 0 && t.Field(0).IsExported() {
				for _, e := range values(t.Field(0).Type) {
					s := reflect.New(t).Elem()
					s.Field(0).Set(e)
					list = append(list, s)
				}
			}
		case reflect.Interface:
			if t.NumMethod() == 0 {
				for _, v := range []any{"", "x", 1.5, true, 3, []any{1.0}, map[string]any{}, inner{}, &inner{}, &inner{Name: "abc"}} {
					list = append(list, reflect.ValueOf(v))
				}
			}
		case reflect.Complex128:
			add(1i)
		}
	}
	return list
}

type inner struct {
	Name string `validate:"required,max=3"`
	Note string
}

var (
	lengthRules = []string{"min=2", "max=2", "len=2", "eq=2", "ne=2", "gt=2", "gte=2", "lt=2", "lte=2", "min=-1", "max=-1",
		"gt=9223372036854775807", "lt=-9223372036854775808", "min=0x2", "min=1,max=3", "max=3,min=1,ne=2"}
	presence = []string{"required", "isdefault", "omitempty", "omitnil", "omitzero", "omitempty,required", "omitnil,required",
		"omitzero,required", "required|isdefault", "isdefault|required", "structonly", "nostructlevel", "-"}
	textTags = []string{"min=2", "max=2", "len=2", "eq=abc", "ne=abc", "gt=2", "gte=2", "lt=2", "lte=2", "min=1,max=64",
		"omitempty,min=2", "omitnil,min=2", "omitzero,min=2", "min=2,omitempty", "eq=a0x2Cb", "contains=0x7C",
		"oneof=admin user 'two words'", "oneof='it''s' abc", "oneof=", "noneof=abc user", "oneofci=ABC USER",
		"alpha", "alphanum", "numeric", "number", "boolean", "ascii", "printascii", "lowercase", "uppercase",
		"contains=b", "excludes=b", "startswith=a", "endswith=c", "startsnotwith=a", "endsnotwith=c", "containsany=xyz",
		"excludesall=xyz", "containsrune=é", "uuid", "uuid3", "uuid4", "uuid5", "uuid7", "uuid_rfc4122", "uuid3_rfc4122",
		"uuid4_rfc4122", "uuid5_rfc4122", "email", "required,email", "url", "hexcolor", "iscolor", "ip", "ulid", "json",
		"https_url", "http_url", "uri", "ipv4", "ipv6", "cidr", "cidrv4", "cidrv6", "mac", "hostname", "hostname_rfc1123", "fqdn", "hostname_port",
		"hexadecimal", "base64", "base64url", "base64rawurl", "timezone", "duration", "e164", "semver", "jwt", "latitude", "longitude", "alphaspace",
		"alphanumspace", "alphaunicode", "alphanumunicode", "multibyte", "md5", "sha256", "datetime=2006-01-02", "excludesrune=é", "excludesrune=",
		"eq_ignore_case=ABC", "ne_ignore_case=ABC", "noneofci=ABC USER", "min=1000", "len=1",
		"alpha|number", "max=1|email", "eq=|min=3", "iscolor|alpha", "len=3|uuid4,lowercase", "required,alpha|numeric,max=4"}
	numberTags = []string{"min=2", "max=2", "len=2", "eq=2", "ne=2", "gt=2", "gte=2", "lt=2", "lte=2", "gte=0,lte=150",
		"number", "numeric", "min=1|eq=0", "omitempty,min=2", "omitzero,gt=1"}
)

func TestEveryRuleAgreesWithTheLibraryOnEveryKind(t *testing.T) {
	cases := []struct {
		types []reflect.Type
		tags  []string
	}{
		{types(word(""), ""), textTags},
		{types(to(""), to(to(word("")))), textTags},
		{types(int(0), int8(0), int16(0), int32(0), int64(0), level(0), time.Duration(0), to(0)),
			append([]string{"oneof=1 2 -1 007", "min=-5", "gt=9223372036854775807", "lt=-9223372036854775808", "max=0x10"}, numberTags...)},
		{types(time.Duration(0), to(time.Second)), []string{"min=1s", "max=2s", "eq=5s", "ne=5s", "gt=1s,lt=1m", "max=3"}},
		{types(uint(0), uint8(0), uint16(0), uint32(0), uint64(0), to(uint8(0))),
			append([]string{"oneof=1 2 255 -1", "gt=18446744073709551615", "lt=0", "max=18446744073709551615"}, numberTags...)},
		{types(uintptr(0)), numberTags},
		{types(0, uint16(0), uint8(0), int64(0)), []string{"port", "port,noneof=2 7", "noneof=1 2", "min=1000"}},
		{types(0, int64(0)), []string{"max=-12345", "gt=-1"}},
		{types([]*int{}, []string{}, map[string]int{}, [2]int{}, []inner{}), []string{"unique"}},
		{types(1.5, float32(0)), []string{"min=1234.50", "lt=-0.5", "len=1"}},
		{types(float32(0), float64(0), to(0.5)), append([]string{"gt=0.1", "eq=0.1", "ne=0.1", "lte=0.1", "min=-1e3"}, numberTags...)},
		{types(false, to(false)), []string{"eq=true", "ne=true", "eq=0", "boolean", "required,eq=T", "eq=true|isdefault"}},
		{types([]string{}, []int{}, [3]string{}, map[string]int{}, map[string]string{}, to([]string{}), to(map[string]int{}), []byte{}), lengthRules},
		{types([]string{}, [3]string{}, map[string]string{}, to([]string{}), to(map[string]string{}), []*string{}, map[int]*string{}, []word{}),
			[]string{"dive", "dive,required", "dive,max=2", "required,dive,min=1,max=3", "max=2,dive,omitempty,alpha", "omitempty,dive,email",
				"omitzero,dive,required", "omitnil,dive,alpha|len=0", "dive,oneof=abc user", "dive,uuid4", "unique", "unique,dive,required"}},
		{types(map[string]string{}, map[word]int{}, map[string]*string{}),
			[]string{"dive,keys,max=2,endkeys", "dive,keys,alpha,endkeys,required", "min=1,dive,keys,omitempty,min=2,endkeys,min=1", "dive,keys,endkeys"}},
		{types(map[string]inner{}, map[string]*inner{}, map[string]**inner{}, map[string]any{}), []string{"dive,keys,max=2,endkeys", "dive,keys,max=2,endkeys,required"}},
		{types([][]string{}, map[string][]string{}, [][2]string{}), []string{"dive,dive,max=2", "dive,max=2,dive,required"}},
		{types(inner{}, to(inner{}), []inner{}, []*inner{}, map[string]inner{}, map[string]*inner{}, [2]inner{}),
			[]string{"required", "omitempty", ""}},
		{types([]inner{}, []*inner{}, map[string]inner{}, map[string]*inner{}, [2]inner{}, to([]inner{})),
			[]string{"dive", "dive,required", "dive,omitempty", "dive,structonly", "required,dive,nostructlevel", "max=1,dive"}},
		{types(inner{}, to(inner{})), []string{"structonly", "required,structonly", "nostructlevel", "isdefault", "omitempty,required", "omitzero", "omitnil"}},
		{types(time.Time{}, to(time.Now())), []string{"required", "omitempty", "min", "max", "gt", "lt", "gte", "lte", "isdefault"}},
		{types(chanType, funcType, complex(1, 1), [2]float64{}, [300]byte{}, to(complex(0, 0))), []string{"required", "omitempty", "omitnil,required", "isdefault", "omitzero,isdefault"}},
		{[]reflect.Type{reflect.TypeFor[any](), reflect.TypeFor[error](), reflect.TypeFor[*any]()}, []string{"", "required", "omitempty", "omitnil", "isdefault", "omitempty,required"}},
		{types(to(to(to("")))), presence},
		{types("", 0, uint8(0), uint64(0), 1.5, float32(0), false, []string{}, map[string]int{}, [3]string{}, to(""), to(0), to(false), to([]string{}), to(map[string]int{}),
			inner{}, to(inner{}), time.Time{}, complex(1, 1), [0]int{}, struct{}{}), presence},
	}
	c := newContenders(t)
	n, own := 0, 0
	for _, test := range cases {
		for _, typ := range test.types {
			for _, tag := range test.tags {
				s := oneField(typ, tag)
				for _, value := range values(typ) {
					ptr := reflect.New(s)
					ptr.Elem().Field(0).Set(value)
					if c.compare(t, ptr.Interface()) {
						own++
					}
					n++
				}
			}
		}
	}
	if n < 10_000 || own < n*9/10 {
		t.Fatalf("only %d combinations were tried, %d of them without the library", n, own)
	}
}

var (
	chanType = make(chan int)
	funcType = func() {}
)

func types(samples ...any) []reflect.Type {
	var list []reflect.Type
	for _, s := range samples {
		list = append(list, reflect.TypeOf(s))
	}
	return list
}
