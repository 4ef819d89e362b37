package schema

import (
	"fmt"
	"slices"
	"strings"
)

// conflict compares a writer's type with a reader's.
type conflict struct {
	from, to map[string]*Schema // the named types of each side
	seen     map[[2]*Schema]bool
}

// Conflict says why what a writer sends can never be what a reader wants, with the JSON Pointer of the member; "" where it can. A
// reader that wants nothing takes anything. From and to are the schemas of the writer and of the reader, nil for nothing, and the types
// those that each refers to.
//
// It finds what does not depend on the values: other types of JSON under one name, objects without a member in common, and
// members that the reader demands and the writer does not have. Types that have only a part of their members in common agree,
// since an older and a newer version of one type are like that.
func Conflict(from *Schema, fromTypes map[string]*Schema, to *Schema, toTypes map[string]*Schema) string {
	c := conflict{from: fromTypes, to: toTypes, seen: make(map[[2]*Schema]bool)}
	switch {
	case to == nil:
		return ""
	case from == nil:
		if to = to.Resolve(toTypes); len(to.Required) > 0 {
			return "it demands " + strings.Join(to.Required, ", ") + ", and is sent nothing"
		}
		return ""
	}
	return c.compare("", from, to)
}

func (c *conflict) compare(at string, from, to *Schema) string {
	from, to = plain(from, c.from), plain(to, c.to)
	pair := [2]*Schema{from, to}
	if c.seen[pair] || len(from.Type) == 0 || len(to.Type) == 0 {
		return "" // one of them is anything, or one of several
	}
	c.seen[pair] = true
	fits := func(t string) bool {
		return slices.Contains(to.Type, t) || t == "integer" && slices.Contains(to.Type, "number") || t == "number" && slices.Contains(to.Type, "integer")
	}
	if !slices.ContainsFunc(from.Type, fits) {
		return fmt.Sprintf("%s is sent as %s and wanted as %s", orIt(at), strings.Join(from.Type, " or "), strings.Join(to.Type, " or "))
	}
	if from.Items != nil && to.Items != nil {
		if found := c.compare(at+"/*", from.Items, to.Items); found != "" {
			return found
		}
	}
	return c.members(at, from, to)
}

func (c *conflict) members(at string, from, to *Schema) string {
	if from.AdditionalProperties != nil && to.AdditionalProperties != nil {
		return c.compare(at+"/*", from.AdditionalProperties, to.AdditionalProperties)
	}
	if from.AdditionalProperties != nil || len(from.Properties) == 0 {
		return ""
	}
	for _, name := range to.Required {
		if from.Properties.Get(name) == nil {
			return fmt.Sprintf("%s demands %q, and is sent %s", orIt(at), name, from.Properties.names())
		}
	}
	if to.AdditionalProperties != nil || len(to.Properties) == 0 {
		return ""
	}
	common := false
	for _, p := range to.Properties {
		sent := from.Properties.Get(p.Name)
		if sent == nil {
			continue
		}
		common = true
		if found := c.compare(at+"/"+p.Name, sent, p.Schema); found != "" {
			return found
		}
	}
	if !common {
		return fmt.Sprintf("%s has no member in common: %s is sent, and %s wanted", orIt(at), from.Properties.names(), to.Properties.names())
	}
	return ""
}

// plain is the schema without a reference and without null.
func plain(s *Schema, types map[string]*Schema) *Schema {
	rest, _ := s.Nullable()
	return rest.Resolve(types)
}

func orIt(at string) string {
	if at == "" {
		return "it"
	}
	return at
}

// names lists the members for people.
func (p Properties) names() string {
	const shown = 8
	list := make([]string, 0, shown)
	for i := range p {
		if i == shown {
			list = append(list, "…")
			break
		}
		list = append(list, p[i].Name)
	}
	return strings.Join(list, ", ")
}
