package layout

import (
	"fmt"
	"math/big"
	"reflect"
)

// MaxDigits bounds the text of a number of package math/big that comes from outside: reading one takes time by more than its length, of a million
// digits some seconds, so that a short message would keep a processor busy.
const MaxDigits = 10_000

var bigNumbers = map[reflect.Type]bool{reflect.TypeFor[big.Int](): true, reflect.TypeFor[big.Float](): true, reflect.TypeFor[big.Rat](): true}

// CheckDigits returns an error where a text is too long for a value of the type that reads itself from it. Only the numbers of math/big have
// a limit.
func CheckDigits(t reflect.Type, text []byte) error {
	if len(text) > MaxDigits && bigNumbers[t] {
		return fmt.Errorf("a number of %d characters: at most %d are read", len(text), MaxDigits)
	}
	return nil
}
