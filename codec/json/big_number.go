package json

import (
	"encoding"
	"errors"
	"math/big"
	"reflect"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sabir-go/sabir/internal/layout"
)

// bigNumbers reads the numbers of math/big as they read themselves, up to a length: see [layout.MaxDigits].
var bigNumbers = jsonv2.JoinUnmarshalers(
	jsonv2.UnmarshalFunc(func(text []byte, v *big.Int) error {
		if err := layout.CheckDigits(reflect.TypeFor[big.Int](), text); err != nil {
			return err
		}
		return v.UnmarshalJSON(text)
	}),
	jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, v *big.Float) error { return readText(d, v) }),
	jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, v *big.Rat) error { return readText(d, v) }),
)

// readText has a value read itself from a JSON text, and leaves all other JSON to the library.
func readText[T encoding.TextUnmarshaler](d *jsontext.Decoder, v T) error {
	if d.PeekKind() != '"' {
		return errors.ErrUnsupported
	}
	quoted, err := d.ReadValue()
	if err != nil {
		return err
	}
	if err := layout.CheckDigits(reflect.TypeFor[T]().Elem(), quoted); err != nil {
		return err
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return err
	}
	return v.UnmarshalText(text)
}
