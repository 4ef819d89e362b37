package dubbo

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sabir-go/sabir/codec/hessian"
)

// positions says which fields of an action's input are the arguments of a method.
type positions struct {
	fields []int // by argument; nil where the input itself is the only argument
	tagged bool  // the fields are numbered by tags, so that the input itself is never an argument
	err    error
}

var positionsByType sync.Map // of *positions, by reflect.Type

func positionsOf(t reflect.Type) *positions {
	if known, ok := positionsByType.Load(t); ok {
		return known.(*positions)
	}
	p := newPositions(t)
	positionsByType.Store(t, p)
	return p
}

func newPositions(t reflect.Type) *positions {
	if t.Kind() != reflect.Struct || t.PkgPath() == reflect.TypeFor[hessian.Object]().PkgPath() {
		return &positions{}
	}
	p := &positions{fields: []int{}}
	byNumber := make(map[int]int)
	exported := 0
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		exported++
		tag, has := f.Tag.Lookup("dubbo")
		if !has {
			p.fields = append(p.fields, i)
			continue
		}
		number, err := strconv.Atoi(tag)
		if _, twice := byNumber[number]; err != nil || number < 1 || twice {
			p.err = fmt.Errorf("the tag dubbo:%q of %s.%s: want the number of an argument, from 1, that no other field has", tag, t, f.Name)
			return p
		}
		byNumber[number] = i
	}
	if exported == 0 && t.NumField() > 0 { // time.Time, big.Int
		return &positions{}
	}
	if len(byNumber) == 0 {
		return p
	}
	p.tagged, p.fields = true, nil
	for number := 1; len(p.fields) < len(byNumber); number++ {
		field, has := byNumber[number]
		if !has {
			p.err = fmt.Errorf("%s has a field for argument %d, and none for argument %d", t, slices.Max(keysOf(byNumber)), number)
			return p
		}
		p.fields = append(p.fields, field)
	}
	return p
}

func keysOf(m map[int]int) (keys []int) {
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}

// decodeArguments reads arguments into the input that v points to. types are their Java types, "" for those that are not known. The
// arguments are in one stream of Hessian values, or if each is not nil, in a stream of their own each. Fewer than the action takes are an error, as a Java
// provider has it, unless the method is declared with so many: the fields of the others are then left as they are. Those of a
// generic call may be texts of numbers and times, as Java's provider takes them.
func decodeArguments(data []byte, each [][]byte, types []string, declared, generic bool, v any) error {
	target := reflect.ValueOf(v).Elem()
	if !mayBeInput(types) {
		target = pointed(target)
		v = target.Addr().Interface()
	}
	p := positionsOf(target.Type())
	if len(each) > 0 {
		data = each[0]
	}
	d := takeDecoder(data)
	defer putDecoder(d)
	if generic {
		d.Converting()
	}
	switch {
	case p.err != nil:
		return p.err
	case len(types) == 1 && (p.fields == nil || !p.tagged && takesObject(types[0]) && (startsObject(data) || isNull(data) && types[0] != "")):
		return d.Decode(v)
	}
	if err := p.checkCount(len(types), declared); err != nil {
		return err
	}
	for i := range types {
		if i > 0 && each != nil {
			d.Reset(each[i])
		}
		field := target.Field(p.fields[i])
		if err := d.Decode(field.Addr().Interface()); err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	return nil
}

// checkCount refuses more arguments than an action takes, and fewer unless the method is declared with so many.
func (p *positions) checkCount(count int, declared bool) error {
	most := len(p.fields)
	if p.fields == nil {
		most = 1
	}
	if count > most || count < most && !declared {
		return fmt.Errorf("%d arguments for an action that takes %d", count, most)
	}
	return nil
}

// pointed is the struct that an input points to, a new one where it is nil, if the fields of that struct are the arguments.
func pointed(input reflect.Value) reflect.Value {
	if input.Kind() != reflect.Pointer || input.Type().Elem().Kind() != reflect.Struct || positionsOf(input.Type().Elem()).fields == nil {
		return input
	}
	if !input.IsNil() {
		return input.Elem()
	}
	fresh := reflect.New(input.Type().Elem())
	if input.CanSet() {
		input.Set(fresh)
	}
	return fresh.Elem()
}

// mayBeInput reports whether an input that is a pointer is the argument of parameters of the types, an object which may be null.
func mayBeInput(types []string) bool { return len(types) == 1 && takesObject(types[0]) }

// arguments are the values of the arguments in the input that v points to, or is. types are those of the method's parameters; nil where
// they are not known.
func arguments(types []string, v any) ([]any, error) {
	source := reflect.ValueOf(v)
	if source.Kind() == reflect.Pointer {
		source = source.Elem()
	}
	if source.Kind() == reflect.Interface && !source.IsNil() {
		source = source.Elem()
		v = source.Interface()
	}
	if types != nil && !mayBeInput(types) {
		source = pointed(source)
	}
	p := positionsOf(source.Type())
	if p.err != nil {
		return nil, p.err
	}
	whole := p.fields == nil || !p.tagged && len(types) == 1 && takesObject(types[0])
	if whole {
		if len(types) == 1 && strings.HasSuffix(types[0], "[]") {
			v = array(source, types[0])
		}
		return checkCount([]any{v}, types)
	}
	values := make([]any, len(p.fields))
	for i, field := range p.fields {
		f := source.Field(field)
		if i < len(types) && strings.HasSuffix(types[i], "[]") {
			values[i] = array(f, types[i])
			continue
		}
		if f.CanAddr() {
			f = f.Addr() // references to what it holds stay references
		}
		values[i] = f.Interface()
	}
	return checkCount(values, types)
}

// array is a value for a parameter that is an array in Java, as Java writes it: a list with the type of the array, since Dubbo for Go and Triple
// of Dubbo 3.0 take no other list for one. A text stays the char[] that it is, bytes a byte[], and a type of its own keeps the name under which it is registered.
func array(v reflect.Value, javaType string) any {
	of, isArray := strings.CutSuffix(javaType, "[]")
	list := v.Kind() == reflect.Array || v.Kind() == reflect.Slice && !v.IsNil()
	if !isArray || !list || v.Type().Name() != "" || v.Type().Elem().Kind() == reflect.Uint8 {
		return v.Interface()
	}
	items := make([]any, v.Len())
	for i := range items {
		items[i] = array(v.Index(i), of)
	}
	element := strings.TrimRight(of, "[]")
	if short := arrayElements[element]; short != "" {
		element = short
	}
	return &hessian.List{Type: strings.Repeat("[", strings.Count(javaType, "[]")) + element, Items: items}
}

// arrayElements are the classes that Hessian has by other names in the types of arrays.
var arrayElements = map[string]string{"java.lang.String": "string", "java.lang.Object": "object", "java.util.Date": "date"}

func checkCount(values []any, types []string) ([]any, error) {
	if types != nil && len(values) != len(types) {
		return nil, fmt.Errorf("%d arguments for a method that takes %d", len(values), len(types))
	}
	return values, nil
}

var decoders = sync.Pool{New: func() any { return hessian.NewDecoder(nil) }}

func takeDecoder(data []byte) *hessian.Decoder {
	d := decoders.Get().(*hessian.Decoder)
	d.Reset(data)
	return d
}

func putDecoder(d *hessian.Decoder) {
	d.Reset(nil)
	decoders.Put(d)
}
