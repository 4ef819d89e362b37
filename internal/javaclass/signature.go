package javaclass

import (
	"strings"
	"unicode"
)

// maxNesting bounds how deep types are in one another, and the dimensions of an array.
const maxNesting = 32

var primitives = map[byte]string{'Z': "boolean", 'B': "byte", 'C': "char", 'S': "short", 'I': "int", 'J': "long", 'F': "float", 'D': "double", 'V': "void"}

// isName reports whether a name is one that a source could have, besides what else is in it: what is written into a file must not end a comment there.
// The format allows more.
func isName(name, besides string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && !strings.ContainsRune(besides, r)
	})
}

// signature reads a signature or a descriptor (section 4.7.9.1). After a failure nothing is left.
type signature struct {
	text   string
	failed bool
}

func (s *signature) rest() bool { return s.text != "" }

func (s *signature) fail() { s.failed, s.text = true, "" }

// skip takes a character if it is the next one.
func (s *signature) skip(c byte) bool {
	if s.text == "" || s.text[0] != c {
		return false
	}
	s.text = s.text[1:]
	return true
}

// name takes all before the first of the characters.
func (s *signature) name(before string) string {
	end := strings.IndexAny(s.text, before)
	if end < 1 {
		s.fail()
		return ""
	}
	name := s.text[:end]
	if s.text = s.text[end:]; !isName(name, "/$") {
		s.fail()
	}
	return name
}

// parameters reads "<T:Ljava/lang/Object;>", if it is there.
func (s *signature) parameters() (list []Parameter) {
	if !s.skip('<') {
		return nil
	}
	for !s.failed && !s.skip('>') {
		p := Parameter{Name: s.name(":"), Bound: object}
		for first := true; s.skip(':'); {
			if s.rest() && s.text[0] == ':' { // no class, but interfaces
				continue
			}
			if bound := s.typeAt(0); first {
				p.Bound, first = bound, false
			}
		}
		list = append(list, p)
	}
	return list
}

// arguments reads the types of a method's parameters and of its answer.
func (s *signature) arguments() (in []Type, out Type) {
	if !s.skip('(') {
		s.fail()
	}
	for !s.failed && !s.skip(')') {
		in = append(in, s.typeAt(0))
	}
	out = s.typeAt(0)
	for s.skip('^') { // what is thrown, which the attribute Exceptions has
		s.typeAt(0)
	}
	return in, out
}

// typeAt reads a type that is so deep in others.
func (s *signature) typeAt(depth int) (t Type) {
	for s.skip('[') {
		t.Arrays++
	}
	if s.text == "" || depth > maxNesting || t.Arrays > maxNesting {
		s.fail()
		return object
	}
	kind := s.text[0]
	s.text = s.text[1:]
	switch {
	case primitives[kind] != "":
		t.Name = primitives[kind]
	case kind == 'T':
		t.Name, t.Variable = s.name(";"), true
		s.skip(';')
	case kind == 'L':
		s.class(&t, depth)
	default:
		s.fail()
	}
	return t
}

// class reads what stands behind the L of a class. Of a class within a generic one, the arguments of the outer one are left out.
func (s *signature) class(t *Type, depth int) {
	t.Name = dotted(s.name("<.;"))
	for !s.failed {
		switch {
		case s.skip(';'):
			return
		case s.skip('.'):
			t.Name += "$" + s.name("<.;")
			t.Of = nil
		case s.skip('<'):
			for !s.failed && !s.skip('>') {
				t.Of = append(t.Of, s.argument(depth+1))
			}
		default:
			s.fail()
		}
	}
}

// argument reads an argument of a generic type.
func (s *signature) argument(depth int) Type {
	switch {
	case s.skip('*'):
		return object
	case s.skip('-'):
		s.typeAt(depth)
		return object
	}
	s.skip('+')
	return s.typeAt(depth)
}
