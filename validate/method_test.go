package validate

import (
	"errors"
	"strings"
	"testing"
)

type currency string

func (c currency) Known() bool { return c == "EUR" }

type bill struct {
	Currency currency `validate:"validateFn=Known"`
}

func TestARuleMayCallAMethodOfTheValue(t *testing.T) {
	if !callsMethods {
		t.Skip("built without it")
	}
	v := New()
	if err := v.Struct(&bill{"EUR"}); err != nil {
		t.Error(err)
	}
	if failed := onlyFailure(t, v, &bill{"euros"}); failed.Path != "Currency" {
		t.Errorf("what its own method refuses fails as %+v", failed)
	}
}

func TestARuleThatTheProgramWasBuiltWithoutIsABadTag(t *testing.T) {
	if callsMethods {
		t.Skip("built with it: see ./test")
	}
	for _, value := range []any{&bill{"EUR"}, &struct {
		All map[string]bill `validate:"dive,keys,validateFn,endkeys"`
	}{}} {
		err := New().Struct(value)
		if bad, ok := errors.AsType[*TagError](err); !ok || !strings.Contains(bad.Reason, "validator_novalidatefn") {
			t.Errorf("%T: %v", value, err)
		}
	}
}
