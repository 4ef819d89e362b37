// Package validate checks Go values against the rules in their struct tags, in the tag language of
// [github.com/go-playground/validator/v10]:
//
//	type HelloRequest struct {
//		Name string `json:"name" validate:"required,max=64"`
//	}
//
// The common rules are compiled once per type into checks that read the struct's memory, without reflection and
// without allocation. Everything else is handed to the library. The compiled check only ever returns "certainly valid"
// or "ask the library": a value that it does not accept goes through the library, whose answer is the final one and
// the only source of the errors. A differential fuzz test holds both to the same verdict.
package validate

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/go-playground/locales"
	"github.com/go-playground/locales/en"
	ut "github.com/go-playground/universal-translator"
	"github.com/go-playground/validator/v10"
	english "github.com/go-playground/validator/v10/translations/en"
)

// Validator holds rules, messages and the types compiled with them. It is safe for concurrent use.
//
// Register rules and messages before the first value is checked. A later registration also takes effect: every type
// compiled so far is compiled again at its next use, which costs some hundred microseconds.
type Validator struct {
	mu       sync.Mutex
	words    vocabulary
	register []func(*validator.Validate) error // what must be registered in a fresh library instance
	language language
	messages map[string]message
	engine   *engine  // the library as configured now; nil after a registration
	plans    sync.Map // reflect.Type to *Plan, every plan handed out
}

// vocabulary holds what the compiler must know about the user's registrations.
type vocabulary struct {
	rules       map[string]bool       // rules with the user's function, also where it replaces a built-in one
	aliases     map[string]string     // alias to tags
	structLevel map[reflect.Type]bool // types with a struct-level function
	typeFuncs   map[reflect.Type]bool // types with a custom type function
}

// language is the source of the default messages.
type language struct {
	locale   locales.Translator
	register func(*validator.Validate, ut.Translator) error
}

// New returns a Validator with the library's built-in rules and English messages.
func New() *Validator {
	return &Validator{
		words: vocabulary{
			rules:       map[string]bool{},
			aliases:     map[string]string{},
			structLevel: map[reflect.Type]bool{},
			typeFuncs:   map[reflect.Type]bool{},
		},
		language: language{en.New(), english.RegisterDefaultTranslations},
		messages: map[string]message{},
	}
}

// RegisterValidation adds the rule tag, or replaces the built-in one of that name, as the library's method of the
// same name does. The function also runs on nil values where callEvenIfNull is true. It returns an error for an
// empty or reserved name and for a nil function.
func (v *Validator) RegisterValidation(tag string, fn validator.Func, callEvenIfNull ...bool) error {
	return v.add(
		func(lib *validator.Validate) error { return lib.RegisterValidation(tag, fn, callEvenIfNull...) },
		func() { v.words.rules[tag] = true },
	)
}

// RegisterAlias makes alias stand for tags, a comma-separated list of rules. It returns an error for a reserved name,
// for an alias that would contain itself (the library panics on the first and never returns on the second), and for
// one that has only one of keys and endkeys.
func (v *Validator) RegisterAlias(alias, tags string) error {
	if halfKeyed(tags) {
		return fmt.Errorf("validate: alias %q = %q needs both keys and endkeys", alias, tags)
	}
	v.mu.Lock()
	aliases := maps.Clone(v.words.aliases)
	v.mu.Unlock()
	aliases[alias] = tags
	if aliasCycle(aliases, alias, nil) {
		return fmt.Errorf("validate: alias %q = %q contains itself: write the rules out instead", alias, tags)
	}
	return v.add(
		func(lib *validator.Validate) error { lib.RegisterAlias(alias, tags); return nil },
		func() { v.words.aliases[alias] = tags },
	)
}

// RegisterStructValidation calls fn for every value of the given struct types, after the rules of their fields.
// A field that fn reports is hidden like any other when it is tagged as a secret.
func (v *Validator) RegisterStructValidation(fn validator.StructLevelFunc, types ...any) error {
	if fn == nil {
		return errors.New("validate: the struct-level function is nil")
	}
	for _, t := range types {
		if t == nil || indirect(reflect.TypeOf(t)).Kind() != reflect.Struct {
			return fmt.Errorf("validate: a struct-level function needs struct types, got %T", t)
		}
	}
	return v.add(
		func(lib *validator.Validate) error {
			lib.RegisterStructValidation(func(sl validator.StructLevel) { fn(hidingStructLevel{sl}) }, structValues(types)...)
			return nil
		},
		func() {
			for _, t := range types {
				v.words.structLevel[indirect(reflect.TypeOf(t))] = true
			}
		},
	)
}

// RegisterCustomTypeFunc lets fn turn values of the given types into the value that the rules see, for example a
// sql.NullString into its string.
func (v *Validator) RegisterCustomTypeFunc(fn validator.CustomTypeFunc, types ...any) error {
	if fn == nil {
		return errors.New("validate: the custom type function is nil")
	}
	return v.add(
		func(lib *validator.Validate) error { lib.RegisterCustomTypeFunc(fn, types...); return nil },
		func() {
			for _, t := range types {
				v.words.typeFuncs[reflect.TypeOf(t)] = true
			}
		},
	)
}

// add tries a registration on a throw-away library instance, remembers it, and makes every plan compile again.
func (v *Validator) add(register func(*validator.Validate) error, remember func()) error {
	if err := rehearse(register); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.register = append(v.register, register)
	remember()
	v.forget()
	return nil
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

// forget drops what was built from the registrations so far. The caller holds v.mu.
func (v *Validator) forget() {
	v.engine = nil
	v.plans.Range(func(_, plan any) bool {
		plan.(*Plan).program.Store(nil)
		return true
	})
}

// engine is one configured instance of the library. It does not change after it was built.
type engine struct {
	lib        *validator.Validate
	probe      *validator.Validate // knows every rule's name but runs no user code: finds bad tags
	translator ut.Translator
	messages   map[string]message
	words      vocabulary
	inner      sync.Map // reflect.Type to *program, types found in interfaces
}

// current returns the engine for the registrations so far. The caller holds v.mu.
func (v *Validator) current() (*engine, error) {
	if v.engine != nil {
		return v.engine, nil
	}
	e := &engine{
		lib:      newLibrary(),
		probe:    newLibrary(),
		messages: maps.Clone(v.messages),
		words: vocabulary{
			rules:       maps.Clone(v.words.rules),
			aliases:     maps.Clone(v.words.aliases),
			structLevel: maps.Clone(v.words.structLevel),
			typeFuncs:   maps.Clone(v.words.typeFuncs),
		},
	}
	for _, register := range v.register {
		if err := register(e.lib); err != nil {
			return nil, err
		}
	}
	for alias, tags := range e.words.aliases {
		e.probe.RegisterAlias(alias, tags)
	}
	accept := func(validator.FieldLevel) bool { return true }
	for _, rule := range append(slices.Collect(maps.Keys(e.words.rules)), method) {
		if err := e.probe.RegisterValidation(rule, accept); err != nil {
			return nil, err
		}
	}
	e.translator, _ = ut.New(v.language.locale, v.language.locale).GetTranslator(v.language.locale.Locale())
	if err := v.language.register(e.lib, e.translator); err != nil {
		return nil, fmt.Errorf("validate: messages in %s: %w", v.language.locale.Locale(), err)
	}
	v.engine = e
	return e, nil
}

func newLibrary() *validator.Validate {
	lib := validator.New(validator.WithRequiredStructEnabled())
	lib.RegisterTagNameFunc(fieldName)
	return lib
}

// aliasCycle reports whether alias leads back to itself or to an alias already on the way.
func aliasCycle(aliases map[string]string, alias string, way []string) bool {
	if slices.Contains(way, alias) {
		return true
	}
	way = append(way, alias)
	for item := range strings.FieldsFuncSeq(aliases[alias], func(r rune) bool { return r == ',' || r == '|' }) {
		name, _, _ := strings.Cut(item, "=")
		if _, ok := aliases[name]; ok && aliasCycle(aliases, name, way) {
			return true
		}
	}
	return false
}

// structValues replaces pointers, also nil ones, by a zero value of what they point to.
func structValues(types []any) []any {
	values := make([]any, len(types))
	for i, t := range types {
		values[i] = reflect.Zero(indirect(reflect.TypeOf(t))).Interface()
	}
	return values
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
