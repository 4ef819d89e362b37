package hessian_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/sabir-go/sabir/codec/hessian"
)

type javaColor string

func init() { hessian.Register[javaColor]("Arbiter$Color") }

func extra(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/extra", name+".bin"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What the Java library writes for values that its own test leaves out, and what an any and a Go type make of it.
func TestReadsJavaTypes(t *testing.T) {
	minute := time.UnixMilli(-60000).UTC()
	for name, want := range map[string]struct{ any, typed any }{
		"short":                {int16(300), int16(300)},
		"byte":                 {int8(-3), int64(-3)},
		"float":                {float32(1.5), 1.5},
		"char":                 {"x", "x"},
		"boxedShorts":          {&hessian.List{Type: "[java.lang.Short", Items: []any{int16(1), int16(-2)}}, []int16{1, -2}},
		"shorts":               {&hessian.List{Type: "[short", Items: []any{int32(1), int32(-2)}}, []int16{1, -2}},
		"ints":                 {&hessian.List{Type: "[int", Items: []any{int32(1), int32(1 << 30)}}, [2]int{1, 1 << 30}},
		"longs":                {&hessian.List{Type: "[long", Items: []any{int64(1), int64(1 << 40)}}, []uint64{1, 1 << 40}},
		"doubles":              {&hessian.List{Type: "[double", Items: []any{1.0, 0.5, 1.25, 1e300}}, []float64{1, 0.5, 1.25, 1e300}},
		"booleans":             {&hessian.List{Type: "[boolean", Items: []any{true, false}}, []bool{true, false}},
		"decimal":              {hessian.Decimal("-12.50"), hessian.Decimal("-12.50")},
		"bigInteger":           {bigNumber("-123456789012345678901234567890"), bigNumber("-123456789012345678901234567890")},
		"enum":                 {javaColor("GREEN"), "GREEN"},
		"enums":                {[]any{javaColor("RED"), javaColor("GREEN"), javaColor("RED")}, []javaColor{"RED", "GREEN", "RED"}},
		"sqlTimestamp":         {time.UnixMilli(894621091123).UTC(), time.UnixMilli(894621091123).UTC()},
		"linkedList":           {&hessian.List{Type: "java.util.LinkedList", Items: []any{"a", "b"}}, []string{"a", "b"}},
		"hashSet":              {&hessian.List{Type: "java.util.HashSet", Items: []any{"a"}}, []string{"a"}},
		"emoji":                {"a😀b", "a😀b"},
		"loneSurrogate":        {"a\ufffdb", "a\ufffdb"},
		"emojiChunks":          {"x" + strings.Repeat("😀", 40000), "x" + strings.Repeat("😀", 40000)},
		"dateBefore1970":       {time.UnixMilli(-1).UTC(), time.UnixMilli(-1).UTC()},
		"dateMinuteBefore1970": {minute, &minute},
	} {
		data := extra(t, name)
		if got := decode[any](t, data); !reflect.DeepEqual(got, want.any) {
			t.Errorf("%s: got %#v, want %#v", name, got, want.any)
		}
		typed := reflect.New(reflect.TypeOf(want.typed))
		if err := hessian.Codec.Decode(data, typed.Interface()); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(typed.Elem().Interface(), want.typed) {
			t.Errorf("%s: got %#v, want %#v", name, typed.Elem(), want.typed)
		}
	}
}

func bigNumber(s string) *big.Int {
	i, _ := new(big.Int).SetString(s, 10)
	return i
}

// Of these an any keeps all that Java wrote, so the same bytes come out again.
func TestAnAnyIsWrittenAsJavaWroteIt(t *testing.T) {
	for _, name := range []string{"shorts", "ints", "longs", "doubles", "booleans", "char", "decimal", "enum", "linkedList", "hashSet",
		"treeMap", "emoji", "emojiChunks", "dateBefore1970", "dateMinuteBefore1970", "shared", "types"} {
		data := extra(t, name)
		again := encode(t, decode[any](t, data))
		if string(again) != string(data) {
			t.Errorf("%s: got %.300q, want %.300q", name, again, data)
		}
	}
}

func TestReadsAndWritesJavaExceptions(t *testing.T) {
	got := decode[*hessian.Exception](t, extra(t, "exception"))
	check := func(got *hessian.Exception) {
		t.Helper()
		var err error = got
		if err.Error() != "java.lang.IllegalStateException: closed" || errors.Unwrap(err).Error() != "java.lang.RuntimeException: inner" || errors.Unwrap(errors.Unwrap(err)) != nil {
			t.Errorf("got %v, caused by %v", err, errors.Unwrap(err))
		}
		want := hessian.StackTrace{{Class: "com.example.Door", Method: "open", File: "Door.java", Line: 12}}
		if !reflect.DeepEqual(got.StackTrace, want) {
			t.Errorf("got the stack trace %+v", got.StackTrace)
		}
		if len(got.Suppressed) != 1 || got.Suppressed[0].Class != "java.lang.Error" || got.Suppressed[0].Message != "late" {
			t.Errorf("got the suppressed exceptions %+v", got.Suppressed)
		}
	}
	check(got)
	check(decode[*hessian.Exception](t, encode(t, got)))
}

// javaHash returns the result of Java's String.hashCode for s.
func javaHash(s string) (hash int32) {
	for _, unit := range utf16.Encode([]rune(s)) {
		hash = 31*hash + int32(unit)
	}
	return hash
}

// What Go writes is read by Java, which prints what it sees.
func TestJavaReadsGoTypes(t *testing.T) {
	run := javaArbiter(t)
	dir := t.TempDir()
	cause := &hessian.Exception{Class: "java.lang.RuntimeException", Message: "inner"}
	cases := map[string]struct {
		value any
		want  string
	}{
		"decimal":    {hessian.Decimal("12.50"), "java.math.BigDecimal 12.50"},
		"bigInteger": {bigNumber("-123456789012345678901234567890"), "java.math.BigInteger -123456789012345678901234567890"},
		"zero":       {new(big.Int), "java.math.BigInteger 0"},
		"maxUint64":  {uint64(math.MaxUint64), "java.math.BigInteger 18446744073709551615"},
		"exception": {&hessian.Exception{Class: "java.lang.IllegalStateException", Message: "closed", Cause: cause},
			"java.lang.IllegalStateException java.lang.IllegalStateException: closed cause java.lang.RuntimeException: inner"},
		"ints":       {&hessian.List{Type: "[int", Items: []any{int32(1), int32(2)}}, "[I [1, 2]"},
		"set":        {&hessian.List{Type: "java.util.HashSet", Items: []any{"a"}}, "java.util.HashSet [a]"},
		"tree":       {&hessian.Map{Type: "java.util.TreeMap", Entries: []hessian.Entry{{Key: "b", Value: int32(2)}, {Key: "a", Value: 1.5}}}, "java.util.TreeMap {a=1.5, b=2}"},
		"struct":     {struct{ Name string }{"Ada"}, "java.util.HashMap {Name=Ada}"},
		"long":       {int64(7), "java.lang.Long 7"},
		"emoji":      {"x" + strings.Repeat("😀", 40000), fmt.Sprint("java.lang.String 80001 ", javaHash("x"+strings.Repeat("😀", 40000)))},
		"nil":        {nil, "null"},
		"time":       {time.UnixMilli(1), "java.util.Date Thu Jan 01 "},
		"noSuchType": {&hessian.Object{Class: "com.example.NoSuch", Fields: []hessian.Field{{Name: "a", Value: "b"}}}, "java.util.HashMap {a=b}"},
		"double":     {math.SmallestNonzeroFloat64, "java.lang.Double 4.9E-324"},
		"bytes":      {make([]byte, 100_000), "[B "},
	}
	for name, c := range cases {
		writeValue(t, filepath.Join(dir, name+".bin"), c.value)
	}
	seen := 0
	for line := range strings.Lines(run("echo", dir)) {
		name, got, _ := strings.Cut(strings.TrimSpace(line), " ")
		if want := cases[name].want; !strings.HasPrefix(got, want) {
			t.Errorf("%s: Java reads %q, want %q", name, got, want)
		}
		seen++
	}
	if seen != len(cases) {
		t.Errorf("Java read %d of %d values", seen, len(cases))
	}
	// What Java writes of them in turn is the same value again.
	for name, c := range cases {
		if c.value == nil || name == "noSuchType" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, name+".out"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		back := reflect.New(reflect.TypeOf(c.value))
		if err := hessian.Codec.Decode(data, back.Interface()); err != nil {
			t.Errorf("%s from Java: %v", name, err)
			continue
		}
		if name == "exception" || name == "time" || name == "tree" { // Java fills in a trace, Go a zone, and Java sorts
			continue
		}
		if !reflect.DeepEqual(back.Elem().Interface(), c.value) {
			t.Errorf("%s from Java: got %.200v, want %.200v", name, back.Elem(), c.value)
		}
	}
}

// What Dubbo's library, hessian-lite 4.0.4, writes for an ArrayList of set, set and EnumSet.noneOf(Color.class), with set = EnumSet.of(RED, GREEN).
const javaEnumSets = "{C00com.alibaba.com.caucho.hessian.io.EnumSetHandler\x92\x07objects\x04type`r\x07[objectC\x0dArbiter$Color\x91\x04name" +
	"a\x03REDa\x05GREENC\x0fjava.lang.Class\x91\x04nameb\x0dArbiter$Color`r\x90Q\x93Q\x94Q\x95`p\x90Q\x95"

func TestAnEnumSetOfJavaIsReadAsTheListOfItsConstants(t *testing.T) {
	want := [][]javaColor{{"RED", "GREEN"}, {"RED", "GREEN"}, {}}
	if got := decode[[][]javaColor](t, []byte(javaEnumSets)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := decode[[][]string](t, []byte(javaEnumSets)); len(got) != 3 || got[1][1] != "GREEN" {
		t.Errorf("as texts: %q", got)
	}
	var other struct{ List []int32 }
	if err := hessian.Codec.Decode([]byte("H\x04ListC\x01X\x91\x07objects`x\x91Z"), &other); err == nil || !strings.Contains(err.Error(), "want list, got object") {
		t.Errorf("an object of another class in the place of a list: %v", err)
	}
}
