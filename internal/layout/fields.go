package layout

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// JSON are the rules of encoding/json, which all use that take or show values by their names in JSON: keys of caches, routes,
// schemas, validation.
var JSON = Rules{Tag: "json", Inline: true}

// Member is one field of a struct as a format sees it, as encoding/json sees it unless the format's own tag
// differs.
type Member struct {
	// StructField is the field as it is declared, but that Index leads to it from the outer struct.
	reflect.StructField

	Name    string // in the format; "" for a field that the format does not have
	Options string // of the json tag, behind the name
	Own     string // the options of the codec's own tag, likewise
	Tagged  bool   // a tag gave the name

	// Through are the embedded structs, or pointers to such, that the field came through, the outermost first.
	Through []reflect.StructField

	owner reflect.Type
	twice bool // the struct stands twice at its depth, and so does the field
}

// Owner is the struct in which the field is declared.
func (m *Member) Owner() reflect.Type { return m.owner }

// Has reports whether the json tag has an option, such as "omitempty".
func (m *Member) Has(option string) bool { return hasOption(m.Options, option) }

func hasOption(options, option string) bool {
	for one := range strings.SplitSeq(options, ",") {
		if one == option {
			return true
		}
	}
	return false
}

// ByPointer reports whether the field came through an embedded pointer, without which the field is absent.
func (m *Member) ByPointer() bool {
	return slices.ContainsFunc(m.Through, func(f reflect.StructField) bool { return f.Type.Kind() == reflect.Pointer })
}

// Offset is the offset of the field, in bytes from the start of the outer struct, if it came through no pointer.
func (m *Member) Offset() uintptr {
	offset := m.StructField.Offset
	for _, f := range m.Through {
		offset += f.Offset
	}
	return offset
}

// SealedBy names the embedded pointer to an unexported struct that the field came through; "" for none. encoding/json writes
// such a field but reads it only where the pointer is set already.
func (m *Member) SealedBy() string {
	for _, f := range m.Through {
		if f.Type.Kind() == reflect.Pointer && !f.IsExported() {
			return f.Name
		}
	}
	return ""
}

// before reports whether m hides other, a field of the same name.
func (m *Member) before(other *Member) bool {
	if len(m.Through) != len(other.Through) {
		return len(m.Through) < len(other.Through)
	}
	return m.Tagged && !other.Tagged
}

// Clash returns two fields of the struct that have one name, where none counts since the rules do not order them. It is for
// codecs that would rather refuse such a struct; nil for none.
func Clash(members, others []Member) []Member {
	counts := make(map[string]bool, len(members))
	for _, m := range members {
		counts[m.Name] = true
	}
	first := make(map[string]int)
	for i, m := range others {
		if m.Name == "" || counts[m.Name] {
			continue
		}
		if at, twice := first[m.Name]; twice {
			return []Member{others[at], m}
		}
		first[m.Name] = i
	}
	return nil
}

// level is a struct whose fields are still to be collected.
type level struct {
	typ     reflect.Type
	index   []int
	through []reflect.StructField
}

// Members resolves the fields of struct t as encoding/json does. The fields of embedded structs count as fields of t. Of
// several with one name the least deep counts, of equally deep ones the one whose name a tag gave, and of equals none. A
// struct that several structs embed at one depth counts once for what it embeds itself, as there.
//
// The members stand in the order of the declarations. The others are the fields that the format does not have: those that
// others hide, which have a Name, and those that are unexported or tagged "-", which have none.
func (r Rules) Members(t reflect.Type) (members, others []Member) {
	all := r.collect(t)
	first, equals := make(map[string]int, len(all)), make(map[string]bool)
	for i := range all {
		m := &all[i]
		at, known := first[m.Name]
		switch {
		case m.Name == "":
		case !known || m.before(&all[at]):
			first[m.Name], equals[m.Name] = i, m.twice
		case !all[at].before(m):
			equals[m.Name] = true
		}
	}
	for i, m := range all {
		if at, known := first[m.Name]; known && at == i && !equals[m.Name] {
			members = append(members, m)
		} else {
			others = append(others, m)
		}
	}
	sortByPlace(members)
	sortByPlace(others)
	return members, others
}

func sortByPlace(list []Member) {
	sort.Slice(list, func(i, j int) bool { return slices.Compare(list[i].Index, list[j].Index) < 0 }) // slices.SortFunc takes 20 KB of the program for each struct
}

// collect lists the fields of t and of what it embeds, the least deep first. No struct is looked into twice, so a struct may
// embed a pointer to itself.
func (r Rules) collect(t reflect.Type) (all []Member) {
	now, seen, times := []level{{typ: t}}, make(map[reflect.Type]bool), map[reflect.Type]int{}
	for len(now) > 0 {
		var next []level
		nextTimes := make(map[reflect.Type]int)
		for _, l := range now {
			if seen[l.typ] {
				continue
			}
			seen[l.typ] = true
			for i := range l.typ.NumField() {
				m := r.member(l.typ.Field(i))
				m.owner, m.Through, m.twice = l.typ, l.through, times[l.typ] > 1
				m.Index = append(slices.Clip(l.index), i)
				inner := r.dissolved(&m)
				if inner == nil {
					all = append(all, m)
					continue
				}
				if nextTimes[inner]++; nextTimes[inner] == 1 {
					next = append(next, level{inner, m.Index, append(slices.Clip(l.through), m.StructField)})
				}
			}
		}
		now, times = next, nextTimes
	}
	return all
}

// member reads the tags of a field.
func (r Rules) member(f reflect.StructField) Member {
	m := Member{StructField: f}
	inner := pointed(f.Type)
	if !f.IsExported() && !(f.Anonymous && inner.Kind() == reflect.Struct) {
		return m
	}
	text, own := f.Tag.Get("json"), r.ownTag(f.Tag)
	if own == "-" || text == "-" && own == "" {
		return m
	}
	if text != "-" {
		m.Name, m.Options, _ = strings.Cut(text, ",")
	}
	name, options, _ := strings.Cut(own, ",")
	if m.Own = options; r.TagNames && name != "" {
		m.Name = name
	}
	if !utf8.ValidString(m.Name) || strings.ContainsAny(m.Name, "\\'\"`") {
		m.Name = "" // no name to encoding/json, which then takes Go's
	}
	if m.Tagged = m.Name != ""; !m.Tagged {
		m.Name = f.Name
	}
	return m
}

// ownTag is the codec's own tag. "secret" in the tag `sabir` sets how a field is shown, and not its name.
func (r Rules) ownTag(tag reflect.StructTag) string {
	own := tag.Get(r.Tag)
	if r.Tag != "sabir" || !strings.Contains(own, secretOption) {
		return own
	}
	var rest []string
	for i, option := range strings.Split(own, ",") {
		switch {
		case strings.TrimSpace(option) != secretOption:
			rest = append(rest, option)
		case i == 0:
			rest = append(rest, "")
		}
	}
	return strings.Join(rest, ",")
}

const secretOption = "secret"

// dissolved is the struct whose fields stand for the field; nil where the field stands for itself.
func (r Rules) dissolved(m *Member) reflect.Type {
	if m.Name == "" || m.Tagged || !(m.Anonymous || r.Inline && m.Has("embed")) {
		return nil
	}
	t := m.Type
	if r.Inline {
		t = pointed(t)
	}
	if t.Kind() != reflect.Struct || r.Opaque != nil && r.Opaque(t) {
		return nil
	}
	return t
}

// NameOf returns the name of a field in encoding/json, looking at nothing but the field. inline is true for an embedded struct
// that encoding/json replaces by its fields; errors can use the name all the same.
func NameOf(f reflect.StructField) (name string, inline bool) {
	m := JSON.member(f)
	if m.Name == "" {
		return f.Name, false
	}
	return m.Name, JSON.dissolved(&m) != nil
}

// pointed is t without the one pointer that Go allows in embedding.
func pointed(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		return t.Elem()
	}
	return t
}

// Hop is one embedded pointer on the way to a field.
type Hop struct {
	Offset uintptr      // of the pointer, from the start of the struct or of what the hop before leads to
	Type   reflect.Type // what the pointer points to
	Sealed bool         // an unexported struct, which a decoder must not make
}

// fields lists the fields of struct t in the order in which they stand.
func (b *builder) fields(t reflect.Type) ([]Field, error) {
	members, _ := b.rules.Members(t)
	kept := make([]Field, 0, len(members))
	for _, m := range members {
		f := Field{Name: m.Name, GoName: m.StructField.Name, Tag: m.Tag, Step: "/" + Escape(m.Name)}
		for _, embedded := range m.Through {
			f.Offset += embedded.Offset
			if embedded.Type.Kind() == reflect.Pointer {
				f.Hops = append(f.Hops, Hop{f.Offset, embedded.Type.Elem(), !embedded.IsExported()})
				f.Offset = 0
			}
		}
		f.Offset += m.StructField.Offset
		var err error
		if f.Type, err = b.build(m.Type); err != nil {
			return nil, fmt.Errorf("%w (field %s of %s)", err, f.GoName, t)
		}
		kept = append(kept, f)
	}
	return kept, nil
}

// opaque reports whether an embedded struct of this type is more than its fields.
func (r Rules) opaque(t reflect.Type) bool {
	own, _ := MarshalerOf(t)
	return own != nil || t == timeType || r.Custom != nil && r.Custom(t)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Escape makes a name one step of a JSON Pointer (RFC 6901, section 3), without the slash before it.
func Escape(name string) string { return pointerEscapes.Replace(name) }
