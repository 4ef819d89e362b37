package hessian_test

import (
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec/hessian"
)

type javaDate struct {
	Year  int32 `json:"year"`
	Month int32 `json:"month"`
	Day   int32 `json:"day"`
}

type javaTime struct {
	Hour   int32 `json:"hour"`
	Minute int32 `json:"minute"`
	Second int32 `json:"second"`
	Nano   int32 `json:"nano"`
}

type javaDateTime struct {
	Date *javaDate `json:"date"`
	Time *javaTime `json:"time"`
}

func init() {
	hessian.Register[javaDate]("com.alibaba.com.caucho.hessian.io.java8.LocalDateHandle")
	hessian.Register[javaTime]("com.alibaba.com.caucho.hessian.io.java8.LocalTimeHandle")
	hessian.Register[javaDateTime]("com.alibaba.com.caucho.hessian.io.java8.LocalDateTimeHandle")
}

func converted(t *testing.T, v any, target reflect.Type) (any, error) {
	t.Helper()
	d := hessian.NewDecoder(encode(t, v))
	d.Converting()
	got := reflect.New(target)
	err := d.Decode(got.Interface())
	return got.Elem().Interface(), err
}

// What Java's provider makes of the same arguments of a generic call (CompatibleTypeUtils of Dubbo 3.3.6).
func TestAConvertingDecoderReadsWhatIsWrittenAsAnotherType(t *testing.T) {
	local := time.Date(2024, 2, 29, 23, 1, 2, 0, time.Local).UTC()
	day, clock := &javaDate{2024, 2, 29}, &javaTime{23, 1, 2, 5e6}
	for _, c := range []struct{ from, want any }{
		{"5", int32(5)}, {"-5", int8(-5)}, {"5", uint64(5)}, {"9223372036854775807", int64(1<<63 - 1)}, {"1.5", 1.5}, {"1.5", float32(1.5)}, {"2.0", int16(2)},
		{"true", true}, {"FALSE", false}, {"1.50", hessian.Decimal("1.50")}, {1.5, hessian.Decimal("1.5")}, {hessian.Decimal("1.5"), 1.5}, {hessian.Decimal("7"), int64(7)},
		{"12345678901234567890", *bigNumber("12345678901234567890")}, {float64(7), *big.NewInt(7)},
		{int64(1709247662000), time.UnixMilli(1709247662000).UTC()}, {int32(5), time.UnixMilli(5).UTC()}, {"2024-02-29 23:01:02", local}, {"2024-02-29T23:01:02", local},
		{"2024-02-29T23:01:02+02:00", time.Date(2024, 2, 29, 21, 1, 2, 0, time.UTC)}, {"2024-02-29", time.Date(2024, 2, 29, 0, 0, 0, 0, time.Local).UTC()},
		{"2024-02-29", *day}, {"23:01:02.005", *clock}, {"23:01", javaTime{Hour: 23, Minute: 1}}, {"2024-02-29T23:01:02.005", javaDateTime{day, clock}},
		{[]any{"1", "2"}, []int32{1, 2}}, {map[string]any{"date": "2024-02-29"}, javaDateTime{Date: day}},
	} {
		target := reflect.TypeOf(c.want)
		if got, err := converted(t, c.from, target); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v as a %v is %v, %v; want %v", c.from, target, got, err, c.want)
		}
		if _, err := converted(t, c.from, reflect.PointerTo(target)); err != nil {
			t.Errorf("%v as a *%v: %v", c.from, target, err)
		}
		if err := hessian.Codec.Decode(encode(t, c.from), reflect.New(target).Interface()); err == nil && c.from != "1.50" {
			t.Errorf("%v is read as a %v without Converting", c.from, target)
		}
	}
}

func TestAConvertingDecoderRefusesWhatCannotBeConverted(t *testing.T) {
	for _, c := range []struct{ from, target any }{
		{"x", int32(0)}, {"", int32(0)}, {"300", int8(0)}, {"1.5", int64(0)}, {"-1", uint8(0)}, {"yes", false}, {"", false}, {1.5, false}, {"soon", time.Time{}}, {"", time.Time{}}, {true, time.Time{}},
		{"x", *big.NewInt(0)}, {1.5, *big.NewInt(0)}, {strings.Repeat("9", 5000), *big.NewInt(0)}, {"x", hessian.Decimal("")}, {true, hessian.Decimal("")},
		{"2024-02-30", javaDate{}}, {"24:00", javaTime{}}, {"2024-02-29", javaDateTime{}}, {"x", struct{ A int }{}}, {int32(1), javaDate{}},
	} {
		if got, err := converted(t, c.from, reflect.TypeOf(c.target)); err == nil {
			t.Errorf("%v is read as the %T %v", c.from, c.target, got)
		}
	}
}
