package telemetry

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/sabir-go/sabir/internal/layout"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/tag"
)

// The bounds of a value in a span.
const (
	maxValue      = 4 << 10 // bytes of its text
	maxValueDepth = 32
	maxMapKeys    = 256 // that are looked at, to sort them
	maxMarshaled  = 64 << 10
)

// secretNames are in the names of fields that hold a secret, in lower case and without "_" and "-".
var secretNames = []string{"password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey", "authorization",
	"cookie", "credential", "cardnumber", "creditcard", "cvv", "cvc"}

var withoutMarks = strings.NewReplacer("_", "", "-", "")

// values writes what calls take and return into their spans.
type values struct {
	patterns []string
	hidden   map[string]bool // names of fields, in lower case
	types    sync.Map        // reflect.Type to []valueField
}

// newValues returns nil where no value is wanted.
func newValues(patterns, hidden []string) *values {
	if len(patterns) == 0 {
		return nil
	}
	v := &values{patterns: patterns, hidden: make(map[string]bool, len(hidden))}
	for _, name := range hidden {
		v.hidden[strings.ToLower(name)] = true
	}
	return v
}

// of returns v for an action or events whose values are wanted, else nil. Sabir's own actions, whose names begin with "$", have to be
// meant by the pattern.
func (v *values) of(name string) *values {
	if v == nil || !slices.ContainsFunc(v.patterns, func(pattern string) bool {
		return names.Match(pattern, name) && (name[0] != '$' || pattern[0] == '$')
	}) {
		return nil
	}
	return v
}

// set writes what value points to, unless v is nil, or value is since a stream has no input.
func (v *values) set(s trace.Span, key attribute.Key, value any) {
	if v != nil && value != nil && s.IsRecording() {
		s.SetAttributes(key.String(v.text(value)))
	}
}

// text writes a value as JSON, which is cut where it is too long. It never looks at more than it writes, so a large value costs no more than
// a small one.
func (v *values) text(value any) (text string) {
	w := &valueWriter{of: v}
	defer func() {
		if recovered := recover(); recovered != nil {
			text = fmt.Sprintf("(a method of %T panicked: %.100v)", value, recovered)
		}
	}()
	if document, ok := value.(*json.RawMessage); ok { // its type is known to the node that handles it, and with it what is secret
		w.size(len(*document))
	} else {
		w.value(reflect.ValueOf(value), 0)
	}
	if len(w.buf) <= maxValue {
		return string(w.buf)
	}
	cut := maxValue
	for cut > maxValue-utf8.UTFMax && !utf8.RuneStart(w.buf[cut]) {
		cut--
	}
	return string(w.buf[:cut]) + "…"
}

// valueField is a field of a struct as it is written.
type valueField struct {
	key    string // `"name":`
	index  []int
	absent bool // where it is empty
	hidden bool
}

func (v *values) fields(t reflect.Type) []valueField {
	if known, ok := v.types.Load(t); ok {
		return known.([]valueField)
	}
	members, _ := layout.Rules{Inline: true}.Members(t)
	list := make([]valueField, 0, len(members))
	for _, m := range members {
		list = append(list, valueField{
			key: strconv.Quote(m.Name) + ":", index: m.Index, absent: m.Has("omitempty") || m.Has("omitzero"),
			hidden: v.hides(m.Name) || v.hides(m.StructField.Name) || tag.Secret(m.Tag.Get("sabir")),
		})
	}
	v.types.Store(t, list)
	return list
}

// hides reports whether the values of fields, or of keys of a map, with this name are hidden.
func (v *values) hides(name string) bool {
	name = strings.ToLower(name)
	if v.hidden[name] {
		return true
	}
	plain := withoutMarks.Replace(name)
	return slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(plain, part) })
}

// valueWriter writes one value.
type valueWriter struct {
	of  *values
	buf []byte
}

func (w *valueWriter) full() bool { return len(w.buf) > maxValue }

func (w *valueWriter) add(text string) { w.buf = append(w.buf, text...) }

// quote writes a string, or as much of it as there is room for.
func (w *valueWriter) quote(text string) {
	if rest := maxValue + 1 - len(w.buf); len(text) > rest {
		text = text[:max(0, rest)]
	}
	quoted, _ := json.Marshal(text) // a string is never refused
	w.buf = append(w.buf, quoted...)
}

func (w *valueWriter) value(v reflect.Value, depth int) {
	switch {
	case w.full():
		return
	case depth > maxValueDepth:
		w.add(`"…"`)
		return
	case !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil():
		w.add("null")
		return
	case v.CanInterface() && w.marshaled(v, depth):
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		w.value(v.Elem(), depth+1)
	case reflect.Bool:
		w.buf = strconv.AppendBool(w.buf, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.buf = strconv.AppendInt(w.buf, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		w.buf = strconv.AppendUint(w.buf, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		w.buf = strconv.AppendFloat(w.buf, v.Float(), 'g', -1, v.Type().Bits())
	case reflect.String:
		w.quote(v.String())
	case reflect.Slice, reflect.Array:
		w.list(v, depth)
	case reflect.Map:
		w.object(v, depth)
	case reflect.Struct:
		w.members(v, depth)
	default:
		w.quote(v.Type().String())
	}
}

// marshaled writes a value whose type says how, and reports whether it does.
func (w *valueWriter) marshaled(v reflect.Value, depth int) bool {
	if v.CanAddr() && v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface {
		v = v.Addr() // the methods of a pointer too
	}
	switch m := v.Interface().(type) {
	case json.Number: // its text is one
		w.add(string(m))
	case json.Marshaler:
		data, err := m.MarshalJSON()
		if err != nil {
			w.quote(err.Error())
		} else {
			w.document(data, depth)
		}
	case encoding.TextMarshaler:
		text, err := m.MarshalText()
		if err != nil {
			text = []byte(err.Error())
		}
		w.quote(string(text))
	default:
		return false
	}
	return true
}

// document writes JSON that a type made of itself; not as it is, since it may have names that are hidden.
func (w *valueWriter) document(data []byte, depth int) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // else large numbers would lose digits
	var plain any
	if len(data) > maxMarshaled || decoder.Decode(&plain) != nil {
		w.size(len(data))
	} else {
		w.value(reflect.ValueOf(plain), depth+1)
	}
}

// size writes how many bytes there are in place of them.
func (w *valueWriter) size(bytes int) {
	w.add(`"(`)
	w.buf = strconv.AppendInt(w.buf, int64(bytes), 10)
	w.add(` bytes)"`)
}

func (w *valueWriter) list(v reflect.Value, depth int) {
	switch {
	case v.Type().Elem().Kind() == reflect.Uint8:
		w.size(v.Len())
		return
	case v.Kind() == reflect.Slice && v.IsNil():
		w.add("null")
		return
	}
	w.add("[")
	for i := 0; i < v.Len() && !w.full(); i++ {
		if i > 0 {
			w.add(",")
		}
		w.value(v.Index(i), depth+1)
	}
	w.add("]")
}

func (w *valueWriter) object(v reflect.Value, depth int) {
	if v.IsNil() {
		w.add("null")
		return
	}
	type entry struct {
		key   string
		value reflect.Value
	}
	entries := make([]entry, 0, min(v.Len(), maxMapKeys))
	for all := v.MapRange(); len(entries) < maxMapKeys && all.Next(); {
		key := all.Key()
		text, ok := key.Interface().(encoding.TextMarshaler)
		if ok {
			if made, err := text.MarshalText(); err == nil {
				entries = append(entries, entry{string(made), all.Value()})
				continue
			}
		}
		entries = append(entries, entry{fmt.Sprint(key.Interface()), all.Value()})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	w.add("{")
	for i, e := range entries {
		if w.full() {
			break
		}
		if i > 0 {
			w.add(",")
		}
		w.quote(e.key)
		w.add(":")
		if w.of.hides(e.key) {
			w.quote(redacted)
		} else {
			w.value(e.value, depth+1)
		}
	}
	if left := v.Len() - len(entries); left > 0 {
		w.add(`,"…":`)
		w.buf = strconv.AppendInt(w.buf, int64(left), 10)
	}
	w.add("}")
}

func (w *valueWriter) members(v reflect.Value, depth int) {
	w.add("{")
	first := true
	for _, f := range w.of.fields(v.Type()) {
		if w.full() {
			break
		}
		field, err := v.FieldByIndexErr(f.index)
		if err != nil || f.absent && isEmpty(field) { // an error is an embedded pointer that is nil
			continue
		}
		if !first {
			w.add(",")
		}
		first = false
		w.add(f.key)
		if f.hidden {
			w.quote(redacted)
		} else {
			w.value(field, depth+1)
		}
	}
	w.add("}")
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	}
	return v.IsZero()
}
