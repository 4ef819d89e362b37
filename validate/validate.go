// Package validate checks Go values against the rules in their struct tags, in the tag language of
// [github.com/go-playground/validator/v10]:
//
//	type HelloRequest struct {
//		Name string `json:"name" validate:"required,max=64"`
//	}
//
// The usual rules are compiled once per type into checks that read the struct's memory, without reflection and
// without allocation. A value that these do not accept is walked once more for its errors, in the order and with the texts of the
// library. All other rules need the library itself:
//
//	import _ "github.com/sabir-go/sabir/validate/playground"
//
// A program that has this import gets all errors from the library, whose answer is the final one. A differential fuzz test holds
// this package and the library to the same verdicts and the same errors.
package validate

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/sabir-go/sabir/internal/library"
)

// Validator holds rules, messages and the types compiled with them. It is safe for concurrent use.
//
// Register rules and messages before the first value is checked. A later registration also takes effect: every type
// compiled so far is compiled again at its next use, which costs some hundred microseconds.
type Validator struct {
	mu       sync.Mutex
	words    vocabulary
	register []func(any) error // what must be registered in a fresh instance of the library
	language any               // of the default messages, for the library; nil for English
	messages map[string]message
	engine   *engine  // what checks as configured now; nil after a registration
	plans    sync.Map // reflect.Type to *Plan, every plan handed out
}

// vocabulary holds the user's registrations, as far as the compiler needs them.
type vocabulary struct {
	rules       map[string]bool       // rules with the user's function, also where it replaces a built-in one
	aliases     map[string]string     // alias to tags
	structLevel map[reflect.Type]bool // types with a struct-level function
	typeFuncs   map[reflect.Type]bool // types with a custom type function
}

// New returns a Validator with the built-in rules and English messages.
func New() *Validator {
	return &Validator{
		words: vocabulary{
			rules:       map[string]bool{},
			aliases:     map[string]string{},
			structLevel: map[reflect.Type]bool{},
			typeFuncs:   map[reflect.Type]bool{},
		},
		messages: map[string]message{},
	}
}

// RegisterAlias makes alias stand for tags, a comma-separated list of rules. It returns an error for a reserved name,
// for an alias that would contain itself, and for one that has only one of keys and endkeys.
func (v *Validator) RegisterAlias(alias, tags string) error {
	if reservedAlias(alias) {
		return fmt.Errorf("validate: %q cannot be the name of an alias: it steers, or has characters that do", alias)
	}
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
	v.mu.Lock()
	defer v.mu.Unlock()
	v.words.aliases[alias] = tags
	v.forget()
	return nil
}

// Extend adds a registration of a program to the library. Package validate/playground calls it; its functions describe the
// additions.
func (v *Validator) Extend(x library.Extension) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case x.Message != nil:
		v.messages[x.Rule] = x.Message
	case x.Language != nil:
		before := v.language
		v.language = x.Language
		v.forget()
		if _, err := v.current(); err != nil {
			v.language = before
			return err
		}
		return nil
	default:
		v.register = append(v.register, x.Register)
		if x.Rule != "" {
			v.words.rules[x.Rule] = true
		}
		for _, t := range x.Structs {
			v.words.structLevel[t] = true
		}
		for _, t := range x.Types {
			v.words.typeFuncs[t] = true
		}
	}
	v.forget()
	return nil
}

// forget drops the programs that were compiled with the registrations so far. The caller holds v.mu.
func (v *Validator) forget() {
	v.engine = nil
	v.plans.Range(func(_, plan any) bool {
		plan.(*Plan).program.Store(nil)
		return true
	})
}

// engine checks by one configuration. It does not change after it was built.
type engine struct {
	lib      library.Library // nil in a program that does not link it
	messages map[string]message
	words    vocabulary
	inner    sync.Map // reflect.Type to *program, types found in interfaces
	fields   sync.Map // reflect.Type to []field, see explanation
	rules    sync.Map // ruleOn to []op, see explanation
}

// current returns the engine for the registrations so far. The caller holds v.mu.
func (v *Validator) current() (*engine, error) {
	if v.engine != nil {
		return v.engine, nil
	}
	e := &engine{
		messages: maps.Clone(v.messages),
		words: vocabulary{
			rules:       maps.Clone(v.words.rules),
			aliases:     maps.Clone(v.words.aliases),
			structLevel: maps.Clone(v.words.structLevel),
			typeFuncs:   maps.Clone(v.words.typeFuncs),
		},
	}
	if library.New != nil {
		lib, err := library.New(library.Setup{Register: v.register, Rules: slices.Collect(maps.Keys(e.words.rules)),
			Aliases: e.words.aliases, Language: v.language})
		if err != nil {
			return nil, err
		}
		e.lib = lib
	}
	v.engine = e
	return e, nil
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
