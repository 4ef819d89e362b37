// Package claim finds the codec of types that define how they are written, such as the generated messages of Protocol Buffers.
package claim

import (
	"reflect"

	"github.com/sabir-go/sabir/codec"
)

// Codec returns the name of the registered codec whose method Claims takes the type; "" where none does.
func Codec(t reflect.Type) string {
	for _, name := range codec.Names() {
		c, _ := codec.Lookup(name)
		if claimer, ok := c.(interface{ Claims(t reflect.Type) bool }); ok && claimer.Claims(t) {
			return name
		}
	}
	return ""
}
