package schema

import (
	"reflect"
	"strconv"
	"strings"
)

// nameFor finds a free name for a type: its own, then with its package's, then with more of the package's path, then with a
// number.
func (s *Set) nameFor(t reflect.Type) string {
	name := shortName(t.Name())
	if !s.taken[name] {
		return s.claim(name)
	}
	path := strings.Split(t.PkgPath(), "/")
	for i := len(path) - 1; i >= 0; i-- { //nolint:modernize // what is needed is the index
		full := identifier(strings.Join(path[i:], ".")) + "." + name
		if !s.taken[full] {
			return s.claim(full)
		}
	}
	return s.claim(name)
}

// claim takes a name, with a number after it where it is taken.
func (s *Set) claim(name string) string {
	free := name
	for n := 2; s.taken[free]; n++ {
		free = name + strconv.Itoa(n)
	}
	s.taken[free] = true
	return free
}

// shortName is the name of a type, generic or not, without the packages of its arguments: "PageUser" for Page[shop.User].
func shortName(name string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("[], *{};", r) }) {
		part = part[strings.LastIndexByte(part, '/')+1:]
		part = part[strings.LastIndexByte(part, '.')+1:]
		part, _, _ = strings.Cut(part, "·") // a type declared in a function
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return identifier(b.String())
}

// identifier leaves of a name what documents and languages can take: ASCII letters, digits, "_" and ".", and at the start no
// digit.
func identifier(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '_'
	}, name)
	if clean == "" || clean[0] >= '0' && clean[0] <= '9' {
		return "_" + clean
	}
	return clean
}

// goName is the full name of a named type; "" for others.
func goName(t reflect.Type) string {
	if t.Name() == "" || t.PkgPath() == "" {
		return ""
	}
	return t.PkgPath() + "." + t.Name()
}
