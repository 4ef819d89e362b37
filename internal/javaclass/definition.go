package javaclass

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a definition.
const (
	MaxDefinition = 4 << 20 // bytes
	maxTypes      = 10_000
)

// Definition holds what a provider of Dubbo publishes about an interface in a registry, besides the classes.
type Definition struct {
	Interface, Version, Group, Application string
}

// ReadDefinition adds the classes of a definition: the JSON of Dubbo's FullServiceDefinition. It says less than a jar does. It has no exceptions,
// no classes that others extend, no arguments of generic classes other than collections, no order of fields, and of constants of enums the text. Its
// names of classes within others have a dot where Java's have a dollar: a class begins with the first part of its name that has a capital.
func (c Classes) ReadDefinition(data []byte) (Definition, error) {
	if len(data) > MaxDefinition {
		return Definition{}, fmt.Errorf("the definition has more than %d bytes", MaxDefinition)
	}
	var published struct {
		Name    string `json:"canonicalName"`
		Methods []struct {
			Name       string   `json:"name"`
			Parameters []string `json:"parameterTypes"`
			Result     string   `json:"returnType"`
		} `json:"methods"`
		Types      []publishedType   `json:"types"`
		Parameters map[string]string `json:"parameters"`
	}
	if err := json.Unmarshal(data, &published); err != nil {
		return Definition{}, fmt.Errorf("it is no definition of Dubbo: %w", err)
	}
	name := binaryName(published.Name)
	if !isName(name, ".$") {
		return Definition{}, errors.New("it is no definition of Dubbo: it names no interface")
	}
	if len(published.Types) > maxTypes || len(published.Methods) > maxTypes {
		return Definition{}, fmt.Errorf("the definition of %s has more than %d types or methods", name, maxTypes)
	}
	service := &Class{Name: name, Interface: true, Published: true}
	for _, m := range published.Methods {
		if !isName(m.Name, "$") {
			return Definition{}, fmt.Errorf("the definition of %s has a method without a name of Java", name)
		}
		method := Method{Name: m.Name}
		var err error
		if method.Out, err = writtenType(m.Result); err != nil {
			return Definition{}, fmt.Errorf("%s.%s: %w", name, m.Name, err)
		}
		for _, text := range m.Parameters {
			t, err := writtenType(text)
			if err != nil {
				return Definition{}, fmt.Errorf("%s.%s: %w", name, m.Name, err)
			}
			method.In, method.Erased = append(method.In, t), append(method.Erased, t.String())
		}
		service.Methods = append(service.Methods, method)
	}
	for _, t := range published.Types {
		class, err := t.class()
		if err != nil {
			return Definition{}, fmt.Errorf("the definition of %s: %w", name, err)
		}
		if class != nil && c[class.Name] == nil {
			c[class.Name] = class
		}
	}
	if c[name] == nil {
		c[name] = service
	}
	p := published.Parameters
	return Definition{Interface: name, Version: p["version"], Group: p["group"], Application: p["application"]}, nil
}

// publishedType is a type of a definition. In Dubbo 2.7 the types of properties are objects.
type publishedType struct {
	Type       string                     `json:"type"`
	Enums      []string                   `json:"enums"`
	Enum       []string                   `json:"enum"` // in Dubbo 2.7
	Properties map[string]json.RawMessage `json:"properties"`
}

// class is the class that a type is; nil for one that Java has itself, a list or a parameter.
func (t *publishedType) class() (*Class, error) {
	of, err := writtenType(t.Type)
	if err != nil {
		return nil, err
	}
	if of.Arrays > 0 || len(of.Of) > 0 || !strings.Contains(of.Name, ".") || strings.HasPrefix(of.Name, "java.") || strings.HasPrefix(of.Name, "javax.") {
		return nil, nil
	}
	class := &Class{Name: of.Name, Interfaces: []Type{{Name: "java.io.Serializable"}}, Published: true}
	for _, constant := range slices.Concat(t.Enums, t.Enum) {
		if class.Enum = true; isName(constant, "$") {
			class.Constants = append(class.Constants, constant)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Properties)) {
		var text string
		var object struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(t.Properties[name], &text) != nil {
			if err := json.Unmarshal(t.Properties[name], &object); err != nil {
				return nil, fmt.Errorf("%s: a property has no type: %w", of.Name, err)
			}
			text = object.Type
		}
		if !isName(name, "$") {
			return nil, fmt.Errorf("%s has a property without a name of Java", of.Name)
		}
		field, err := writtenType(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", of.Name, err)
		}
		class.Fields = append(class.Fields, Field{Name: name, Type: field})
	}
	class.Abstract = !class.Enum && len(class.Fields) == 0
	return class, nil
}

// writtenType reads a type as a source has it: "java.util.Map<java.lang.String,long[]>". A parameter of a class, of which a definition has the name
// only, is any object.
func writtenType(text string) (Type, error) {
	w := written{text: text}
	t := w.typeAt(0)
	if w.failed || w.text != "" {
		return Type{}, fmt.Errorf("%.200q is no type of Java", text)
	}
	return t, nil
}

// written is the rest of a type that is read.
type written struct {
	text   string
	failed bool
}

func (w *written) skip(text string) (skipped bool) {
	w.text = strings.TrimLeft(w.text, " ")
	w.text, skipped = strings.CutPrefix(w.text, text)
	return skipped
}

func (w *written) typeAt(depth int) (t Type) {
	if depth > maxNesting {
		w.failed = true
		return object
	}
	if w.skip("?") {
		if w.skip("extends ") {
			return w.typeAt(depth + 1)
		}
		if w.skip("super ") {
			w.typeAt(depth + 1)
		}
		return object
	}
	w.skip("")
	end := strings.IndexAny(w.text, "<>,[] ")
	if end < 0 {
		end = len(w.text)
	}
	t.Name, w.text = w.text[:end], w.text[end:]
	switch {
	case !isName(t.Name, ".$"):
		w.failed = true
		return object
	case strings.Contains(t.Name, "."):
		t.Name = binaryName(t.Name)
	case !slices.Contains(slices.Collect(maps.Values(primitives)), t.Name):
		t.Name = object.Name
	}
	if w.skip("<") {
		for t.Of = append(t.Of, w.typeAt(depth+1)); !w.failed && w.skip(","); {
			t.Of = append(t.Of, w.typeAt(depth+1))
		}
		w.failed = w.failed || !w.skip(">")
	}
	for !w.failed && w.skip("[]") {
		if t.Arrays++; t.Arrays > maxNesting {
			w.failed = true
		}
	}
	return t
}

// binaryName is the name of a class with dollars where it is within another: com.shop.Order.Item is com.shop.Order$Item.
func binaryName(name string) string {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		if first, _ := utf8.DecodeRuneInString(part); unicode.IsUpper(first) {
			return strings.Join(append(parts[:i:i], strings.Join(parts[i:], "$")), ".")
		}
	}
	return name
}
