package validate

import (
	"errors"
	"strings"
	"testing"
)

// unsaid is part of the text of the panic. It must not be in the text of an error.
const unsaid = "the password is swordfish"

type refusing struct{ Text string }

func (refusing) ValidatorValue() any { panic(unsaid) }

// The functions of the program that need the library are in the same test of package playground.
func TestAPanicOfAMethodIsTheErrorOfThatCheck(t *testing.T) {
	err := New().Struct(&struct {
		Text refusing `validate:"max=3"`
	}{})
	p, ok := errors.AsType[*PanicError](err)
	if !ok || p.Value != unsaid || !strings.Contains(string(p.Stack), "validate.refusing") {
		t.Errorf("got %v, want a *PanicError with the stack", err)
	}
	if strings.Contains(err.Error(), unsaid) {
		t.Errorf("the error tells what the panic said: %v", err)
	}
}
