package httpstrict

import "testing"

func TestEachHeaderWithOneValueStandsByItsLengthAndHasABitOfItsOwn(t *testing.T) {
	var seen uint32
	for length, list := range singles {
		for _, s := range list {
			if len(s.name) != length || s.bit == 0 || seen&s.bit != 0 {
				t.Errorf("%s stands at %d with the bit %b", s.name, length, s.bit)
			}
			seen |= s.bit
		}
	}
}
