package dubbo

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/sabir-go/sabir/codec/hessian"
)

// appendGeneralized appends an answer for a caller without its classes: objects are maps, with their class under "class".
func appendGeneralized(dst []byte, v any) ([]byte, error) {
	data, err := hessian.Codec.Append(nil, v)
	if err != nil {
		return dst, err
	}
	d := hessian.NewDecoder(data)
	d.Unregistered()
	var value any
	if err := d.Decode(&value); err != nil {
		return dst, err
	}
	g := generalizing{made: make(map[*hessian.Object]map[string]any), seen: make(map[uintptr]bool)}
	return hessian.Codec.Append(dst, g.value(value))
}

// generalizing keeps what was made of objects, and which lists and maps were changed, since each may occur twice, or within itself.
type generalizing struct {
	made map[*hessian.Object]map[string]any
	seen map[uintptr]bool
}

func (g *generalizing) value(value any) any {
	at := reflect.ValueOf(value)
	switch at.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if g.seen[at.Pointer()] && at.Type() != reflect.TypeFor[*hessian.Object]() {
			return value
		}
		g.seen[at.Pointer()] = true
	}
	switch v := value.(type) {
	case hessian.Decimal:
		return v
	case *hessian.Object:
		if text := timeText(v); text != "" {
			return text
		}
		if m, known := g.made[v]; known {
			return m
		}
		m := make(map[string]any, len(v.Fields)+1)
		g.made[v] = m
		m["class"] = v.Class
		for _, f := range v.Fields {
			m[f.Name] = g.value(f.Value)
		}
		return m
	case []any:
		for i := range v {
			v[i] = g.value(v[i])
		}
	case *hessian.List:
		for i := range v.Items {
			v.Items[i] = g.value(v.Items[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = g.value(v[key])
		}
	case *hessian.Map:
		for i := range v.Entries {
			v.Entries[i].Key, v.Entries[i].Value = g.value(v.Entries[i].Key), g.value(v.Entries[i].Value)
		}
	default:
		if at.Kind() == reflect.String {
			return at.String() // an enum, as Java's generic answers have it
		}
	}
	return value
}

// timeText is a java.time.LocalDate, LocalTime or LocalDateTime as its text, as which Java's generic answers have it; "" for other objects.
func timeText(o *hessian.Object) string {
	kind, ok := strings.CutPrefix(o.Class, "com.alibaba.com.caucho.hessian.io.java8.")
	if !ok {
		return ""
	}
	part := func(name string) any {
		for _, f := range o.Fields {
			if f.Name == name {
				return f.Value
			}
		}
		return nil
	}
	number := func(name string) int {
		n, _ := part(name).(int32)
		return int(n)
	}
	switch kind {
	case "LocalDateHandle":
		return fmt.Sprintf("%04d-%02d-%02d", number("year"), number("month"), number("day"))
	case "LocalTimeHandle":
		text := fmt.Sprintf("%02d:%02d", number("hour"), number("minute"))
		second, nano := number("second"), number("nano")
		if second != 0 || nano != 0 {
			text += fmt.Sprintf(":%02d", second)
		}
		switch {
		case nano == 0:
		case nano%1e6 == 0:
			text += fmt.Sprintf(".%03d", nano/1e6)
		case nano%1e3 == 0:
			text += fmt.Sprintf(".%06d", nano/1e3)
		default:
			text += fmt.Sprintf(".%09d", nano)
		}
		return text
	case "LocalDateTimeHandle":
		day, _ := part("date").(*hessian.Object)
		clock, _ := part("time").(*hessian.Object)
		if day != nil && clock != nil {
			return timeText(day) + "T" + timeText(clock)
		}
	}
	return ""
}
