package moleculer

import (
	"reflect"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/fastestvalidator"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
)

// serviceSettings are the settings that each service is announced with. The routes of its actions are whole paths, and not below its name.
// moleculer-web passes over services without settings.
var serviceSettings = raw(`{"rest":"/"}`)

// noMembers stands for settings and metadata that a service has not. INFO has them all the same, as that of Moleculer's own nodes: a node of moleculer-go ends
// where one is missing.
var noMembers = raw(`{}`)

// paramsFor describes the input of an action as fastest-validator's schemas do, for Moleculer's REPL and generators of documents; nil where it has
// none, or is a stream.
func (b *bridge) paramsFor(a *sabir.Action) raw {
	if a.Stream || a.In == nil {
		return nil
	}
	params, known := b.info.params[a.In]
	if !known {
		params = describeParams(a.In)
		if b.info.params == nil {
			b.info.params = make(map[reflect.Type]raw)
		}
		b.info.params[a.In] = params
	}
	return params
}

func describeParams(in reflect.Type) raw {
	var set schema.Set
	s, err := set.OfCall(in, schema.Input)
	if err != nil || s == nil {
		return nil // whoever wants the node's own description is told why
	}
	return fastestvalidator.Params(s, set.Defs)
}

// restRoute is an address of an action, as moleculer-web reads it.
type restRoute struct {
	Method string `json:"method"`
	Path   string `json:"path"`
}

// restOf are the addresses that moleculer-web's autoAliases gives an action; nil for none.
func restOf(routes []route.Route) raw {
	var list []restRoute
	for _, r := range routes {
		if path, ok := aliasOf(r); ok {
			list = append(list, restRoute{r.Method, path})
		}
	}
	if list == nil {
		return nil
	}
	out, _ := json.Codec.Append(nil, list) // texts
	return out
}

// aliasOf writes a pattern as moleculer-web's: /orders/{id} is /orders/:id. Its parameters are members of the params by their names in the path, so
// they have those of the input's fields. It is false for a pattern that cannot be written so.
func aliasOf(r route.Route) (path string, ok bool) {
	segments, err := route.Segments(r.Pattern)
	if err != nil {
		return "", false
	}
	fields := make(map[string]string)
	for _, p := range r.Params {
		if p.In == route.Path {
			fields[p.Name] = p.Field
		}
	}
	var out strings.Builder
	for _, s := range segments {
		out.WriteByte('/')
		switch field := fields[s.Text]; {
		case s.Rest, s.Param && (field == "" || strings.Trim(field, aliasName) != ""):
			return "", false
		case s.Param:
			out.WriteString(":" + field)
		default:
			out.WriteString(s.Text)
		}
	}
	if out.Len() == 0 {
		return "/", true
	}
	return out.String(), true
}

// aliasName has the characters of a parameter's name that moleculer-web takes.
const aliasName = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
