// Package javaclass reads what compiled classes of Java declare: their fields and methods with the types that the source has, and the
// constants of enums. The format is chapter 4 of the Java Virtual Machine Specification. No code is looked at, and none is run.
package javaclass

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The flags of classes, fields and methods that matter here.
const (
	flagPrivate   = 0x0002
	flagStatic    = 0x0008
	flagTransient = 0x0080
	flagInterface = 0x0200
	flagAbstract  = 0x0400
	flagSynthetic = 0x1000
	flagNote      = 0x2000 // an annotation
	flagEnum      = 0x4000
)

// Class has the declarations of a class or an interface, without those that it inherits.
type Class struct {
	Name       string // "com.shop.Order", "com.shop.Order$Item"
	Parameters []Parameter
	Super      Type // without a name for java.lang.Object
	Interfaces []Type
	Fields     []Field  // of objects, without those that are transient
	Constants  []string // of an enum
	Methods    []Method // of objects, without private ones
	Interface  bool     // but no annotation
	Abstract   bool
	Enum       bool
	Library    bool // it comes from a jar within a jar
	Published  bool // it comes from a definition, which says less; see ReadDefinition

	Fault error // why it cannot be read; then it has no more than a name
}

// Parameter is a parameter of a generic class.
type Parameter struct {
	Name  string
	Bound Type
}

// Field is a field of the objects of a class.
type Field struct {
	Name string
	Type Type
}

// Method is a method of objects.
type Method struct {
	Name       string
	Parameters []Parameter // of a generic method
	Names      []string    // of the arguments; nil where the compiler has left them out
	In         []Type
	Erased     []string // the types of In as the descriptor has them: "int", "java.lang.String", "long[]"
	Out        Type     // "void" for none
	Throws     []string
}

// Type is a type as the source has it. A wildcard is its upper bound.
type Type struct {
	Name     string // "int", "com.shop.Order", "T"
	Variable bool   // Name is a parameter of the class or method
	Of       []Type // the arguments of a generic type
	Arrays   int    // how many times [] stands behind it
}

// object is the type of what has no other.
var object = Type{Name: "java.lang.Object"}

// errFormat is the error for what is no class.
var errFormat = errors.New("it is no class file")

// reader reads the parts of a class file. After the end of the data, all is zero.
type reader struct {
	data   []byte
	failed bool
	pool   []constant
}

// constant is an entry of the constant pool: a text, or the number of another entry that is one.
type constant struct {
	tag  byte
	text string
	of   uint16
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.failed, r.data = true, nil
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *reader) u1() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u2() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) u4() int {
	if b := r.take(4); b != nil {
		return int(binary.BigEndian.Uint32(b))
	}
	return 0
}

// text is the text at an index of the constant pool.
func (r *reader) text(at uint16) string {
	if int(at) >= len(r.pool) || r.pool[at].tag != 1 {
		r.failed = true
		return ""
	}
	return r.pool[at].text
}

// class is the name of the class at an index; "" for index 0.
func (r *reader) class(at uint16) string {
	if at == 0 {
		return ""
	}
	if int(at) >= len(r.pool) || r.pool[at].tag != 7 {
		r.failed = true
		return ""
	}
	name := r.text(r.pool[at].of)
	if !isName(name, "/$") {
		r.failed = true
	}
	return dotted(name)
}

func dotted(name string) string { return strings.ReplaceAll(name, "/", ".") }

// readPool reads the constant pool. Texts are taken as UTF-8, from which Java's differs in characters beyond the basic plane only.
func (r *reader) readPool() error {
	count := int(r.u2())
	r.pool = make([]constant, 1, min(count, len(r.data)/2)+2)
	for len(r.pool) < count && !r.failed {
		c := constant{tag: r.u1()}
		switch c.tag {
		case 1: // Utf8
			c.text = strings.ToValidUTF8(string(r.take(int(r.u2()))), "\ufffd")
		case 7, 8, 16, 19, 20: // Class, String, MethodType, Module, Package
			c.of = r.u2()
		case 15: // MethodHandle
			r.take(3)
		case 3, 4, 9, 10, 11, 12, 17, 18: // Integer, Float, references, NameAndType, Dynamic
			r.take(4)
		case 5, 6: // Long, Double, which take two places
			r.take(8)
			r.pool = append(r.pool, c)
			c = constant{}
		default:
			return fmt.Errorf("%w: its constant pool has the tag %d", errFormat, c.tag)
		}
		r.pool = append(r.pool, c)
	}
	return nil
}

// attributes calls take with each attribute.
func (r *reader) attributes(take func(name string, body *reader)) {
	for range r.u2() {
		name := r.text(r.u2())
		body := &reader{data: r.take(r.u4()), pool: r.pool}
		if r.failed {
			return
		}
		take(name, body)
		r.failed = r.failed || body.failed
	}
}

// Parse reads a class file.
func Parse(data []byte) (*Class, error) {
	r := &reader{data: data}
	if r.u4() != 0xcafebabe {
		return nil, errFormat
	}
	r.take(4) // the version
	if err := r.readPool(); err != nil {
		return nil, err
	}
	flags := r.u2()
	c := &Class{Name: r.class(r.u2()), Super: Type{Name: r.class(r.u2())}}
	if c.Super.Name == object.Name {
		c.Super = Type{}
	}
	c.Interface = flags&flagInterface != 0 && flags&flagNote == 0
	c.Abstract, c.Enum = flags&flagAbstract != 0, flags&flagEnum != 0
	for range r.u2() {
		if c.Interfaces = append(c.Interfaces, Type{Name: r.class(r.u2())}); r.failed {
			return nil, errFormat
		}
	}
	if err := r.readFields(c); err != nil {
		return nil, err
	}
	if err := r.readMethods(c); err != nil {
		return nil, err
	}
	var err error
	r.attributes(func(name string, body *reader) {
		if name == "Signature" && err == nil {
			err = c.sign(body.text(body.u2()))
		}
	})
	if err != nil {
		return nil, err
	}
	if r.failed || c.Name == "" {
		return nil, errFormat
	}
	return c, nil
}

// sign takes the types of a class as the source has them.
func (c *Class) sign(text string) error {
	s := &signature{text: text}
	parameters, super := s.parameters(), s.typeAt(0)
	var interfaces []Type
	for s.rest() {
		interfaces = append(interfaces, s.typeAt(0))
	}
	if s.failed || len(interfaces) != len(c.Interfaces) {
		return fmt.Errorf("%w: the signature of %s is %.200q", errFormat, c.Name, text)
	}
	c.Parameters, c.Interfaces = parameters, interfaces
	if c.Super.Name != "" {
		c.Super = super
	}
	return nil
}

func (r *reader) readFields(c *Class) error {
	for range r.u2() {
		flags, name, text := r.u2(), r.text(r.u2()), r.text(r.u2())
		r.attributes(func(attribute string, body *reader) {
			if attribute == "Signature" {
				text = body.text(body.u2())
			}
		})
		if r.failed {
			return errFormat
		}
		switch {
		case !isName(name, "$"): // no source can name it
		case flags&flagEnum != 0:
			c.Constants = append(c.Constants, name)
		case flags&(flagStatic|flagTransient|flagSynthetic) == 0:
			s := &signature{text: text}
			f := Field{Name: name, Type: s.typeAt(0)}
			if s.failed || s.rest() {
				return fmt.Errorf("%w: the type of %s.%s is %.200q", errFormat, c.Name, name, text)
			}
			c.Fields = append(c.Fields, f)
		}
	}
	return nil
}

func (r *reader) readMethods(c *Class) error {
	for range r.u2() {
		flags, name, descriptor := r.u2(), r.text(r.u2()), r.text(r.u2())
		text := descriptor
		var names, throws []string
		r.attributes(func(attribute string, body *reader) {
			switch attribute {
			case "Signature":
				text = body.text(body.u2())
			case "Exceptions":
				for range body.u2() {
					if throws = append(throws, body.class(body.u2())); body.failed {
						return
					}
				}
			case "MethodParameters":
				for range body.u1() {
					at := body.u2()
					body.take(2)
					if at == 0 || body.failed {
						names = nil
						return
					}
					names = append(names, body.text(at))
				}
			}
		})
		if r.failed {
			return errFormat
		}
		if flags&(flagStatic|flagPrivate|flagSynthetic) != 0 || !isName(name, "$") { // constructors have none
			continue
		}
		m := Method{Name: name, Throws: throws}
		if err := m.sign(text, descriptor); err != nil {
			return fmt.Errorf("%w: the types of %s.%s are %.200q", err, c.Name, name, text)
		}
		if len(names) == len(m.In) && !slices.ContainsFunc(names, func(name string) bool { return !isName(name, "$") }) {
			m.Names = names
		}
		c.Methods = append(c.Methods, m)
	}
	return nil
}

// sign takes the types of a method, from its signature and its descriptor.
func (m *Method) sign(text, descriptor string) error {
	s := &signature{text: text}
	m.Parameters = s.parameters()
	m.In, m.Out = s.arguments()
	plain := &signature{text: descriptor}
	erased, _ := plain.arguments()
	if s.failed || plain.failed || plain.rest() || len(erased) != len(m.In) {
		return errFormat
	}
	for _, t := range erased {
		m.Erased = append(m.Erased, t.String())
	}
	return nil
}

// String is the type as the source has it, without the arguments of generic ones.
func (t Type) String() string { return t.Name + strings.Repeat("[]", t.Arrays) }

// Equal reports whether two types are the same.
func (t Type) Equal(other Type) bool {
	return t.Name == other.Name && t.Variable == other.Variable && t.Arrays == other.Arrays && slices.EqualFunc(t.Of, other.Of, Type.Equal)
}
