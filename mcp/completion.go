package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/schema"
)

// maxCompletions is the most values in an answer, by the protocol.
const maxCompletions = 100

// complete proposes values for a name in a resource's URI: those that the input's field may have, and those of examples. Other arguments
// have none.
func (s *server) complete(_ context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	result := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	if r.Params.Ref.Type != "ref/resource" {
		return result, nil
	}
	found := s.offer.template(r.Params.Ref.URI)
	if found == nil {
		return result, nil
	}
	field := fieldOf(&found.action, found.path, r.Params.Argument.Name)
	for _, value := range valuesOf(&found.action, s.site.API(), field) {
		if strings.HasPrefix(value, r.Params.Argument.Value) && !slices.Contains(result.Completion.Values, value) {
			result.Completion.Values = append(result.Completion.Values, value)
		}
	}
	if all := len(result.Completion.Values); all > maxCompletions {
		result.Completion.Values, result.Completion.HasMore = result.Completion.Values[:maxCompletions], true
		result.Completion.Total = all
	}
	return result, nil
}

// template is the resource with this URI template.
func (o *offer) template(uri string) *resource {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.resources[uri]
}

// fieldOf returns the field of the input that a name in the path stands for.
func fieldOf(a *api.Action, path, name string) string {
	for _, r := range a.Routes {
		if r.Pattern != path {
			continue
		}
		for _, p := range r.Params {
			if p.Name == name {
				return p.Field
			}
		}
	}
	return name
}

// valuesOf lists known values of a field of the action's input.
func valuesOf(a *api.Action, of api.API, field string) (values []string) {
	add := func(value any) {
		if value != nil {
			values = append(values, fmt.Sprint(value))
		}
	}
	if s := resolve(a.In, of.Types); s != nil {
		if f := resolve(s.Properties.Get(field), of.Types); f != nil {
			for _, value := range slices.Concat(f.Enum, f.Examples) {
				add(value)
			}
		}
	}
	for _, e := range a.Examples {
		var in map[string]any
		if json.Unmarshal(e.In, &in) == nil {
			add(in[field])
		}
	}
	return values
}

// resolve follows references.
func resolve(s *schema.Schema, types map[string]*schema.Schema) *schema.Schema {
	for hops := 0; s != nil && s.Ref != "" && hops <= len(types); hops++ {
		s = types[typeName(s.Ref)]
	}
	return s
}
