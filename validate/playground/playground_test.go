package playground

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/go-playground/locales/de"
	"github.com/go-playground/locales/en"
	ut "github.com/go-playground/universal-translator"
	"github.com/go-playground/validator/v10"
	german "github.com/go-playground/validator/v10/translations/de"

	"github.com/sabir-go/sabir/internal/tag"
	"github.com/sabir-go/sabir/validate"
)

// failures checks value and returns its errors.
func failures(t *testing.T, v *validate.Validator, value any) validate.Errors {
	t.Helper()
	err := v.Struct(value)
	if err == nil {
		return nil
	}
	list, ok := errors.AsType[validate.Errors](err)
	if !ok {
		t.Fatalf("got %T: %v", err, err)
	}
	return list
}

func onlyFailure(t *testing.T, v *validate.Validator, value any) validate.FieldError {
	t.Helper()
	list := failures(t, v, value)
	if len(list) != 1 {
		t.Fatalf("want one failed field, got %v", list)
	}
	return list[0]
}

func mustRegister(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestASecretReportedByAStructFunctionIsNotEchoed(t *testing.T) {
	type login struct {
		Password string `json:"password" sabir:"secret"`
		Name     string `json:"name"`
	}
	v := validate.New()
	mustRegister(t, RegisterStructValidation(v, func(sl validator.StructLevel) {
		in := sl.Current().Interface().(login)
		sl.ReportError(in.Password, "password", "Password", "weak", "")
		sl.ReportError(in.Password, "password", "", "weak", "")
		sl.ReportError(in.Name, "name", "Name", "weak", "")
	}, login{}))
	list := failures(t, v, &login{"hunter2", "Ada"})
	if len(list) != 3 || list[0].Value != "***" || list[1].Value != "***" || list[2].Value != "Ada" || list[0].Path != "password" {
		t.Errorf("got %+v", list)
	}
}

func TestCustomRule(t *testing.T) {
	type body struct {
		Even int `json:"even" validate:"even"`
	}
	v := validate.New()
	if _, err := v.Compile(reflect.TypeFor[body]()); err == nil {
		t.Fatal("compiled with an unknown rule")
	}
	mustRegister(t, RegisterValidation(v, "even", func(fl validator.FieldLevel) bool { return fl.Field().Int()%2 == 0 }))
	if list := failures(t, v, body{2}); list != nil {
		t.Error(list)
	}
	if got := onlyFailure(t, v, body{3}); got.Rule != "even" || got.Message != "even does not satisfy the rule even" {
		t.Errorf("got %+v", got)
	}
}

func TestCustomRuleThatRunsOnNil(t *testing.T) {
	type body struct {
		P *int `validate:"seen"`
	}
	v := validate.New()
	runs := 0
	mustRegister(t, RegisterValidation(v, "seen", func(validator.FieldLevel) bool { runs++; return true }, true))
	if list := failures(t, v, body{}); list != nil || runs != 1 {
		t.Errorf("%d runs, %v", runs, list)
	}
}

func TestARedefinedBuiltInRuleReplacesTheCompiledOne(t *testing.T) {
	type body struct {
		A string `validate:"alpha"`
	}
	v := validate.New()
	if list := failures(t, v, body{"abc"}); list != nil {
		t.Fatal(list)
	}
	mustRegister(t, RegisterValidation(v, "alpha", func(fl validator.FieldLevel) bool { return fl.Field().String() == "α" }))
	if list := failures(t, v, body{"α"}); list != nil {
		t.Error(list)
	}
	onlyFailure(t, v, body{"abc"})
}

func TestRegistrationAfterUseReachesPlansThatWereHandedOut(t *testing.T) {
	type body struct {
		A string `json:"a" validate:"max=5"`
	}
	v := validate.New()
	plan := mustCompile[body](t, v)
	in := body{"abc"}
	if err := plan.Check(unsafe.Pointer(&in)); err != nil {
		t.Fatal(err)
	}
	mustRegister(t, RegisterStructValidation(v, func(sl validator.StructLevel) {
		sl.ReportError("", "a", "A", "never", "")
	}, body{}))
	if err := plan.Check(unsafe.Pointer(&in)); err == nil {
		t.Error("the later registration has no effect")
	}
}

func TestCustomTypeFunc(t *testing.T) {
	type body struct {
		Name sql.NullString `json:"name" validate:"required,min=3"`
	}
	v := validate.New()
	mustRegister(t, RegisterCustomTypeFunc(v, func(field reflect.Value) any {
		if s := field.Interface().(sql.NullString); s.Valid {
			return s.String
		}
		return nil
	}, sql.NullString{}))
	if list := failures(t, v, body{sql.NullString{String: "Ada", Valid: true}}); list != nil {
		t.Error(list)
	}
	if got := onlyFailure(t, v, body{sql.NullString{String: "Al", Valid: true}}); got.Rule != "min" || got.Value != "Al" {
		t.Errorf("got %+v", got)
	}
	onlyFailure(t, v, body{})
}

func TestRulesBetweenFields(t *testing.T) {
	type change struct {
		Password string `json:"password" validate:"min=3"`
		Again    string `json:"again" validate:"eqfield=Password"`
		Reason   string `json:"reason" validate:"required_if=Password abc"`
	}
	type outer struct {
		Change  *change  `json:"change"`
		Changes []change `json:"changes" validate:"dive"`
	}
	v := validate.New()
	if list := failures(t, v, outer{Change: &change{"abcd", "abcd", ""}}); list != nil {
		t.Error(list)
	}
	list := failures(t, v, outer{&change{"abc", "x", ""}, []change{{"abc", "abc", "why"}, {"abc", "abc", ""}}})
	paths := []string{}
	for _, field := range list {
		paths = append(paths, field.Path)
	}
	if want := []string{"change.again", "change.reason", "changes[1].reason"}; !slices.Equal(paths, want) {
		t.Errorf("got %v", list)
	}
}

func TestRulesThatHoldWithoutOtherFieldsStillSeeThem(t *testing.T) {
	type body struct {
		A string `json:"a"`
		B string `json:"b" validate:"required_if=A x"`
		C string `json:"c" validate:"excluded_with=A"`
		D *int   `json:"d" validate:"required_unless=A y"`
	}
	one := 1
	v := validate.New()
	if got := onlyFailure(t, v, body{A: "x", D: &one}); got.Path != "b" || got.Rule != "required_if" {
		t.Errorf("got %+v", got)
	}
	if got := onlyFailure(t, v, body{A: "y", C: "c"}); got.Path != "c" {
		t.Errorf("got %+v", got)
	}
	if got := onlyFailure(t, v, body{}); got.Path != "d" {
		t.Errorf("got %+v", got)
	}
}

func TestStructFunctionRunsForNestedValues(t *testing.T) {
	type period struct{ From, To int }
	type body struct {
		One  period
		Many []*period `validate:"dive"`
		Only period    `validate:"structonly"`
		None period    `validate:"nostructlevel"`
	}
	v := validate.New()
	mustRegister(t, RegisterStructValidation(v, func(sl validator.StructLevel) {
		if p := sl.Current().Interface().(period); p.From > p.To {
			sl.ReportError(p.From, "From", "From", "ordered", "")
		}
	}, (*period)(nil)))
	bad := period{2, 1}
	list := failures(t, v, body{bad, []*period{{}, &bad}, bad, bad})
	if len(list) != 3 || list[0].Path != "One.From" || list[1].Path != "Many[1].From" || list[2].Path != "Only.From" {
		t.Errorf("got %+v", list)
	}
}

func TestMessages(t *testing.T) {
	type body struct {
		Name string        `json:"name" validate:"max=3"`
		Wait time.Duration `json:"wait" validate:"max=5s"`
	}
	in := body{"long", time.Minute}
	v := validate.New()
	if list := failures(t, v, in); list[0].Message != "name must be a maximum of 3 characters in length" ||
		list[1].Message != "wait does not satisfy the rule max=5s" {
		t.Errorf("English: %v", list)
	}
	mustRegister(t, SetLanguage(v, de.New(), german.RegisterDefaultTranslations))
	if list := failures(t, v, in); list[0].Message != "name darf maximal 3 Zeichen lang sein" {
		t.Errorf("German: %v", list)
	}
	mustRegister(t, v.SetMessage("max", "{0} > {1}"))
	if list := failures(t, v, in); list[0].Message != "name > 3" || list[1].Message != "wait > 5s" {
		t.Errorf("own message: %v", list)
	}
	translator, _ := ut.New(en.New()).GetTranslator("en")
	mustRegister(t, RegisterTranslation(v, "max", translator,
		func(t ut.Translator) error { return t.Add("max", "{0} too long", false) },
		func(t ut.Translator, fe validator.FieldError) string { s, _ := t.T("max", fe.Field()); return s }))
	if list := failures(t, v, in); list[0].Message != "name too long" {
		t.Errorf("translation: %v", list)
	}
}

func TestEveryRuleTakenToLookAtOneValueIsOneOfTheLibrarys(t *testing.T) {
	lib := validator.New()
	for rule := range tag.Singles() {
		if err := try(func() { _ = lib.Var(nil, rule) }); err != nil {
			t.Error(err)
		}
	}
}

func TestRefusedRegistrations(t *testing.T) {
	accept := func(validator.FieldLevel) bool { return true }
	tests := map[string]func(*validate.Validator) error{
		"a rule without a name":     func(v *validate.Validator) error { return RegisterValidation(v, "", accept) },
		"a rule without a function": func(v *validate.Validator) error { return RegisterValidation(v, "x", nil) },
		"a reserved name":           func(v *validate.Validator) error { return RegisterValidation(v, "required", accept) },
		"a name with a comma":       func(v *validate.Validator) error { return RegisterValidation(v, "a,b", accept) },
		"a struct function without type": func(v *validate.Validator) error {
			return RegisterStructValidation(v, func(validator.StructLevel) {}, 3)
		},
		"a struct function of nil": func(v *validate.Validator) error {
			return RegisterStructValidation(v, func(validator.StructLevel) {}, nil)
		},
		"no struct function": func(v *validate.Validator) error { return RegisterStructValidation(v, nil, inner{}) },
		"no type function":   func(v *validate.Validator) error { return RegisterCustomTypeFunc(v, nil, inner{}) },
		"no translator":      func(v *validate.Validator) error { return RegisterTranslation(v, "min", nil, nil, nil) },
		"no language":        func(v *validate.Validator) error { return SetLanguage(v, nil, nil) },
	}
	for name, register := range tests {
		t.Run(name, func(t *testing.T) {
			v := validate.New()
			if register(v) == nil {
				t.Error("accepted")
			}
			if list := failures(t, v, inner{Name: "ok"}); list != nil {
				t.Errorf("the validator no longer works: %v", list)
			}
		})
	}
}

func mustCompile[T any](t testing.TB, v *validate.Validator) *validate.Plan {
	t.Helper()
	plan, err := v.Compile(reflect.TypeFor[T]())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func try(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	f()
	return nil
}
