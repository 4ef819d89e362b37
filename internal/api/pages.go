package api

import (
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/schema"
)

// Pages reports whether an action answers with pages: its input has a text "cursor" and its output a list "items" and a text "next", as the
// types of package rest do.
func (a *API) Pages(action *Action) bool {
	cursor, items, next := a.member(action.In, "cursor"), a.member(action.Out, "items"), a.member(action.Out, "next")
	return !action.Stream && isType(cursor, "string") && isType(items, "array") && isType(next, "string")
}

// Versioned reports whether an action says that its answers have an ETag.
func (a *Action) Versioned() bool {
	return !a.Stream && slices.ContainsFunc(a.Statuses, func(s Status) bool {
		return slices.ContainsFunc(s.Headers, func(name string) bool { return strings.EqualFold(name, "ETag") })
	})
}

func isType(s *schema.Schema, name string) bool { return s != nil && slices.Contains(s.Type, name) }

// member is the schema of a member of an object, without references; nil where there is none.
func (a *API) member(of *schema.Schema, name string) *schema.Schema {
	object := a.target(of)
	if object == nil {
		return nil
	}
	for _, p := range object.Properties {
		if p.Name == name {
			return a.target(p.Schema)
		}
	}
	return nil
}

// target follows references.
func (a *API) target(s *schema.Schema) *schema.Schema {
	for range 8 { // a type that is only another's name is unusual
		if s == nil || s.Ref == "" {
			return s
		}
		s = a.Types[strings.TrimPrefix(s.Ref, "#/$defs/")]
	}
	return nil
}
