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
	return &codec.Error{Codec: codecName, Offset: int64(offset), Message: message}
}

// remember keeps a panic as the fault of an Encoder or a Decoder, which is in the middle of a value then.
func remember(err *error, kept **codec.Error) {
	if panicked, ok := (*err).(*codec.PanicError); ok {
		*kept = fault(-1, "a method of the value panicked")
		(*kept).Err = panicked
		*err = *kept
	}
}

// under puts one step before the place of err.
func under(err *codec.Error, name string) {
	err.Pointer = "/" + pointerEscapes.Replace(name) + err.Pointer
}

func underIndex(err *codec.Error, i int) { under(err, strconv.Itoa(i)) }

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1") // RFC 6901, section 3
