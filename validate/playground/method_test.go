package playground

import (
	"testing"

	"github.com/sabir-go/sabir/validate"
)

type currency string

func (c currency) Known() bool { return c == "EUR" }

type bill struct {
	Currency currency `validate:"validateFn=Known"`
}

func TestARuleMayCallAMethodOfTheValue(t *testing.T) {
	v := validate.New()
	if err := v.Struct(&bill{"EUR"}); err != nil {
		t.Error(err)
	}
	if failed := onlyFailure(t, v, &bill{"euros"}); failed.Path != "Currency" {
		t.Errorf("what its own method refuses fails as %+v", failed)
	}
}
