package codec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec"
)

func TestErrorTextNamesCodecPlaceFaultAndOffset(t *testing.T) {
	tests := []struct {
		name string
		err  codec.Error
		want string
	}{
		{"all known", codec.Error{Codec: "json", Offset: 48, Pointer: "/items/2/price", Want: "number", Got: "string"},
			"json: at /items/2/price: want number, got string (offset 48)"},
		{"with a message", codec.Error{Codec: "json", Offset: 3, Pointer: "/data", Want: "base64", Got: "string", Message: "odd length"},
			"json: at /data: want base64, got string: odd length (offset 3)"},
		{"message alone", codec.Error{Codec: "json", Offset: -1, Message: "empty body, want JSON"}, "json: empty body, want JSON"},
		{"offset zero is an offset", codec.Error{Codec: "cbor", Offset: 0, Want: "map", Got: "array"}, "cbor: want map, got array (offset 0)"},
		{"only what was wanted", codec.Error{Codec: "gob", Offset: -1, Want: "8 bytes"}, "gob: want 8 bytes"},
		{"only what was there", codec.Error{Codec: "gob", Offset: -1, Got: "end of data"}, "gob: got end of data"},
		{"nothing known", codec.Error{Offset: -1}, "bad input"},
		{"line break in the pointer", codec.Error{Codec: "json", Offset: -1, Pointer: "/a\nb", Message: "bad"}, `json: at "/a\nb": bad`},
		{"invalid UTF-8 in the pointer", codec.Error{Codec: "cbor", Offset: -1, Pointer: "/a\xff", Message: "bad"}, `cbor: at "/a\xff": bad`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestErrorTextCutsALongPointerButTheFieldKeepsIt(t *testing.T) {
	long := "/" + strings.Repeat("é", 1000)
	err := codec.Error{Codec: "json", Offset: -1, Pointer: long, Message: "bad"}
	want := "json: at /" + strings.Repeat("é", 63) + "…: bad"
	if got := err.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if err.Pointer != long {
		t.Error("Pointer was changed")
	}
}

func TestErrorUnwrapsToItsCause(t *testing.T) {
	cause := errors.New("cause")
	var err error = &codec.Error{Codec: "json", Offset: -1, Message: "bad", Err: cause}
	if !errors.Is(err, cause) {
		t.Error("errors.Is does not find the cause")
	}
	if strings.Contains(err.Error(), "cause") {
		t.Errorf("the text depends on the cause: %s", err)
	}
}
