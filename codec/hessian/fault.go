package hessian

import (
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/codec"
)

const (
	endsEarly = "the data ends inside a value"
	tooDeep   = "more than 128 lists, maps and objects inside each other"
)

// fault makes an error of this codec at an unknown place. The path is put before it on the way out.
func fault(offset int, message string) *codec.Error {
	return &codec.Error{Codec: Name, Offset: int64(offset), Message: message}
}

// under puts one step before the place of err.
func under(err *codec.Error, name string) {
	err.Pointer = "/" + pointerEscapes.Replace(name) + err.Pointer
}

func underIndex(err *codec.Error, i int) { under(err, strconv.Itoa(i)) }

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1") // RFC 6901, section 3
