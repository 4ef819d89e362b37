package dubbo

import (
	"fmt"
	"strings"
)

// maxArguments is the most parameters that a method of Java has.
const maxArguments = 255

var primitives = map[byte]string{'Z': "boolean", 'B': "byte", 'C': "char", 'S': "short", 'I': "int", 'J': "long", 'F': "float", 'D': "double", 'V': "void"}

// typesOf are the Java types of the parameters in a descriptor, such as "int", "java.lang.String" and "long[]" of "ILjava/lang/String;[J".
func typesOf(descriptor string) (types []string, err error) {
	for rest := descriptor; rest != ""; {
		element := strings.TrimLeft(rest, "[")
		arrays := len(rest) - len(element)
		if element == "" || len(types) == maxArguments || arrays > maxArguments {
			return nil, fmt.Errorf("%.200q is not the descriptor of a method", descriptor)
		}
		name := primitives[element[0]]
		switch end := strings.IndexByte(element, ';'); {
		case name != "":
			rest = element[1:]
		case element[0] == 'L' && end > 1:
			name, rest = strings.ReplaceAll(element[1:end], "/", "."), element[end+1:]
		default:
			return nil, fmt.Errorf("%.200q is not the descriptor of a method", descriptor)
		}
		types = append(types, name+strings.Repeat("[]", arrays))
	}
	return types, nil
}

// descriptorOf is the descriptor of parameters with the types.
func descriptorOf(types []string) string {
	var b strings.Builder
	for _, t := range types {
		element := strings.TrimRight(t, "[]")
		b.WriteString(strings.Repeat("[", (len(t)-len(element))/2))
		b.WriteString(elementDescriptor(element))
	}
	return b.String()
}

// sourceType is a type by the name that Java's Class.getName has for it, as Java's source has it: "long[]" for "[J".
func sourceType(name string) string {
	if strings.HasPrefix(name, "[") {
		if known, err := typesOf(name); err == nil && len(known) == 1 {
			return known[0]
		}
	}
	return name
}

// className is the reverse of sourceType.
func className(source string) string {
	if strings.HasSuffix(source, "[]") {
		return strings.ReplaceAll(descriptorOf([]string{source}), "/", ".")
	}
	return source
}

func elementDescriptor(element string) string {
	for letter, name := range primitives {
		if name == element {
			return string(letter)
		}
	}
	return "L" + strings.ReplaceAll(element, ".", "/") + ";"
}

// takesObject reports whether a parameter of the type may be the whole input of an action, whose fields are then those of the object.
// Of Java's own classes only maps are such. "" is not known.
func takesObject(javaType string) bool {
	switch javaType {
	case "", "java.util.Map", "java.util.HashMap", "java.lang.Object":
		return true
	}
	return !strings.HasPrefix(javaType, "java.") && !strings.HasSuffix(javaType, "[]") && strings.Contains(javaType, ".")
}

// startsObject reports whether a value begins as an object or a map in Hessian.
func startsObject(data []byte) bool {
	if len(data) == 0 {
		return false
	}
	switch tag := data[0]; {
	case tag == 'C', tag == 'O', tag == 'H', tag == 'M', tag >= 0x60 && tag <= 0x6f:
		return true
	}
	return false
}

// isNull reports whether a value is null.
func isNull(data []byte) bool { return len(data) > 0 && data[0] == 'N' }
