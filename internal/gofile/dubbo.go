package gofile

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"go/token"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/javaclass"
	"github.com/sabir-go/sabir/internal/names"
)

// DubboInterface is an interface of Java and the service that it is here.
type DubboInterface struct {
	Name, Service  string
	Version, Group string
}

// dubboFile is the state of the generator while it writes the package of interfaces of Dubbo.
type dubboFile struct {
	classes javaclass.Classes   // that could be read
	faults  map[string]error    // why others could not
	below   map[string][]string // classes by what they extend and implement
	taken   map[string]bool
	imports map[string]bool
	names   map[string]string // Go names, by classes
	queue   []string          // classes that are to be declared
	errors  map[string]string // names of errors, by classes
	scope   map[string]bool   // parameters of the struct that is written
	within  string            // its class
	actions int
	out     bytes.Buffer
	inits   bytes.Buffer
	notes   []string
	noted   map[string]bool
}

// WriteDubbo writes a package for interfaces of Dubbo: the types of their classes, a contract for each method, and a function for each interface
// that has the table of its methods. notes are sentences about what is not there as Java has it.
func WriteDubbo(w io.Writer, classes javaclass.Classes, interfaces []DubboInterface, pkg string) (actions int, notes []string, err error) {
	pkg = cmp.Or(pkg, DefaultPackage)
	if !token.IsIdentifier(pkg) {
		return 0, nil, fmt.Errorf("%q is no name of a Go package", pkg)
	}
	f := &dubboFile{classes: make(javaclass.Classes, len(classes)), faults: make(map[string]error), below: make(map[string][]string), taken: make(map[string]bool), imports: make(map[string]bool),
		names: make(map[string]string), errors: make(map[string]string), noted: make(map[string]bool)}
	for _, name := range []string{"sabir", "dubbo", "hessian", "time", "big", "any", "init"} {
		f.taken[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		c := classes[name]
		if c.Fault != nil {
			f.faults[name] = c.Fault
			continue
		}
		f.classes[name] = c
		f.below[c.Super.Name] = append(f.below[c.Super.Name], name)
		for _, i := range c.Interfaces {
			f.below[i.Name] = append(f.below[i.Name], name)
		}
	}
	list := make([]string, 0, len(interfaces))
	for _, i := range interfaces {
		if c := f.classes[i.Name]; c == nil || !c.Interface {
			return 0, nil, cmp.Or(f.faults[i.Name], fmt.Errorf("%s is no interface of what was read", i.Name))
		}
		if err := f.service(i); err != nil {
			return 0, nil, err
		}
		list = append(list, i.Name)
	}
	for len(f.queue) > 0 {
		name := f.queue[0]
		f.queue = f.queue[1:]
		if err := f.declare(name); err != nil {
			return 0, nil, err
		}
	}
	if f.inits.Len() > 0 {
		f.imports["github.com/sabir-go/sabir/codec/hessian"] = true
		f.printf("func init() {\n%s}\n", f.inits.String())
	}
	text, err := format.Source(append([]byte(f.head(pkg, strings.Join(list, ", "))), f.out.Bytes()...))
	if err != nil {
		return 0, nil, fmt.Errorf("the package of %s is no Go: %w", strings.Join(list, ", "), err)
	}
	_, err = w.Write(text)
	return f.actions, f.notes, err
}

func (f *dubboFile) printf(text string, args ...any) { fmt.Fprintf(&f.out, text, args...) }

func (f *dubboFile) take(wanted string) string { return unique(wanted, f.taken) }

// note says something once, in the notes.
func (f *dubboFile) note(text string, args ...any) {
	if text = fmt.Sprintf(text, args...); !f.noted[text] {
		f.noted[text] = true
		f.notes = append(f.notes, text)
	}
}

func (f *dubboFile) head(pkg, title string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Written by sabir import dubbo; it is yours to change.\n\n// Package %s has the types and contracts of %s of Dubbo.\n", pkg, title)
	for _, note := range f.notes {
		fmt.Fprintf(&b, "//\n// Note: %s.\n", oneLine(note))
	}
	fmt.Fprintf(&b, "package %s\n\nimport (\n", pkg)
	f.imports["github.com/sabir-go/sabir/bridge/dubbo"] = true
	var others strings.Builder
	for _, path := range slices.Sorted(maps.Keys(f.imports)) {
		if strings.Contains(path, ".") {
			fmt.Fprintf(&others, "%q\n", path)
			continue
		}
		fmt.Fprintf(&b, "%q\n", path)
	}
	b.WriteString("\n" + others.String())
	b.WriteString(")\n\n")
	return b.String()
}

// dubboMethod is a method with the interface that declares it, and what its parameters are there.
type dubboMethod struct {
	javaclass.Method
	given map[string]javaclass.Type
}

// methods are those of an interface and of the ones that it extends.
func (f *dubboFile) methods(name string) (list []dubboMethod, err error) {
	seen := make(map[string]bool)
	err = f.lineage(name, nil, func(c *javaclass.Class, given map[string]javaclass.Type) {
		for _, m := range c.Methods {
			if key := m.Name + "(" + strings.Join(m.Erased, ","); !seen[key] {
				seen[key] = true
				list = append(list, dubboMethod{m, given})
			}
		}
	}, true)
	slices.SortFunc(list, func(a, b dubboMethod) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), slices.Compare(a.Erased, b.Erased))
	})
	return list, err
}

// service writes what an interface has: its table, its errors and its contracts.
func (f *dubboFile) service(i DubboInterface) error {
	list, err := f.methods(i.Name)
	if err != nil {
		return err
	}
	if f.classes[i.Name].Published {
		f.note("%s was read from the definition in a registry, which says nothing of exceptions, of classes that others extend and of the arguments of generic classes", i.Name)
	}
	short := exported(simpleName(i.Name))
	table := f.take(short)
	var head, rows, throws, contracts strings.Builder
	if i.Version != "" {
		fmt.Fprintf(&head, ", Version: %q", i.Version)
	}
	if i.Group != "" {
		fmt.Fprintf(&head, ", Group: %q", i.Group)
	}
	actions := make(map[string]bool)
	thrown := make(map[string]bool)
	for _, m := range list {
		if f.ofProtobuf(m) {
			f.note("%s.%s has messages of Protocol Buffers, so it is left out: use the types of protoc-gen-go", i.Name, m.Name)
			continue
		}
		f.actions++
		action := f.action(m, list, i, actions)
		options := ""
		if action != m.Name {
			options = fmt.Sprintf(", Action: %q", action)
		}
		name := f.take(short + exported(action))
		in, out, types, maker, shape := f.signature(m, name)
		if maker == "NewStream" {
			options += ", " + cmp.Or(shape, "Stream") + ": true"
		}
		if shape != "" || maker != "NewStream" {
			options += ", Parameters: []string{" + quoted(types) + "}"
		}
		fmt.Fprintf(&rows, "{Name: %q%s},\n", m.Name, options)
		fmt.Fprintf(&contracts, "// %s calls %s of %s.\nvar %s = sabir.%s[%s, %s](%q", name, javaText(m.Method), i.Name, name, maker, in, out, i.Service+"."+action)
		if shape != "" {
			contracts.WriteString(", sabir." + shape + "()")
		}
		contracts.WriteString(")\n\n")
		f.imports["github.com/sabir-go/sabir"] = true
		for _, class := range m.Throws {
			if !slices.Contains([]string{"java.lang.Exception", "java.lang.RuntimeException", "java.lang.Throwable"}, class) && !thrown[class] {
				thrown[class] = true
				fmt.Fprintf(&throws, "%q: %q,\n", f.errorOf(class), class)
			}
		}
	}
	f.printf("// %s is the table of %s, which is the service %s here, for Serve, References and Discover of dubbo.Config.\n", table, i.Name, i.Service)
	f.printf("func %s() dubbo.Interface {\nreturn dubbo.Interface{\nName: %q, Service: %q%s,\n", table, i.Name, i.Service, head.String())
	if rows.Len() > 0 {
		f.printf("Methods: []dubbo.Method{\n%s},\n", rows.String())
	}
	if throws.Len() > 0 {
		f.printf("Throws: map[string]string{\n%s},\n", throws.String())
	}
	f.printf("}\n}\n\n")
	f.out.WriteString(contracts.String())
	return nil
}

// errorOf is the name of the error that an exception is. It declares the error at the first time.
func (f *dubboFile) errorOf(class string) string {
	if name := f.errors[class]; name != "" {
		return name
	}
	wanted := exported(strings.TrimSuffix(simpleName(class), "Exception"))
	variable := f.take("Err" + wanted)
	name := variable[len("Err"):]
	f.errors[class] = name
	f.imports["github.com/sabir-go/sabir"] = true
	f.printf("// %s is the exception %s.\nvar %s = sabir.NewError(sabir.CodeUnknown, %q, %q)\n\n", variable, class, variable, name, simpleName(class))
	return name
}

// action is the name of the action that a method is: that of the method, with the types of the parameters where there are overloads.
func (f *dubboFile) action(m dubboMethod, all []dubboMethod, i DubboInterface, taken map[string]bool) string {
	name, overloads := m.Name, 0
	for _, other := range all {
		if other.Name == m.Name {
			overloads++
		}
	}
	if overloads > 1 {
		for _, t := range m.Erased {
			name += exported(simpleName(strings.ReplaceAll(t, "[]", "Array")))
		}
	}
	if names.Fault(i.Service+"."+name) != "" {
		name = exported(name)
	}
	return unique(name, taken)
}

func quoted(list []string) string {
	texts := make([]string, len(list))
	for i, text := range list {
		texts[i] = strconv.Quote(text)
	}
	return strings.Join(texts, ", ")
}

// simpleName is the name of a class without its package; of a class within another, both.
func simpleName(class string) string {
	return strings.ReplaceAll(class[strings.LastIndexByte(class, '.')+1:], "$", ".")
}

// javaText is a method as the source of Java has it, with short names.
func javaText(m javaclass.Method) string {
	in := make([]string, len(m.In))
	for i, t := range m.In {
		in[i] = typeText(t)
	}
	return typeText(m.Out) + " " + m.Name + "(" + strings.Join(in, ", ") + ")"
}

func typeText(t javaclass.Type) string {
	text := simpleName(t.Name)
	if len(t.Of) > 0 {
		of := make([]string, len(t.Of))
		for i, one := range t.Of {
			of[i] = typeText(one)
		}
		text += "<" + strings.Join(of, ", ") + ">"
	}
	return text + strings.Repeat("[]", t.Arrays)
}
