package json

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sabir-go/sabir/codec"
)

// maxMessage bounds the text that a type's own method adds to an error, in bytes.
const maxMessage = 256

// maxShownNumber is the longest number, in bytes, that an error repeats.
const maxShownNumber = 32

// decodeError returns a [codec.Error] for why the library could not decode data into v.
func decodeError(data []byte, v any, err error) error {
	if target := reflect.ValueOf(v); target.Kind() != reflect.Pointer || target.IsNil() {
		return &codec.Error{Codec: Name, Offset: -1, Message: fmt.Sprintf("Decode needs a non-nil pointer, got %T", v), Err: err}
	}
	switch err := err.(type) { // the outermost only: one further in counts from the start of a part
	case *jsontext.SyntacticError:
		return syntaxError(data, err)
	case *jsonv2.SemanticError:
		return valueError(err)
	}
	return &codec.Error{Codec: Name, Offset: -1, Message: shorten(err.Error()), Err: err}
}

// syntaxError returns the error for text that is not JSON, or not I-JSON.
func syntaxError(data []byte, syntactic *jsontext.SyntacticError) *codec.Error {
	e := &codec.Error{
		Codec:   Name,
		Offset:  syntactic.ByteOffset,
		Pointer: string(syntactic.JSONPointer),
		Err:     syntactic,
	}
	switch {
	case errors.Is(syntactic.Err, io.ErrUnexpectedEOF) && len(bytes.TrimLeft(data, " \t\r\n")) == 0:
		e.Offset = -1
		e.Message = "empty body, want JSON"
	case errors.Is(syntactic.Err, io.ErrUnexpectedEOF):
		e.Message = "the text ends in the middle of a value"
	case errors.Is(syntactic.Err, jsontext.ErrDuplicateName):
		e.Message = "the object has this name twice"
	case syntactic.Err != nil:
		e.Message = shorten(syntactic.Err.Error())
	}
	return e
}

// valueError returns the error for JSON that does not fit the target.
func valueError(semantic *jsonv2.SemanticError) *codec.Error {
	e := &codec.Error{
		Codec:   Name,
		Offset:  semantic.ByteOffset,
		Pointer: string(semantic.JSONPointer),
		Err:     semantic,
	}
	if inner, ok := errors.AsType[*codec.Error](semantic.Err); ok && inner.Codec == Name {
		return within(e, inner)
	}
	if errors.Is(semantic.Err, jsonv2.ErrUnknownName) {
		e.Message = "the target has no such member"
		return e
	}
	e.Want, e.Got = describeTarget(semantic), describeValue(semantic)
	if e.Want == "" || e.Want == e.Got { // the kind is right, and the cause describes what is not
		e.Want, e.Got = "", ""
	}
	e.Message = describeCause(semantic, e.Want)
	return e
}

// within places inner, from an UnmarshalJSON that called this codec for a part of the text, at the place of outer.
func within(outer, inner *codec.Error) *codec.Error {
	placed := *inner
	placed.Pointer = outer.Pointer + inner.Pointer
	placed.Offset = outer.Offset + max(inner.Offset, 0)
	placed.Err = outer.Err
	return &placed
}

// encodeError returns a [codec.Error] for why the library could not encode a value. Offset is -1 throughout,
// because there is no input that it could count.
func encodeError(err error) error {
	e := &codec.Error{Codec: Name, Offset: -1, Err: err}
	var what string
	cause := err
	switch err := err.(type) {
	case *jsontext.SyntacticError:
		e.Pointer, cause = string(err.JSONPointer), err.Err
	case *jsonv2.SemanticError:
		e.Pointer, cause = string(err.JSONPointer), err.Err
		if err.GoType != nil {
			what = " Go type " + err.GoType.String()
		}
	}
	e.Message = "cannot encode" + what
	if cause != nil {
		e.Message += ": " + shorten(cause.Error())
	}
	return e
}

// describeTarget names what the target takes, in the words of JSON, or returns "" if only the target's own method
// knows.
func describeTarget(semantic *jsonv2.SemanticError) string {
	t := semantic.GoType
	if t == nil || semantic.JSONKind == jsontext.KindInvalid {
		return ""
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "string with a time such as 2006-01-02T15:04:05Z (RFC 3339)"
	case t == reflect.TypeFor[time.Duration]():
		return "integer (nanoseconds)"
	case has[jsonv2.UnmarshalerFrom](t), has[jsonv2.Unmarshaler](t):
		return ""
	case has[encoding.TextUnmarshaler](t) && semantic.JSONKind == jsontext.KindString:
		return ""
	case has[encoding.TextUnmarshaler](t):
		return "string"
	}
	want := describeKind(t, errors.Is(semantic.Err, strconv.ErrRange))
	if quoted(t, semantic) {
		return "string holding the " + want
	}
	return want
}

// quoted reports whether the target is a field with the tag option "string": nothing is wrong with the value but
// that it stands there without quotes.
func quoted(t reflect.Type, semantic *jsonv2.SemanticError) bool {
	if semantic.Err != nil {
		return false
	}
	switch semantic.JSONKind {
	case jsontext.KindNumber:
		return t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64
	case jsontext.KindTrue, jsontext.KindFalse:
		return t.Kind() == reflect.Bool
	}
	return false
}

// describeKind names what a Go type without methods takes; outOfRange asks for the limits of a number.
func describeKind(t reflect.Type, outOfRange bool) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if outOfRange {
			highest := int64(math.MaxInt64) >> (64 - t.Bits())
			return fmt.Sprintf("integer from %d to %d", -highest-1, highest)
		}
		return "integer"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return fmt.Sprintf("integer from 0 to %d", uint64(math.MaxUint64)>>(64-t.Bits()))
	case reflect.Float32, reflect.Float64:
		if outOfRange {
			return fmt.Sprintf("number that fits a float of %d bits", t.Bits())
		}
		return "number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "string in base64"
		}
		return "array"
	case reflect.Array:
		return fmt.Sprintf("array of %d elements", t.Len())
	case reflect.Map, reflect.Struct:
		return "object"
	}
	return ""
}

// has reports whether a pointer to t has the methods of Interface.
func has[Interface any](t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[Interface]())
}

// describeValue names what the text has: its kind, and the digits if it is a short number. A string is never
// repeated, since it may be a secret.
func describeValue(semantic *jsonv2.SemanticError) string {
	switch semantic.JSONKind {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindFalse, jsontext.KindTrue:
		return "boolean"
	case jsontext.KindString:
		return "string"
	case jsontext.KindNumber:
		if n := len(semantic.JSONValue); n > 0 && n <= maxShownNumber {
			return "number " + string(semantic.JSONValue)
		}
		return "number"
	case jsontext.KindBeginObject, jsontext.KindEndObject:
		return "object"
	case jsontext.KindBeginArray, jsontext.KindEndArray:
		return "array"
	}
	return ""
}

// describeCause returns the text that the underlying error adds to want, the description of the target.
func describeCause(semantic *jsonv2.SemanticError, want string) string {
	cause := semantic.Err
	_, badTime := errors.AsType[*time.ParseError](cause) // its text repeats the string
	switch {
	case want == "" && semantic.GoType != nil && (cause == nil || semantic.GoType.Kind() == reflect.Interface):
		return fmt.Sprintf("Go type %v cannot hold JSON", semantic.GoType)
	case cause == nil, badTime, errors.Is(cause, strconv.ErrRange), errors.Is(cause, strconv.ErrSyntax):
		return ""
	case want == "string":
		return "" // the cause has the same
	}
	return shorten(cause.Error())
}

// shorten cuts a message that is not this package's own, and keeps it on one line.
func shorten(message string) string {
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, message)
}
