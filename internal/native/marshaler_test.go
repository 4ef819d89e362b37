package native_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/layout"
	"github.com/sabir-go/sabir/internal/native"
)

func TestNumbersOfMathBigHaveALimit(t *testing.T) {
	for _, digits := range []int{layout.MaxDigits, layout.MaxDigits + 1} {
		n, _ := new(big.Int).SetString(strings.Repeat("7", digits), 10)
		data, err := native.Append(nil, n)
		if err != nil {
			t.Fatal(err)
		}
		if err := native.Decode(data, new(big.Int)); (err == nil) != (digits == layout.MaxDigits) {
			t.Errorf("%d digits: %v", digits, err)
		}
	}
}
