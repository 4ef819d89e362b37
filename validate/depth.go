package validate

import (
	"reflect"
	"unsafe"
)

// tooDeep returns errTooDeep for a value that nests more than maxDepth structs on the way that the library would
// take. The library recurses without a bound, so no value may reach it unless it passed here. The walk ends at the
// first chain that is too long, so it also ends on a value that contains itself.
func (prog *program) tooDeep(ops []op, base unsafe.Pointer, depth int) error {
	for i := range ops {
		o := &ops[i]
		p := unsafe.Add(base, o.offset)
		var err error
		switch o.code {
		case opPointer:
			if target := *(*unsafe.Pointer)(p); target != nil {
				err = prog.tooDeep(o.list, target, depth)
			}
		case opStruct:
			if depth == maxDepth {
				return errTooDeep
			}
			err = prog.tooDeep(o.strukt.ops, p, depth+1)
		case opInterface:
			err = prog.tooDeepInside(reflect.NewAt(o.typ, p).Elem(), o.hi, depth)
		case opAsk:
			if o.operand != nil { // a pointer that may lead to itself
				err = prog.tooDeepInside(reflect.NewAt(o.typ, p).Elem(), 0, depth)
			}
		case opSlice:
			elements := *(*[]struct{})(p)
			err = prog.anyTooDeep(o, unsafe.Pointer(unsafe.SliceData(elements)), len(elements), depth)
		case opArray:
			err = prog.anyTooDeep(o, p, int(o.hi), depth)
		case opMap:
			o.entries(p, func(key, value unsafe.Pointer) bool {
				if err = prog.tooDeep(o.keys, key, depth); err == nil {
					err = prog.tooDeep(o.list, value, depth)
				}
				return err == nil
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (prog *program) anyTooDeep(o *op, first unsafe.Pointer, n int, depth int) error {
	for i := range n {
		if err := prog.tooDeep(o.list, unsafe.Add(first, uintptr(i)*o.size), depth); err != nil {
			return err
		}
	}
	return nil
}

// tooDeepInside follows an interface or a pointer into the struct that it leads to, whose type is only known now, and into as
// many lists and maps as the tag has dives.
func (prog *program) tooDeepInside(held reflect.Value, dives int64, depth int) error {
	for held.Kind() == reflect.Interface || held.Kind() == reflect.Pointer {
		if depth++; depth > maxDepth {
			return errTooDeep
		}
		if held.IsNil() {
			return nil
		}
		held = held.Elem()
	}
	switch held.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		if dives == 0 {
			return nil
		}
		for element := range elements(held) {
			if err := prog.tooDeepInside(element, dives-1, depth+1); err != nil {
				return err
			}
		}
		return nil
	case reflect.Struct:
		if !isTime(held.Type()) {
			return prog.tooDeepStruct(held, depth)
		}
	}
	return nil
}

func (prog *program) tooDeepStruct(held reflect.Value, depth int) error {
	inner, err := prog.inner(held.Type())
	if err != nil {
		return err
	}
	box := reflect.New(held.Type())
	box.Elem().Set(held)
	return prog.tooDeep(inner.ops, box.UnsafePointer(), depth)
}

// inner compiles a type found in an interface, once per engine.
func (prog *program) inner(t reflect.Type) (*program, error) {
	if known, ok := prog.engine.inner.Load(t); ok {
		return known.(*program), nil
	}
	inner, err := compile(prog.engine, t)
	if err != nil {
		return nil, err
	}
	prog.engine.inner.Store(t, inner)
	return inner, nil
}
