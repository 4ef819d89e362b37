package main

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"ergo.services/ergo/gen"
	"ergo.services/ergo/lib"
	"ergo.services/ergo/net/edf"

	"github.com/sabir-go/sabir/lab/codecs/shape"
)

// edfComplex and edfNested are shape.Complex and shape.Nested with Ergo's own names of processes, which EDF has types for.
type edfComplex struct {
	Name      string
	ID        int32
	Tags      []string
	Metadata  map[string]string
	PID       gen.PID
	ProcessID gen.ProcessID
}

type edfNested struct {
	Name       string
	ID         int32
	Complex    edfComplex
	ComplexMap map[string]edfComplex
	NestedMap  map[string]string
}

func edfPIDOf(v shape.PID) gen.PID {
	return gen.PID{Node: gen.Atom(v.Node), ID: v.ID, Creation: int64(v.Creation)}
}

func edfProcessIDOf(v shape.ProcessID) gen.ProcessID {
	return gen.ProcessID{Name: gen.Atom(v.Name), Node: gen.Atom(v.Node)}
}

func edfComplexOf(v shape.Complex) edfComplex {
	return edfComplex{v.Name, v.ID, v.Tags, v.Metadata, edfPIDOf(v.PID), edfProcessIDOf(v.ProcessID)}
}

func edfNestedOf(v shape.Nested) edfNested {
	all := map[string]edfComplex{}
	for key, value := range v.ComplexMap {
		all[key] = edfComplexOf(value)
	}
	return edfNested{v.Name, v.ID, edfComplexOf(v.Complex), all, v.NestedMap}
}

// edfGroups are plain maps, as in Ergo's benchmark.
func edfGroups() map[string]map[string]shape.Item {
	all := map[string]map[string]shape.Item{}
	for key, value := range shape.NewGroups() {
		all[key] = value
	}
	return all
}

// edfRegister registers the types with EDF. A type comes after the types of its fields.
var edfRegister = sync.OnceValue(func() error {
	var all []error
	for _, v := range []any{shape.Simple{}, shape.Item{}, edfComplex{}, edfNested{}} {
		if err := edf.RegisterTypeOf(v); err != nil && err != gen.ErrTaken {
			all = append(all, fmt.Errorf("register %T: %w", v, err))
		}
	}
	return errors.Join(all...)
})

// edfCodecs are EDF as Ergo's benchmark has it for its report, and with the cache of types that its newer functions have and that
// its connections use.
func edfCodecs() []codec {
	return []codec{edfCodec("EDF", edf.Options{}), edfCodec("EDF, type cache", edf.Options{Cache: new(sync.Map)})}
}

func edfCodec(name string, options edf.Options) codec {
	return codec{name: name, entries: []entry{
		edfEntry(shape.Text, options), edfEntry(edfPIDOf(shape.NewPID()), options), edfEntry(edfProcessIDOf(shape.NewProcessID()), options),
		edfEntry(shape.NewSimple(), options), edfEntry(edfComplexOf(shape.NewComplex()), options), edfEntry(edfNestedOf(shape.NewNested()), options),
		edfEntry(map[string]shape.Item(shape.NewItems()), options), edfEntry(edfGroups(), options),
	}}
}

func edfEntry[T any](v T, options edf.Options) entry {
	failure := edfRegister()
	buffer := lib.TakeBuffer()
	return entry{
		encode: func([]byte) ([]byte, error) {
			buffer.Reset()
			err := edf.Encode(v, buffer, options)
			return buffer.B, err
		},
		decode: func(data []byte) error {
			_, _, err := edf.Decode(data, options)
			return err
		},
		verify: func(data []byte) error {
			if failure != nil {
				return failure
			}
			back, rest, err := edf.Decode(data, options)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return fmt.Errorf("%d bytes are left over", len(rest))
			}
			if reflect.TypeOf(back) != reflect.TypeFor[T]() {
				return fmt.Errorf("decoded a %T, want a %T", back, v)
			}
			return same(any(v), back)
		},
	}
}
