package playground

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/go-playground/locales/en"
	ut "github.com/go-playground/universal-translator"
	"github.com/go-playground/validator/v10"

	"github.com/sabir-go/sabir/validate"
)

// unsaid is part of the text of each panic. It must not be in the text of an error.
const unsaid = "the password is swordfish"

// misdeeds lists the ways in which a function of the program may end other than by returning.
var misdeeds = []struct {
	name string
	do   func()
}{
	{"panics with a text", func() { panic(unsaid) }},
	{"panics with an error", func() { panic(errors.New(unsaid)) }},
	{"panics with failed fields", func() { panic(validate.Errors{{Message: unsaid}}) }},
	{"panics with nil", func() { panic(nil) }},
	{"uses a nil pointer", func() { _ = len(*(*string)(nil)) }},
	{"ends its goroutine", runtime.Goexit},
}

// then is the action of the methods of the types below. The tests of this file run one after the other.
var then = func() {}

type (
	ownRule struct {
		Text string `validate:"own"`
	}
	ownMethod struct {
		Text methodical `validate:"validateFn"`
	}
	methodical string
	ownValue   struct {
		Text valued `validate:"max=3"`
	}
	valued  struct{ Text string }
	ownType struct {
		Text replaced `validate:"max=3"`
	}
	replaced   struct{ Text string }
	ownStruct  struct{ Text string }
	ownMessage struct {
		Text string `validate:"eq=nothing"`
	}
	ownWords struct {
		Text string `validate:"uppercase"`
	}
	inList struct {
		List []string `validate:"dive,own"`
	}
	inMap struct {
		Map map[string]string `validate:"dive,keys,own,endkeys,own"`
	}
	alternative struct {
		Text string `validate:"hexcolor|own"`
	}
	inPointer struct{ To *ownRule }
	inAny     struct{ Any any }
)

func (m methodical) Validate() error { then(); return nil }
func (v valued) ValidatorValue() any { then(); return v.Text }

// misbehaving returns a Validator whose functions do what then does.
func misbehaving(t *testing.T) *validate.Validator {
	t.Helper()
	v := validate.New()
	own := func(validator.FieldLevel) bool { then(); return true }
	english, _ := ut.New(en.New()).GetTranslator("en")
	mustRegister(t, errors.Join(
		RegisterValidation(v, "own", own),
		RegisterStructValidation(v, func(validator.StructLevel) { then() }, ownStruct{}),
		RegisterCustomTypeFunc(v, func(field reflect.Value) any { then(); return "abc" }, replaced{}),
		RegisterTranslation(v, "eq", english, nil, func(ut.Translator, validator.FieldError) string { then(); return "no" }),
		RegisterTranslation(v, "uppercase", english, nil, func(_ ut.Translator, fe validator.FieldError) string { then(); return fe.Error() }),
	))
	return v
}

// Whatever a function of the program does while a value is checked is the error of that check, and the next check is right.
func TestAPanicOfARuleIsTheErrorOfThatCheck(t *testing.T) {
	values := map[string]any{
		"a rule": &ownRule{"a"}, "a method of the value": &ownMethod{"a"}, "ValidatorValue": &ownValue{valued{"a"}},
		"a custom type function": &ownType{}, "a function for a struct": &ownStruct{}, "a translation": &ownMessage{},
		"a message": &ownWords{"small"}, "a rule of elements": &inList{[]string{"a"}}, "a rule of keys": &inMap{map[string]string{"a": "b"}},
		"one of two rules": &alternative{"a"}, "a rule behind a pointer": &inPointer{&ownRule{"a"}}, "a rule in an interface": &inAny{ownRule{"a"}},
		"a rule in a list": &[]ownRule{{"a"}},
	}
	for name, value := range values {
		for _, m := range misdeeds {
			t.Run(name+" "+m.name, func(t *testing.T) {
				v := misbehaving(t)
				before := v.Struct(value)
				calls := 0
				err, returned := apart(func() error {
					then = func() { calls++; m.do() }
					return v.Struct(value)
				})
				then = func() {}
				if calls == 0 {
					t.Fatal("it was not called")
				}
				if m.name == "ends its goroutine" {
					if returned {
						t.Errorf("the check went on and gave %v", err)
					}
				} else if p, ok := errors.AsType[*validate.PanicError](err); !ok || !strings.Contains(string(p.Stack), "playground.misbehaving") && !strings.Contains(string(p.Stack), "playground.methodical") && !strings.Contains(string(p.Stack), "playground.valued") {
					t.Errorf("got %v, want a *validate.PanicError with the stack", err)
				} else if strings.Contains(err.Error(), unsaid) {
					t.Errorf("the error tells what the panic said: %v", err)
				}
				if after := v.Struct(value); (after == nil) != (before == nil) || after != nil && after.Error() != before.Error() {
					t.Errorf("then the value gives %v; before it gave %v", after, before)
				}
			})
		}
	}
}

// apart runs f on a goroutine of its own and reports whether it returned.
func apart(f func() error) (err error, returned bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = f()
		returned = true
	}()
	<-done
	return err, returned
}

// A function that is registered late is called when a type is compiled anew, at the next check of a value.
func TestAPanicOfALateRegistrationIsTheErrorOfTheNextCheck(t *testing.T) {
	v := validate.New()
	if err := v.Struct(&ownMessage{"nothing"}); err != nil {
		t.Fatal(err)
	}
	calls := 0
	register := func(lib *validator.Validate, _ ut.Translator) error {
		if calls++; calls == 2 {
			panic(unsaid)
		}
		return nil
	}
	mustRegister(t, SetLanguage(v, en.New(), register))
	mustRegister(t, v.SetMessage("eq", "no"))
	if err := v.Struct(&ownMessage{"nothing"}); errorsAsPanic(err) == nil {
		t.Errorf("got %v, want a *validate.PanicError", err)
	}
	if err := v.Struct(&ownMessage{"nothing"}); err != nil {
		t.Errorf("the check after it: %v", err)
	}
}

func errorsAsPanic(err error) *validate.PanicError {
	p, _ := errors.AsType[*validate.PanicError](err)
	return p
}
