package codectest

import (
	"encoding"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// The methods of the types below call method. The tests that use it run one after the other.
var method struct {
	sync.Mutex
	calls int
	then  func()
}

func called() {
	method.Lock()
	method.calls++
	then := method.then
	method.Unlock()
	if then != nil {
		then()
	}
}

// during runs f with methods that do then, and returns how often they were called.
func during(then func(), f func()) int {
	method.Lock()
	method.calls, method.then = 0, then
	method.Unlock()
	f()
	method.Lock()
	defer method.Unlock()
	method.then = nil
	return method.calls
}

// Each of these types has one pair of methods by which codecs write and read values. All are strings, so that a codec that does
// not know the methods can write them too.
type (
	textValue     string // methods on the value and the pointer
	textPointer   struct{ Text string }
	textAppender  string
	binaryValue   string
	binaryPointer struct{ Text string }
	binaryAppend  string
	jsonValue     string
	jsonPointer   struct{ Text string }
	gobValue      string
	zeroValue     struct{ Text string }
	zeroPointer   struct{ Text string }
	textProtest   string // the errors of these panic when asked for their text
	binaryProtest string
	jsonProtest   string
	gobProtest    string
	printedValue  string
)

func (v textValue) MarshalText() ([]byte, error)    { called(); return []byte(v), nil }
func (v *textValue) UnmarshalText(b []byte) error   { called(); *v = textValue(b); return nil }
func (v *textPointer) MarshalText() ([]byte, error) { called(); return []byte(v.Text), nil }
func (v *textPointer) UnmarshalText(b []byte) error { called(); v.Text = string(b); return nil }

func (v textAppender) MarshalText() ([]byte, error)          { called(); return []byte(v), nil }
func (v textAppender) AppendText(dst []byte) ([]byte, error) { called(); return append(dst, v...), nil }
func (v *textAppender) UnmarshalText(b []byte) error         { called(); *v = textAppender(b); return nil }

func (v binaryValue) MarshalBinary() ([]byte, error)    { called(); return []byte(v), nil }
func (v *binaryValue) UnmarshalBinary(b []byte) error   { called(); *v = binaryValue(b); return nil }
func (v *binaryPointer) MarshalBinary() ([]byte, error) { called(); return []byte(v.Text), nil }
func (v *binaryPointer) UnmarshalBinary(b []byte) error { called(); v.Text = string(b); return nil }

func (v binaryAppend) MarshalBinary() ([]byte, error) { called(); return []byte(v), nil }
func (v binaryAppend) AppendBinary(dst []byte) ([]byte, error) {
	called()
	return append(dst, v...), nil
}
func (v *binaryAppend) UnmarshalBinary(b []byte) error { called(); *v = binaryAppend(b); return nil }

func (v jsonValue) MarshalJSON() ([]byte, error) { called(); return []byte(`"` + v + `"`), nil }
func (v *jsonValue) UnmarshalJSON(b []byte) error {
	called()
	*v = jsonValue(strings.Trim(string(b), `"`))
	return nil
}
func (v *jsonPointer) MarshalJSON() ([]byte, error) { called(); return []byte(`"` + v.Text + `"`), nil }
func (v *jsonPointer) UnmarshalJSON(b []byte) error {
	called()
	v.Text = strings.Trim(string(b), `"`)
	return nil
}

func (v gobValue) GobEncode() ([]byte, error) { called(); return []byte(v), nil }
func (v *gobValue) GobDecode(b []byte) error  { called(); *v = gobValue(b); return nil }
func (v zeroValue) IsZero() bool              { called(); return v.Text == "" }
func (v *zeroPointer) IsZero() bool           { called(); return v.Text == "" }
func (v printedValue) Error() string          { called(); return string(v) }
func (v printedValue) String() string         { called(); return string(v) }
func (v printedValue) Format(fmt.State, rune) { called() }
func (v printedValue) GoString() string       { called(); return string(v) }

// protest is the error that a method returns for a value that it refuses. Its Error is user code too, which the codec calls.
type protest struct{}

func (protest) Error() string { called(); return "no" }

const (
	unwritable = "unwritable"
	unreadable = "unreadable"
)

func protesting[T ~string | ~[]byte](v T, refused string) ([]byte, error) {
	if strings.Trim(string(v), `"`) == refused {
		return nil, protest{}
	}
	return []byte(v), nil
}

func (v textProtest) MarshalText() ([]byte, error)     { return protesting(v, unwritable) }
func (v binaryProtest) MarshalBinary() ([]byte, error) { return protesting(v, unwritable) }
func (v jsonProtest) MarshalJSON() ([]byte, error)     { return protesting(`"`+v+`"`, unwritable) }
func (v gobProtest) GobEncode() ([]byte, error)        { return protesting(v, unwritable) }

func (v *textProtest) UnmarshalText(b []byte) error { _, err := protesting(b, unreadable); return err }
func (v *binaryProtest) UnmarshalBinary(b []byte) error {
	_, err := protesting(b, unreadable)
	return err
}
func (v *jsonProtest) UnmarshalJSON(b []byte) error { _, err := protesting(b, unreadable); return err }
func (v *gobProtest) GobDecode(b []byte) error      { _, err := protesting(b, unreadable); return err }

// A carrier is a value that leads a codec to one method, in one place.
type carrier struct {
	kind  string // of the methods
	name  string
	value any
}

// carriers puts a value into each of the places where values may be.
func carriers[T comparable](name string, v T) []carrier {
	type embedding struct {
		Before string `json:"before"`
		In     T      `json:"in"`
	}
	return []carrier{
		{name, name, v},
		{name, name + " in a struct", struct {
			Before int    `json:"before"`
			In     T      `json:"in"`
			After  string `json:"after"`
		}{1, v, "after"}},
		{name, name + " behind a pointer", struct {
			In *T `json:"in"`
		}{&v}},
		{name, name + " in a list", []T{v, v}},
		{name, name + " in a list of pointers", []*T{&v}},
		{name, name + " in an array", [2]T{v, v}},
		{name, name + " in a map", map[string]T{"a": v}},
		{name, name + " in a map of pointers", map[string]*T{"a": &v}},
		{name, name + " as a key", map[T]int{v: 1}},
		{name, name + " in a map of lists", map[string][]T{"a": {v}}},
		{name, name + " in nested structs", struct {
			In []embedding `json:"in"`
		}{[]embedding{{"b", v}}}},
		{name, name + " in an interface", struct {
			In any `json:"in"`
		}{v}},
		{name, name + " in a list of any", []any{1, v}},
		{name, name + " in a map of any", map[string]any{"a": map[string]any{"b": v}}},
		{name, name + " that may be left out", struct {
			In T `json:"in,omitzero"`
		}{v}},
		{name, name + " that may be left out, behind a pointer", struct {
			In *T `json:"in,omitzero"`
		}{&v}},
	}
}

func allCarriers() []carrier {
	return slices.Concat(
		carriers("MarshalText", textValue("a")), carriers("MarshalText of a pointer", textPointer{"a"}), carriers("AppendText", textAppender("a")),
		carriers("MarshalBinary", binaryValue("a")), carriers("MarshalBinary of a pointer", binaryPointer{"a"}), carriers("AppendBinary", binaryAppend("a")),
		carriers("MarshalJSON", jsonValue("a")), carriers("MarshalJSON of a pointer", jsonPointer{"a"}),
		carriers("GobEncode", gobValue("a")),
		carriers("IsZero", zeroValue{"a"}), carriers("IsZero of a pointer", zeroPointer{"a"}),
		carriers("Error of MarshalText", textProtest(unwritable)), carriers("Error of UnmarshalText", textProtest(unreadable)),
		carriers("Error of MarshalBinary", binaryProtest(unwritable)), carriers("Error of UnmarshalBinary", binaryProtest(unreadable)),
		carriers("Error of MarshalJSON", jsonProtest(unwritable)), carriers("Error of UnmarshalJSON", jsonProtest(unreadable)),
		carriers("Error of GobEncode", gobProtest(unwritable)), carriers("Error of GobDecode", gobProtest(unreadable)),
		carriers("Error, String and Format", printedValue("a")),
	)
}

// faultyValues make code panic that was not written to panic.
func faultyValues() []carrier {
	type (
		promoted struct {
			*textPointer
			Name string `json:"name"`
		}
		Embedded struct {
			*Promoted
			Name string `json:"name"`
		}
		zero struct {
			In *zeroPromoted `json:"in,omitzero"`
		}
		inner struct {
			In zeroPromoted `json:"in,omitzero"`
		}
	)
	var (
		none    *textValue
		binary  *binaryValue
		noTime  *time.Time
		pointer any = none
	)
	return []carrier{
		{"", "a nil time in a list of pointers", []*time.Time{nil}},
		{"", "a nil time in a map of pointers", map[string]*time.Time{"a": nil}},
		{"", "a nil time in an interface", holder{"x", noTime}},
		{"", "nil pointers to a type with methods on the value", []*textValue{nil}},
		{"", "the same for bytes", []*binaryValue{nil}},
		{"", "the same for JSON", []*jsonValue{nil}},
		{"", "the same for gob", []*gobValue{nil}},
		{"", "a nil pointer with methods in an interface", holder{"x", pointer}},
		{"", "the same for bytes in a list", []any{binary}},
		{"", "a nil interface with methods", struct {
			In encoding.TextMarshaler `json:"in"`
		}{}},
		{"", "a nil pointer in an interface with methods", struct {
			In encoding.TextMarshaler `json:"in"`
		}{none}},
		{"", "methods of an embedded pointer that is nil", promoted{Name: "x"}},
		{"", "methods of an exported embedded pointer that is nil", Embedded{Name: "x"}},
		{"", "those in a list", []Embedded{{Name: "x"}}},
		{"", "those as values of a map", map[string]Embedded{"a": {Name: "x"}}},
		{"", "IsZero of an embedded pointer that is nil", inner{}},
		{"", "IsZero behind a pointer, of an embedded pointer that is nil", zero{&zeroPromoted{}}},
	}
}

// Promoted has methods on the value, which panic where it is embedded as a nil pointer.
type Promoted struct{ Text string }

// MarshalText is promoted to the struct that embeds a *Promoted.
func (v Promoted) MarshalText() ([]byte, error) { return []byte(v.Text), nil }

// UnmarshalText is promoted too.
func (v *Promoted) UnmarshalText(b []byte) error { v.Text = string(b); return nil }

type zeroPromoted struct{ *Zero }

// Zero has an IsZero on the value.
type Zero struct{ Text string }

// IsZero is promoted to the struct that embeds a *Zero.
func (v Zero) IsZero() bool { return v.Text == "" }
