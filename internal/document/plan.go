package document

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/sabir-go/sabir/internal/layout"
)

// plan is a compiled type. It does not change once it is published.
type plan struct {
	*layout.Type
	key, elem *plan
	fields    []field
	index     map[string]int // of fields, by name
	names     layout.Names
	omits     bool // some field may be left out
}

type field struct {
	name   string
	key    []byte // the name as the format writes it
	step   string
	hops   []layout.Hop // the embedded pointers on the way
	off    uintptr      // from what the last hop leads to
	plan   *plan
	omits  bool                                         // the field may be left out
	absent func(t *layout.Type, at unsafe.Pointer) bool // nil: the field is written wherever it is
}

// written returns where the field of the struct at at lies, or nil where it is left out.
func (f *field) written(at unsafe.Pointer) unsafe.Pointer {
	for i := range f.hops {
		if at = load[unsafe.Pointer](unsafe.Add(at, f.hops[i].Offset)); at == nil {
			return nil
		}
	}
	if at = unsafe.Add(at, f.off); f.absent != nil && f.absent(f.plan.Type, at) {
		return nil
	}
	return at
}

// made returns where the field of the struct at at lies. It makes the embedded structs on the way, or returns nil where one is
// unexported, which encoding/json does not make either.
func (f *field) made(at unsafe.Pointer) unsafe.Pointer {
	for i := range f.hops {
		hop := &f.hops[i]
		pointer := unsafe.Add(at, hop.Offset)
		if at = load[unsafe.Pointer](pointer); at != nil {
			continue
		}
		if hop.Sealed {
			return nil
		}
		at = reflect.New(hop.Type).UnsafePointer()
		store(pointer, at)
	}
	return unsafe.Add(at, f.off)
}

// planOf returns the plan of t, compiling it on first use. Two goroutines may compile the same type; either plan will do.
func (e *engine) planOf(t reflect.Type) (*plan, error) {
	if p, ok := e.plans.Load(t); ok {
		return p.(*plan), nil
	}
	described, err := layout.Of(t, e.rules)
	if err != nil {
		return nil, err
	}
	p, err := e.compile(described, make(map[*layout.Type]*plan))
	if err != nil {
		return nil, err
	}
	e.plans.Store(t, p)
	return p, nil
}

func (e *engine) compile(t *layout.Type, seen map[*layout.Type]*plan) (p *plan, err error) {
	if known, ok := seen[t]; ok {
		return known, nil
	}
	p = &plan{Type: t}
	seen[t] = p
	if t.Key != nil {
		if p.key, err = e.compile(t.Key, seen); err != nil {
			return nil, err
		}
		if !keyKind(t.Key.Kind) {
			return nil, fmt.Errorf("%s cannot be encoded: its keys are neither bools, text nor numbers", t.Go)
		}
	}
	if t.Elem != nil {
		if p.elem, err = e.compile(t.Elem, seen); err != nil {
			return nil, err
		}
	}
	p.index, p.names = make(map[string]int, len(t.Fields)), make(layout.Names, len(t.Fields))
	for i, f := range t.Fields {
		inner, err := e.compile(f.Type, seen)
		if err != nil {
			return nil, err
		}
		compiled := field{name: f.Name, key: e.format.AppendText(nil, f.Name), step: f.Step, hops: f.Hops, off: f.Offset, plan: inner, absent: layout.Absence("," + f.Tag.Get("json") + "," + f.Tag.Get(e.rules.Tag) + ",")}
		compiled.omits = compiled.absent != nil || f.Hops != nil
		p.omits = p.omits || compiled.omits
		p.fields, p.index[f.Name] = append(p.fields, compiled), i
		p.names.Add(f.Name)
	}
	return p, nil
}

func keyKind(k layout.Kind) bool {
	return k <= layout.String || k == layout.Text
}
