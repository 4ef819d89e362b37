// Package playground links [github.com/go-playground/validator/v10] into package validate. Importing it adds all rules of the
// library that package validate does not compile itself: rules between fields, such as eqfield and required_if, and rare ones, such
// as credit_card and cron.
//
//	import _ "github.com/sabir-go/sabir/validate/playground"
//
// Its functions add rules of the program, and messages in other languages, to a [validate.Validator]. It makes a program
// some 6 MB larger: a rule of the library calls methods by name, for whose sake the linker keeps all methods.
package playground

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/go-playground/locales"
	"github.com/go-playground/locales/en"
	ut "github.com/go-playground/universal-translator"
	"github.com/go-playground/validator/v10"
	english "github.com/go-playground/validator/v10/translations/en"

	"github.com/sabir-go/sabir/internal/library"
	"github.com/sabir-go/sabir/validate"
)

func init() { library.New = newInstance }

// RegisterValidation adds the rule tag to v, or replaces the built-in one of that name, as the library's method of the
// same name does. The function also runs on nil values where callEvenIfNull is true. It returns an error for an
// empty or reserved name and for a nil function.
func RegisterValidation(v *validate.Validator, tag string, fn validator.Func, callEvenIfNull ...bool) error {
	return add(v, library.Extension{Rule: tag}, func(lib *validator.Validate) error {
		return lib.RegisterValidation(tag, fn, callEvenIfNull...)
	})
}

// RegisterStructValidation makes v call fn for every value of the given struct types, after the rules of their fields.
// A field that fn reports is hidden like any other when it is tagged as a secret.
func RegisterStructValidation(v *validate.Validator, fn validator.StructLevelFunc, types ...any) error {
	if fn == nil {
		return errors.New("validate: the struct-level function is nil")
	}
	var structs []reflect.Type
	var values []any // pointers, also nil ones, replaced by a zero value of what they point to
	for _, t := range types {
		if t == nil || indirect(reflect.TypeOf(t)).Kind() != reflect.Struct {
			return fmt.Errorf("validate: a struct-level function needs struct types, got %T", t)
		}
		structs = append(structs, indirect(reflect.TypeOf(t)))
		values = append(values, reflect.Zero(indirect(reflect.TypeOf(t))).Interface())
	}
	return add(v, library.Extension{Structs: structs}, func(lib *validator.Validate) error {
		lib.RegisterStructValidation(func(sl validator.StructLevel) { fn(hidingStructLevel{sl}) }, values...)
		return nil
	})
}

// RegisterCustomTypeFunc lets fn turn values of the given types into the value that the rules of v see, for example a
// sql.NullString into its string.
func RegisterCustomTypeFunc(v *validate.Validator, fn validator.CustomTypeFunc, types ...any) error {
	if fn == nil {
		return errors.New("validate: the custom type function is nil")
	}
	var replaced []reflect.Type
	for _, t := range types {
		replaced = append(replaced, reflect.TypeOf(t))
	}
	return add(v, library.Extension{Types: replaced}, func(lib *validator.Validate) error {
		lib.RegisterCustomTypeFunc(fn, types...)
		return nil
	})
}

// RegisterTranslation sets the message of v for a rule through a translator, as the library's method of the same name
// does. A Validator has one language, so the last message given for a rule is the one used, whatever its
// translator.
func RegisterTranslation(v *validate.Validator, tag string, translator ut.Translator, register validator.RegisterTranslationsFunc,
	translate validator.TranslationFunc) error {
	if translator == nil || translate == nil {
		return fmt.Errorf("validate: the translation of rule %q has no translator or no function", tag)
	}
	if register != nil {
		if err := register(translator); err != nil {
			return fmt.Errorf("validate: the translation of rule %q: %w", tag, err)
		}
	}
	return v.Extend(library.Extension{Rule: tag, Message: func(f library.Failure) string {
		return translate(translator, f.(validator.FieldError))
	}})
}

// SetLanguage takes the default messages of v from one of the library's translations packages:
//
//	playground.SetLanguage(v, de.New(), german.RegisterDefaultTranslations)
//
// Messages set with [validate.Validator.SetMessage] and [RegisterTranslation] stay.
func SetLanguage(v *validate.Validator, locale locales.Translator, register func(*validator.Validate, ut.Translator) error) error {
	if locale == nil || register == nil {
		return errors.New("validate: a language needs its locale and its messages")
	}
	return v.Extend(library.Extension{Language: language{locale, register}})
}

// language is the source of the default messages.
type language struct {
	locale   locales.Translator
	register func(*validator.Validate, ut.Translator) error
}

// add tries a registration on a throw-away instance of the library before v gets it.
func add(v *validate.Validator, x library.Extension, register func(*validator.Validate) error) error {
	if err := rehearse(register); err != nil {
		return err
	}
	x.Register = func(instance any) error { return register(instance.(*validator.Validate)) }
	return v.Extend(x)
}

// rehearse turns the library's panics on a bad registration into errors.
func rehearse(register func(*validator.Validate) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("validate: %v", p)
		}
	}()
	return register(validator.New())
}

// hidingStructLevel marks the secrets among the fields that a struct-level function reports by name.
type hidingStructLevel struct {
	validator.StructLevel
}

// ReportError reports a field like the library's method of that name.
func (h hidingStructLevel) ReportError(field any, fieldName, structFieldName, tag, param string) {
	h.StructLevel.ReportError(field, library.ReportedName(h.Current().Type(), fieldName, structFieldName), structFieldName, tag, param)
}

// indirect removes the pointers from a type. One that is nothing but pointers (type P *P) stays a pointer.
func indirect(t reflect.Type) reflect.Type {
	for range 64 {
		if t.Kind() != reflect.Pointer {
			break
		}
		t = t.Elem()
	}
	return t
}

// instance is the library as one Validator has configured it.
type instance struct {
	lib        *validator.Validate
	probe      *validator.Validate // knows every rule's name but runs no function of the program: finds bad tags
	translator ut.Translator
}

func newInstance(s library.Setup) (library.Library, error) {
	in := &instance{lib: newLibrary(), probe: newLibrary()}
	for alias, tags := range s.Aliases {
		in.lib.RegisterAlias(alias, tags)
		in.probe.RegisterAlias(alias, tags)
	}
	for _, register := range s.Register {
		if err := register(in.lib); err != nil {
			return nil, err
		}
	}
	accept := func(validator.FieldLevel) bool { return true }
	for _, rule := range append(s.Rules, "validateFn") {
		if err := in.probe.RegisterValidation(rule, accept); err != nil {
			return nil, err
		}
	}
	words, given := s.Language.(language)
	if !given {
		words = language{en.New(), english.RegisterDefaultTranslations}
	}
	in.translator, _ = ut.New(words.locale, words.locale).GetTranslator(words.locale.Locale())
	if err := words.register(in.lib, in.translator); err != nil {
		return nil, fmt.Errorf("validate: messages in %s: %w", words.locale.Locale(), err)
	}
	return in, nil
}

func newLibrary() *validator.Validate {
	lib := validator.New(validator.WithRequiredStructEnabled())
	lib.RegisterTagNameFunc(library.FieldName)
	return lib
}

// Parse is the method of library.Library. There is nothing to run the tag on.
func (in *instance) Parse(tag string) { _ = in.lib.Var(nil, tag) }

// Rehearse is the method of library.Library.
func (in *instance) Rehearse(ptr any, field string) {
	_ = in.probe.StructFiltered(ptr, func(name []byte) bool { return string(name) != field })
}

// Passes is the method of library.Library.
func (in *instance) Passes(value any, tag string) bool { return in.lib.Var(value, tag) == nil }

// Struct is the method of library.Library.
func (in *instance) Struct(ptr any, skip func([]byte) bool) ([]library.Failure, error) {
	return listed(in.lib.StructFiltered(ptr, skip))
}

// Value is the method of library.Library.
func (in *instance) Value(value any, tag string) ([]library.Failure, error) {
	return listed(in.lib.Var(value, tag))
}

func listed(err error) ([]library.Failure, error) {
	failed, ok := errors.AsType[validator.ValidationErrors](err)
	if !ok {
		return nil, err
	}
	list := make([]library.Failure, len(failed))
	for i, f := range failed {
		list[i] = f
	}
	return list, nil
}

// Translate is the method of library.Library.
func (in *instance) Translate(f library.Failure) string {
	return f.(validator.FieldError).Translate(in.translator)
}
