package validate

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sabir-go/sabir/internal/library"
)

// Errors lists every field that failed, in the order of the struct's fields (maps have no order). A list longer
// than 1000 is cut; its last entry then reports how many more there were.
type Errors []FieldError

// FieldError is one field that failed one rule.
type FieldError struct {
	// Path names the field by its JSON names, such as "items[2].price". It is "" for the value itself.
	Path string `json:"path"`
	// Pointer is the same as a JSON Pointer (RFC 6901), such as "/items/2/price".
	Pointer string `json:"pointer"`
	// Rule is the rule as written in the tag, without its parameter: "max", "hexcolor|rgb", or an alias.
	Rule string `json:"rule"`
	// Param is the rule's parameter, such as "64" of max=64.
	Param string `json:"param,omitempty"`
	// Value is the value given: booleans, numbers, strings and times as they are, and short lists and maps of them.
	// A string is cut after 256 bytes. Longer or deeper lists are given as their length, structs not at all (nil).
	// A field tagged `sabir:"secret"`, and everything below it, has the value "***".
	Value any `json:"value"`
	// Message describes what is wrong, in the Validator's language.
	Message string `json:"message"`
}

// Error lists the messages of all fields.
func (e Errors) Error() string {
	return e.After("validation failed: ")
}

// After is the text of Error with another beginning.
func (e Errors) After(beginning string) string {
	size := len(beginning)
	for i := range e {
		size += len(e[i].Path) + len(e[i].Message) + len(": ; ")
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteString(beginning)
	for i := range e {
		if i > 0 {
			b.WriteString("; ")
		}
		if e[i].Path != "" {
			b.WriteString(e[i].Path)
			b.WriteString(": ")
		}
		b.WriteString(e[i].Message)
	}
	return b.String()
}

// Error is the field's path and message.
func (e FieldError) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// TagError is a validate tag that cannot work. It is found when the type is compiled.
type TagError struct {
	Type   reflect.Type // the struct type
	Field  string       // its field, by its Go name
	Tag    string       // the whole validate tag
	Reason string
}

// Error names the field, its struct type and the tag, and describes what is wrong with it.
func (e *TagError) Error() string {
	return fmt.Sprintf("validate: field %s of %v, tag %q: %s", e.Field, e.Type, e.Tag, e.Reason)
}

const (
	maxErrors     = 1000 // entries in Errors
	maxValueBytes = 256  // of a string that is echoed
	maxValueItems = 32   // of a list or map that is echoed
	secretValue   = "***"
)

// errors makes the error of what failed in a value of type t.
func (e *engine) errors(failed []library.Failure, t reflect.Type) Errors {
	list := make(Errors, 0, min(len(failed), maxErrors+1))
	for i, fe := range failed {
		if i == maxErrors {
			more := strconv.Itoa(len(failed) - i)
			return append(list, FieldError{Rule: "more", Param: more, Message: more + " more fields failed"})
		}
		list = append(list, e.fieldError(fe, t))
	}
	return list
}

func (e *engine) fieldError(fe library.Failure, t reflect.Type) FieldError {
	at := library.Locate(relative(fe.Namespace(), t))
	field := FieldError{
		Path:    at.Path,
		Pointer: at.Pointer,
		Rule:    fe.Tag(),
		Param:   fe.Param(),
		Message: e.message(fe),
	}
	if at.Marked {
		field.Message = library.Unmark.Replace(field.Message)
	}
	if at.Secret {
		field.Value = secretValue
	} else {
		field.Value = echo(fe.Value())
	}
	return field
}

// relative removes the name of the top type, which may itself contain dots and brackets (type parameters).
func relative(namespace string, t reflect.Type) string {
	if t.Kind() != reflect.Struct || t.Name() == "" {
		return namespace
	}
	return strings.TrimPrefix(strings.TrimPrefix(namespace, t.Name()), ".")
}

// echo is the form in which a value is given back to its sender: bounded, and without structs because these
// may contain secrets.
func echo(given any) any {
	switch value := given.(type) {
	case nil, bool, int, int64, float64, time.Time:
		return value
	case string:
		if len(value) > maxValueBytes {
			return cut(value)
		}
		return given
	}
	v := reflect.ValueOf(given)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		if v.Len() > maxValueBytes {
			return cut(v.String())
		}
	case reflect.Slice, reflect.Map, reflect.Array:
		if !short(v) {
			return fmt.Sprintf("(%d items)", v.Len())
		}
	default:
		if !scalar(v.Kind()) {
			return nil
		}
	}
	return v.Interface()
}

// short reports whether v is a list or map of few and short plain values.
func short(v reflect.Value) bool {
	if v.Len() > maxValueItems || !plain(v.Type().Elem().Kind()) {
		return false
	}
	if v.Kind() == reflect.Map {
		if !plain(v.Type().Key().Kind()) {
			return false
		}
		for it := v.MapRange(); it.Next(); {
			if long(it.Key()) || long(it.Value()) {
				return false
			}
		}
		return true
	}
	for i := range v.Len() {
		if long(v.Index(i)) {
			return false
		}
	}
	return true
}

func long(v reflect.Value) bool { return v.Kind() == reflect.String && v.Len() > maxValueBytes }

func plain(k reflect.Kind) bool { return k == reflect.String || scalar(k) }

// scalar reports whether k is a boolean or a number that JSON can hold.
func scalar(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Float64 }

// cut shortens s to the bound on echoed strings, between characters.
func cut(s string) string {
	end := maxValueBytes
	for end > maxValueBytes-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
