package main

import (
	"testing"

	"github.com/sabir-go/sabir/internal/moduleversion"
)

func TestTheVersionOfACheckoutIsTheConstant(t *testing.T) {
	if v := version(); v.Version != moduleversion.Current || v.Go == "" {
		t.Errorf("got %+v, want version %s", v, moduleversion.Current)
	}
}
