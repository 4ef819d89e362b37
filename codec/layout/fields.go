package layout

import (
	"fmt"
	"reflect"
	"strings"
)

// candidate is a field before it is known whether another one hides it.
type candidate struct {
	Field
	typ    reflect.Type
	depth  int  // how many embedded structs it came through
	tagged bool // a tag gave the name
}

// fields lists the fields of struct t in the order in which they stand.
func (b *builder) fields(t reflect.Type) ([]Field, error) {
	all := b.collect(nil, t, 0, 0)
	best := make(map[string]int, len(all)) // by name: the place of the field that counts, or -1 where two do equally
	for i, c := range all {
		at, taken := best[c.Name]
		switch {
		case !taken || at >= 0 && c.before(all[at]):
			best[c.Name] = i
		case at >= 0 && !all[at].before(c):
			best[c.Name] = -1 - at
		case at < 0 && c.before(all[-1-at]):
			best[c.Name] = i
		}
	}
	var kept []Field
	for i, c := range all {
		if best[c.Name] != i {
			continue
		}
		var err error
		if c.Type, err = b.build(c.typ); err != nil {
			return nil, fmt.Errorf("%w (field %s of %s)", err, c.GoName, t)
		}
		kept = append(kept, c.Field)
	}
	return kept, nil
}

// before tells whether c hides other, a field of the same name.
func (c candidate) before(other candidate) bool {
	if c.depth != other.depth {
		return c.depth < other.depth
	}
	return c.tagged && !other.tagged
}

func (b *builder) collect(all []candidate, t reflect.Type, base uintptr, depth int) []candidate {
	for i := range t.NumField() {
		f := t.Field(i)
		name, skip := b.name(f.Tag)
		if skip {
			continue
		}
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct && b.transparent(f.Type) {
			all = b.collect(all, f.Type, base+f.Offset, depth+1)
			continue
		}
		if !f.IsExported() {
			continue
		}
		c := candidate{typ: f.Type, depth: depth, tagged: name != ""}
		if name == "" {
			name = f.Name
		}
		c.Field = Field{Name: name, GoName: f.Name, Tag: f.Tag, Step: "/" + Escape(name), Offset: base + f.Offset}
		all = append(all, c)
	}
	return all
}

// transparent tells whether an embedded struct of this type is nothing but its fields.
func (b *builder) transparent(t reflect.Type) bool {
	own, _ := marshalerOf(t)
	return own == nil && t != timeType && (b.rules.Custom == nil || !b.rules.Custom(t))
}

// name is what the tags call the field; "" where they do not.
func (b *builder) name(tag reflect.StructTag) (name string, skip bool) {
	own := tag.Get(b.rules.Tag)
	if own == "-" || tag.Get("json") == "-" && own == "" {
		return "", true
	}
	if b.rules.TagNames {
		if name, _, _ = strings.Cut(own, ","); name != "" {
			return name, false
		}
	}
	if tag.Get("json") != "-" {
		name, _, _ = strings.Cut(tag.Get("json"), ",")
	}
	return name, false
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Escape makes a name one step of a JSON Pointer (RFC 6901, section 3), without the slash before it.
func Escape(name string) string { return pointerEscapes.Replace(name) }
