package hessian

import "reflect"

// Object is an instance of a class for which no Go type is registered, or a value to be written as one.
//
// Like all pointers, a *Object that occurs twice is written once, and may contain itself.
type Object struct {
	Class  string // the name in Java, such as "com.example.User"
	Fields []Field
}

// Field is one field of an [Object].
type Field struct {
	Name  string
	Value any
}

// Get returns the value of the first field called name, and whether there is one.
func (o *Object) Get(name string) (any, bool) {
	for i := range o.Fields {
		if o.Fields[i].Name == name {
			return o.Fields[i].Value, true
		}
	}
	return nil, false
}

// List is a list with the name of its Java type: "[int" for an int[], "[java.lang.Short" for a Short[],
// "java.util.HashSet" for a set. An empty Type is a plain list, which Java reads as an ArrayList.
type List struct {
	Type  string
	Items []any
}

// Map is a map with the name of its Java type, such as "java.util.TreeMap", or with keys of any kind, in the order of the
// wire. An empty Type is a plain map, which Java reads as a HashMap.
type Map struct {
	Type    string
	Entries []Entry
}

// Entry is one entry of a [Map].
type Entry struct {
	Key, Value any
}

// Get returns the value of the last entry with the key, and whether there is one. Keys are compared with ==; a key that
// cannot be compared so, such as a list, is equal to nothing.
func (m *Map) Get(key any) (any, bool) {
	if !reflect.ValueOf(key).Comparable() {
		return nil, false
	}
	for i := len(m.Entries) - 1; i >= 0; i-- {
		if e := &m.Entries[i]; reflect.ValueOf(e.Key).Comparable() && e.Key == key {
			return e.Value, true
		}
	}
	return nil, false
}

// Decimal is a java.math.BigDecimal in the notation of its toString, such as "12.50" or "1E+3"; the empty Decimal
// is null. A Decimal that is not a decimal number is refused in both directions. The exponent may be as large as an int32, so think of what its value
// takes before you expand one from a stranger.
type Decimal string

// maxDecimal bounds the length of a Decimal in bytes.
const maxDecimal = 4096

func (d Decimal) valid() bool {
	s := string(d)
	if len(s) == 0 || len(s) > maxDecimal {
		return false
	}
	if s[0] == '-' || s[0] == '+' {
		s = s[1:]
	}
	digits, dots := 0, 0
	for len(s) > 0 && (s[0] >= '0' && s[0] <= '9' || s[0] == '.') {
		if s[0] == '.' {
			dots++
		} else {
			digits++
		}
		s = s[1:]
	}
	if digits == 0 || dots > 1 {
		return false
	}
	if s == "" {
		return true
	}
	if s[0] != 'E' && s[0] != 'e' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	if len(s) == 0 || len(s) > 10 {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
