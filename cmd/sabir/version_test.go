package main

import (
	"testing"

	"github.com/sabir-go/sabir"
)

func TestTheVersionOfACheckoutIsTheConstant(t *testing.T) {
	if v := version(); v.Version != sabir.ModuleVersion || v.Go == "" {
		t.Errorf("got %+v, want version %s", v, sabir.ModuleVersion)
	}
}
