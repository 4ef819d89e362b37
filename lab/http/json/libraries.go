package main

import (
	"bytes"
	"encoding/json"
	"log"
	"reflect"
	"unsafe"

	"github.com/bytedance/sonic"
	"github.com/bytedance/sonic/encoder"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-playground/validator/v10"
	goccy "github.com/goccy/go-json"
	segmentio "github.com/segmentio/encoding/json"

	sabir "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/lab/http/user"
	"github.com/sabir-go/sabir/validate"
)

// library is a JSON library with the validation that is usual with it. encode writes into buffer where the library can.
type library struct {
	decode func(text []byte, u *user.User) error
	encode func(buffer []byte, u *user.User) ([]byte, error)
}

// libraries by the names of their rows.
func libraries() map[string]library {
	return map[string]library{
		"Sabir":            {sabirDecode(), func(buffer []byte, u *user.User) ([]byte, error) { return sabir.Codec.Append(buffer, u) }},
		"encoding/json":    {validated(json.Unmarshal), encodingJSON()},
		"encoding/json/v2": {validated(func(text []byte, v any) error { return jsonv2.Unmarshal(text, v) }), encodingJSONv2()},
		"sonic":            {validated(sonic.Unmarshal), sonicEncode},
		"goccy":            {validated(goccy.Unmarshal), func(_ []byte, u *user.User) ([]byte, error) { return goccy.Marshal(u) }},
		"segmentio": {validated(segmentio.Unmarshal), func(buffer []byte, u *user.User) ([]byte, error) {
			return segmentio.Append(buffer, u, 0)
		}},
		"hand-written": {handDecode(), handEncode},
	}
}

func sabirDecode() func([]byte, *user.User) error {
	rules, err := validate.New().Compile(reflect.TypeFor[user.User]())
	if err != nil {
		log.Fatal(err)
	}
	return func(text []byte, u *user.User) error {
		if err := sabir.Codec.Decode(text, u); err != nil {
			return err
		}
		return rules.Check(unsafe.Pointer(u))
	}
}

// validated is a library's decoding with go-playground/validator after it.
func validated(unmarshal func([]byte, any) error) func([]byte, *user.User) error {
	rules := validator.New(validator.WithRequiredStructEnabled())
	return func(text []byte, u *user.User) error {
		if err := unmarshal(text, u); err != nil {
			return err
		}
		return rules.Struct(u)
	}
}

func encodingJSON() func([]byte, *user.User) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	return func(_ []byte, u *user.User) ([]byte, error) {
		out.Reset()
		err := e.Encode(u)
		return out.Bytes(), err
	}
}

func encodingJSONv2() func([]byte, *user.User) ([]byte, error) {
	var out bytes.Buffer
	return func(_ []byte, u *user.User) ([]byte, error) {
		out.Reset()
		err := jsonv2.MarshalWrite(&out, u)
		return out.Bytes(), err
	}
}

func sonicEncode(buffer []byte, u *user.User) ([]byte, error) {
	err := encoder.EncodeInto(&buffer, u, 0)
	return buffer, err
}

// handDecode reads in one pass; the strings lie in the text, so nothing is copied.
func handDecode() func([]byte, *user.User) error {
	var f user.Fields
	return func(text []byte, u *user.User) error {
		if err := f.Read(text); err != nil {
			return err
		}
		*u = user.User{ID: f.ID, Name: inText(f.Name), Surname: inText(f.Surname), LastUpdate: f.LastUpdate}
		return nil
	}
}

func inText(part []byte) string { return unsafe.String(unsafe.SliceData(part), len(part)) }

func handEncode(buffer []byte, u *user.User) ([]byte, error) {
	f := user.Fields{ID: u.ID, Name: bytesOf(u.Name), Surname: bytesOf(u.Surname), LastUpdate: u.LastUpdate.Add(-user.Later)}
	return f.AppendUpdated(buffer), nil
}

// bytesOf are a text's bytes; nobody writes to them.
func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }
