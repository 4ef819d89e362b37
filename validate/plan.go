package validate

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/sabir-go/sabir/internal/library"
)

// maxDepth bounds how many structs may be nested in each other in one value.
const maxDepth = 1000

// errTooDeep is returned for a value with more than 1000 structs nested in each other, or one that contains itself.
var errTooDeep = errors.New("validate: nested too deeply")

// Plan is the compiled check of one type. It is safe for concurrent use. Its zero value and a nil *Plan accept
// everything.
type Plan struct {
	v        *Validator
	typ      reflect.Type
	defaults *defaults // nil where there are none
	program  atomic.Pointer[program]
}

// program is the code that a Plan runs: the result of one compilation.
type program struct {
	engine *engine
	typ    reflect.Type // the plan's type, pointers removed
	ops    []op
	fields map[string][]op // of a struct: the ops by field
	dive   string          // the tag that leads from a slice, array or map to its structs; "" for a struct
}

// Compile returns the check of type t. Types are compiled once.
//
// Structs and pointers to structs are checked by their tags. Slices, arrays and maps are checked element by element
// where their elements are structs, as if tagged "dive". Every other type has nothing to check, see [Plan.Empty].
//
// An unknown rule, a parameter that a rule cannot use, or a rule on a kind of field that it does not support is a
// [*TagError].
func (v *Validator) Compile(t reflect.Type) (*Plan, error) {
	if t == nil {
		return nil, nil
	}
	known, ok := v.plans.Load(t)
	if !ok {
		set, err := defaultsOf(t)
		if err != nil {
			return nil, err
		}
		known, _ = v.plans.LoadOrStore(t, &Plan{v: v, typ: t, defaults: set})
	}
	plan := known.(*Plan)
	if _, err := plan.current(); err != nil {
		return nil, err
	}
	return plan, nil
}

// Empty reports whether the type has nothing to check and no defaults, so that a caller can leave the check out.
func (p *Plan) Empty() bool {
	if p == nil || p.v == nil {
		return true
	}
	prog, err := p.current()
	return err == nil && len(prog.ops) == 0 && p.defaults == nil
}

// Check checks the value at ptr, which must point to a value of the type that was compiled. It returns nil for a
// valid value, else [Errors], another error for a value with more than 1000 structs nested in each other or one that contains itself, or,
// after a later registration made a tag invalid, a [*TagError]. It never
// panics: where a rule, or whatever else of the program's takes part, does, the error is a [*PanicError].
//
// It allocates nothing for a valid value whose rules are all compiled, and it does not keep ptr: the value may be
// on the caller's stack. The value must not be changed meanwhile. Pass unsafe.Pointer(&value) as it is: a pointer that
// was hidden from the compiler before, by way of a uintptr, could let it put on the stack what must not be there.
func (p *Plan) Check(ptr unsafe.Pointer) error {
	if p == nil {
		return nil
	}
	prog := p.program.Load()
	if prog == nil {
		var err error
		if prog, err = p.current(); err != nil || prog == nil {
			return err
		}
	}
	hidden := hide(ptr) // a variable of its own: what happens to it must not count for ptr
	if pass(prog.ops, hidden, 0) {
		return nil
	}
	contentsEscape(ptr)
	return p.explain(prog, hidden)
}

// Struct checks value, a struct or a pointer to one, or a slice, array or map of these. The type is compiled at its
// first use. A pointer is cheaper: any other value is copied first. See [Plan.Check] for the errors.
func (v *Validator) Struct(value any) error {
	rv := reflect.ValueOf(value)
	if !rv.IsValid() {
		return nil
	}
	if rv.Kind() != reflect.Pointer || rv.IsNil() {
		box := reflect.New(rv.Type())
		box.Elem().Set(rv)
		rv = box
	}
	plan, err := v.Compile(rv.Type().Elem())
	if err != nil {
		return err
	}
	return plan.Check(rv.UnsafePointer())
}

// current returns the program, compiling it if a registration has dropped it.
func (p *Plan) current() (*program, error) {
	if p.v == nil {
		return nil, nil
	}
	if prog := p.program.Load(); prog != nil {
		return prog, nil
	}
	return p.recompile()
}

// recompile may call functions that were registered, so what they panic with is its error.
func (p *Plan) recompile() (_ *program, err error) {
	defer p.contain(&err)
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	if prog := p.program.Load(); prog != nil {
		return prog, nil
	}
	e, err := p.v.current()
	if err != nil {
		return nil, err
	}
	prog, err := compile(e, p.typ)
	if err != nil {
		return nil, err
	}
	p.program.Store(prog)
	return prog, nil
}

// explain makes the error of a value that the compiled check did not accept, and finds that it passes where that was left open.
func (p *Plan) explain(prog *program, ptr unsafe.Pointer) (err error) {
	defer p.contain(&err)
	if err := prog.tooDeep(prog.ops, ptr, 0); err != nil {
		return fmt.Errorf("%w: %v", err, p.typ)
	}
	// The functions below keep pointers to the value, and ptr may point into a stack, so they get a copy.
	t := p.typ
	value := reflect.New(t).Elem()
	value.Set(reflect.NewAt(t, ptr).Elem())
	for value.Kind() == reflect.Pointer {
		if value.IsNil() {
			return Errors{{Rule: "required", Message: "a value is required"}}
		}
		value = value.Elem()
	}
	failed, err := prog.failures(value)
	if err != nil {
		return fmt.Errorf("validate: %v: %w", p.typ, err)
	}
	if len(failed) == 0 {
		return nil
	}
	return prog.engine.errors(failed, prog.typ)
}

// failures lists the failures of an addressable value.
func (prog *program) failures(value reflect.Value) ([]library.Failure, error) {
	lib := prog.engine.lib
	switch {
	case lib == nil:
		return prog.engine.explain(value, prog.dive)
	case prog.dive != "":
		return lib.Value(value.Interface(), prog.dive)
	}
	top := value.Addr()
	base := top.UnsafePointer()
	// The fields that certainly pass are left out, which halves the library's time.
	return lib.Struct(top.Interface(), func(name []byte) bool {
		ops, ok := prog.fields[string(name)]
		return ok && pass(ops, base, 0)
	})
}

// hide returns ptr in a way that the compiler does not follow, so that a value on the caller's stack need not be moved
// to the heap to be checked. This rests on three things: nothing that is called with the pointer keeps it, or one made
// from it, outside the stack or beyond the call; what the value itself points to is on the heap, because the library is
// given that (see contentsEscape); and the result is a pointer to the compiler, which it follows when the stack moves.
// The last is why hide must not be inlined: the compiler would keep the number instead of the pointer.
// TestAValueOnAStackThatMovesIsCheckedRight breaks each of them.
//
//go:noinline
//go:nosplit
func hide(ptr unsafe.Pointer) unsafe.Pointer {
	address := uintptr(ptr)
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

// contentsEscape makes the compiler put everything that the value at ptr points to on the heap, though not the value.
// It does nothing when it runs: the compiler goes by what it could do.
func contentsEscape(ptr unsafe.Pointer) {
	if never {
		kept = *(*unsafe.Pointer)(ptr)
	}
}

var never bool

//lint:ignore U1000 only written, for the compiler to see
var kept unsafe.Pointer

// divesOf returns the tag that leads from t to the structs in it, and whether there are any.
func divesOf(t reflect.Type) (tag string, found bool) {
	depth := 0
	for range 64 { // type L []L has no end
		switch t.Kind() {
		case reflect.Pointer:
			t = t.Elem()
		case reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
			depth++
		case reflect.Struct:
			return strings.TrimPrefix(strings.Repeat(",dive", depth), ","), true
		default:
			return "", false
		}
	}
	return "", false
}
