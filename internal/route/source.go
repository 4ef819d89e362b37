package route

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// input holds the declarations of a struct's tags about its fields. It does not change.
type input struct {
	typ    reflect.Type
	fields []field
	from   []origin // of each of fields
}

// origin is the source that a field's tag names; zero for none.
type origin struct {
	in   Source
	name string
}

// inputs has the *input of each type that was read: many routes may share one.
var inputs sync.Map

// readInput reads the tags of struct t.
func readInput(t reflect.Type) (*input, error) {
	if known, ok := inputs.Load(t); ok {
		return known.(*input), nil
	}
	i := &input{typ: t, fields: fieldsOf(t)}
	if err := i.sources(); err != nil {
		return nil, err
	}
	known, _ := inputs.LoadOrStore(t, i)
	return known.(*input), nil
}

// sources reads from the tags where the fields come from.
func (t *input) sources() error {
	t.from = make([]origin, len(t.fields))
	for i, f := range t.fields {
		if pointer := f.SealedBy(); f.Name != "" && pointer != "" {
			return fmt.Errorf("field %s of %v embeds a pointer to an unexported struct, which JSON cannot fill; embed the struct itself, or export it", pointer, t.typ)
		}
		for _, in := range []Source{Path, Query, Header, Cookie, Form} {
			name, ok := f.Tag.Lookup(string(in))
			switch {
			case !ok:
				continue
			case t.from[i].in != "":
				return wrong(f, "has the tags %s and %s; a field comes from one place", t.from[i].in, in)
			case f.hidden:
				return wrong(f, "has the tag %s:%q, but JSON never fills it, since another field of its JSON name hides it; rename one of them", in, name)
			case f.Name == "":
				return wrong(f, "has the tag %s:%q but is not part of the JSON form; export it and give it a JSON name other than \"-\"", in, name)
			}
			if err := checkName(f, in, name); err != nil {
				return err
			}
			if in == Path && slices.Contains(t.from, origin{in, name}) {
				return wrong(f, "has the tag path:%q, which another field has too; give one of them another name", name)
			}
			t.from[i] = origin{in, name}
		}
	}
	return nil
}

func checkName(f field, in Source, name string) error {
	bad := name == ""
	switch in {
	case Path:
		bad = bad || strings.ContainsFunc(name, notName)
	case Query, Form:
		bad = bad || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' })
	default:
		bad = bad || strings.ContainsFunc(name, notToken)
	}
	if bad {
		return wrong(f, "has the tag %s:%q, which is no name of a %s parameter", in, name, in)
	}
	return nil
}

// notToken reports whether names of headers and cookies cannot have this character (RFC 9110, section 5.6.2).
func notToken(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) }

func wrong(f field, format string, args ...any) error {
	return fmt.Errorf("field %s of %v "+format, append([]any{f.StructField.Name, f.Owner()}, args...)...)
}
