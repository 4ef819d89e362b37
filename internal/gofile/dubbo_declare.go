package gofile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/javaclass"
)

// nameOf is the Go name of a class, which is declared later.
func (f *dubboFile) nameOf(class string) string {
	name, has := f.names[class]
	if !has {
		name = f.take(exported(simpleName(class)))
		f.names[class] = name
		f.queue = append(f.queue, class)
	}
	return name
}

// declare writes the type of a class.
func (f *dubboFile) declare(class string) error {
	name, c := f.names[class], f.classes[class]
	f.scope, f.within = nil, class
	switch {
	case strings.HasPrefix(class, timePackage):
		f.declareTime(class, name)
		return nil
	case slices.Contains(sqlTypes, class):
		f.printf("// %s is %s, to the millisecond.\ntype %s struct {\nValue time.Time `json:\"value\"`\n}\n\n", name, class, name)
		fmt.Fprintf(&f.inits, "hessian.Register[%s](%q)\n", name, class)
		return nil
	case c.Enum:
		f.declareEnum(c, name)
		return nil
	}
	parameters := ""
	f.scope = make(map[string]bool)
	for _, p := range c.Parameters {
		f.scope[p.Name] = true
		parameters += exported(p.Name) + ", "
	}
	var fields strings.Builder
	serializable := false
	taken, seen := make(map[string]bool), make(map[string]bool)
	err := f.lineage(class, own(c), func(above *javaclass.Class, given map[string]javaclass.Type) {
		serializable = serializable || f.serializable(above)
		for _, field := range above.Fields {
			if seen[field.Name] {
				f.note("%s hides the field %s of %s", class, field.Name, above.Name)
				continue
			}
			seen[field.Name] = true
			of := fill(field.Type, given)
			if field.Type.Arrays == 0 && slices.Contains(sqlTypes, field.Type.Name) {
				of.Name = "java.util.Date" // as which Java writes a field that is declared so
			}
			fmt.Fprintf(&fields, "%s %s `json:%q`\n", unique(exported(field.Name), taken), f.typeOf(of), field.Name)
		}
	}, false)
	if err != nil {
		return err
	}
	if !serializable {
		f.note("%s is not Serializable: Dubbo refuses it unless it is told not to", class)
	}
	if parameters == "" {
		f.printf("// %s is %s.\ntype %s struct {\n%s}\n\n", name, class, name, fields.String())
		fmt.Fprintf(&f.inits, "hessian.Register[%s](%q)\n", name, class)
		return nil
	}
	f.printf("// %s is %s. It is written as a map, which Java makes one of where a method or a field has this class.\ntype %s[%s any] struct {\n%s}\n\n", name, class, name, strings.TrimSuffix(parameters, ", "), fields.String())
	f.note("%s is generic, so it is written as a map: Java makes a %s of it where a method or a field has this class, but not in lists", class, simpleName(class))
	return nil
}

// own are the parameters of a class as themselves.
func own(c *javaclass.Class) map[string]javaclass.Type {
	given := make(map[string]javaclass.Type)
	for _, p := range c.Parameters {
		given[p.Name] = javaclass.Type{Name: p.Name, Variable: true}
	}
	return given
}

// serializable reports whether a class says so itself, or by an interface.
func (f *dubboFile) serializable(c *javaclass.Class) bool {
	found := false
	_ = f.lineage(c.Name, nil, func(above *javaclass.Class, _ map[string]javaclass.Type) { // of too many interfaces those that were seen count
		for _, i := range above.Interfaces {
			found = found || i.Name == "java.io.Serializable"
		}
	}, true)
	return found
}

func (f *dubboFile) declareTime(class, name string) {
	short := class[len(timePackage):]
	text := timeFields[short]
	for _, other := range slices.Sorted(maps.Keys(timeFields)) {
		if strings.Contains(text, "*"+other+" ") {
			text = strings.ReplaceAll(text, "*"+other+" ", "*"+f.nameOf(timePackage+other)+" ")
		}
	}
	f.printf("// %s is %s, as Dubbo's Hessian has it.\ntype %s struct {\n%s}\n\n", name, class, name, text)
	fmt.Fprintf(&f.inits, "hessian.Register[%s](%q)\n", name, handlePackage+short+"Handle")
}

func (f *dubboFile) declareEnum(c *javaclass.Class, name string) {
	f.printf("// %s is %s.\ntype %s string\n\n", name, c.Name, name)
	fmt.Fprintf(&f.inits, "hessian.Register[%s](%q)\n", name, c.Name)
	if len(c.Constants) == 0 {
		return
	}
	if c.Published {
		f.note("the constants of %s are texts by its toString, which need not be their names", c.Name)
	}
	f.printf("// The constants of %s.\nconst (\n", c.Name)
	for _, constant := range c.Constants {
		f.printf("%s %s = %q\n", f.take(name+constantName(constant)), name, constant)
	}
	f.printf(")\n\n")
}

// constantName is IN_STOCK as InStock.
func constantName(name string) string {
	if strings.ToUpper(name) == name {
		name = strings.ToLower(name)
	}
	return exported(name)
}
