package sabirtest

import (
	"reflect"
	"testing"
)

// FuzzExchanges holds that a file is read again as it was written.
func FuzzExchanges(f *testing.F) {
	f.Add("### a\nGET /\n\nHTTP 200\nA: b\n\n{}\n")
	f.Add("### a\nPOST /x?y\nA: b\n\nbody\n\n### b\nGET /\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := readExchanges(text)
		if err != nil {
			return
		}
		again, err := readExchanges(formatExchanges(list))
		if err != nil || !reflect.DeepEqual(list, again) {
			t.Errorf("%+v\nand again, %v\n%+v", list, err, again)
		}
	})
}
