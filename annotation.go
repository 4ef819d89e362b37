package sabir

import (
	"encoding/json"
	"fmt"

	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/route"
)

// Route gives an action or a stream a REST form besides POST /service/action: a method and a pattern such as
// "/users/{id}", where {id} is the input's field of that JSON name or with the tag `path:"id"`. Fields with the tags
// `query:"page"`, `header:"X-Tenant"` and `cookie:"session"` come from there; the others come from the query under their
// JSON names with GET, HEAD and DELETE, and from a JSON body with POST, PUT and PATCH. "{path...}" at the end takes the
// rest of the path. An action may have several forms. Fields with the tag `form:"name"` may also come from an HTML form or a webhook,
// as application/x-www-form-urlencoded or multipart/form-data.
//
// A stream's inputs all have what the path, the query and the headers say. Those of an upload, []byte, have no fields: the path's
// parameters are metadata of the call, see [WithMetadata].
//
// A pattern that does not fit the input is reported when the service starts.
func Route(method, pattern string) ActionOption {
	return actionOption(func(d *definition) { d.routes = append(d.routes, route.Route{Method: method, Pattern: pattern}) })
}

// Errors declares errors that the action may end with, for documents and for clients in other languages, where they become
// a type. The errors are examples: their Data, if any, shows its type.
func Errors(errors ...*Error) ActionOption {
	return actionOption(func(d *definition) { d.errors = append(d.errors, errors...) })
}

// Example shows an input and its output in generated documents. Values of other types than the action's are reported when
// its service starts.
func Example(in, out any) ActionOption {
	return actionOption(func(d *definition) { d.examples = append(d.examples, struct{ In, Out any }{In: in, Out: out}) })
}

// Deprecated marks an action that callers should replace; the text names what to use instead.
func Deprecated(instead string) ActionOption {
	return actionOptionOnce("Deprecated", option.Caller(), func(d *definition) { d.deprecated = instead })
}

// Annotate records a fact about the action, such as the roles that callers need, so that documents and gateways can show it. A
// middleware calls it while it wraps the action, and not after its wrapping function returned. Keys are compared with ==; use
// a type of your own. A later fact under the same key replaces the former.
func (a *Action) Annotate(key, fact any) {
	if a.notes == nil {
		a.notes = make(map[any]any)
	}
	a.notes[key] = fact
}

// Annotation is the fact that was noted under the key; nil for none.
func (a *Action) Annotation(key any) any { return a.notes[key] }

// annotate fills in what the author declared about the action, and checks it against the action's types.
func (a *Action) annotate(def *definition) error {
	a.Statuses, a.Errors, a.Examples, a.Deprecated = def.statuses, def.errors, def.examples, def.deprecated
	if err := a.checkStatuses(def); err != nil {
		return err
	}
	for _, r := range def.routes {
		full, err := a.route(r)
		if err != nil {
			return badAnnotation(def, "Route(%q, %q): %w", r.Method, r.Pattern, err)
		}
		a.Routes = append(a.Routes, full)
	}
	for i, e := range def.errors {
		if e == nil || e.Name == "" {
			return badAnnotation(def, "Fails: error %d has no name, which is what callers tell errors apart by", i+1)
		}
	}
	return nil
}

// route works out where the input comes from.
func (a *Action) route(r route.Route) (route.Route, error) {
	if a.Stream && a.InputsBytes() {
		return route.NewUpload(r.Method, r.Pattern)
	}
	return route.New(r.Method, r.Pattern, a.In)
}

func badAnnotation(def *definition, format string, args ...any) error {
	err := fmt.Errorf(def.where.String()+": "+format, args...)
	return &Error{Code: CodeInvalidArgument, Name: nameBadService, cause: err, Message: err.Error()}
}

// routesText is the action's REST forms as the catalog has them; nil for none.
func routesText(routes []route.Route) json.RawMessage {
	if len(routes) == 0 {
		return nil
	}
	text, err := json.Marshal(routes)
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	return text
}

// parseRoutes is routesText's other side. What cannot be read is left out: a newer node may send more than this one knows.
func parseRoutes(text json.RawMessage) (routes []route.Route) {
	if len(text) == 0 || decodeJSON(text, &routes) != nil {
		return nil
	}
	return routes
}
