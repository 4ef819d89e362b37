package native

import (
	"strings"

	"github.com/sabir-go/sabir/codec"
)

// fault makes an error of this codec at an unknown place. The path is put before it on the way out.
func fault(offset int, message string) *codec.Error {
	return &codec.Error{Codec: Name, Offset: int64(offset), Message: message}
}

// encodeFault makes an error of encoding, where there is no offset.
func encodeFault(message string) *codec.Error { return fault(-1, message) }

// under puts path before the place of err.
func under(err *codec.Error, path string) *codec.Error {
	err.Pointer = path + err.Pointer
	return err
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// escapePointer makes a name one step of a JSON Pointer (RFC 6901, section 3).
func escapePointer(name string) string { return pointerEscapes.Replace(name) }
