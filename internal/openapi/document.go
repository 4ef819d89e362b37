package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/schema"
)

// Document is the OpenAPI 3.1 document of an API, as indented JSON. The same API gives the same bytes.
//
// Each action is there with its call (POST /service/action, operationId "service.action") and with each of its REST forms
// (operationId "service.action.viaGet"). What OpenAPI 3.1 has no words for is in the descriptions and in these members:
// "x-stream" has the schemas of the values of a stream, "in" and "out", and its "shape": "server" for one that takes one value, "client" for
// one that answers with one; "x-rest-of-path" marks a path parameter that may hold
// slashes; "x-idempotent" means that trying again does no harm; "x-rules" are validation rules that JSON Schema cannot express.
// Routes whose method OpenAPI does not know are left out.
//
// It is an error if a schema cannot be written as JSON. Document does not change a and is safe for concurrent use.
func Document(a api.API) ([]byte, error) {
	d := newDocument(a)
	for i := range d.actions {
		d.call(&d.actions[i])
	}
	for i := range d.actions {
		d.routes(&d.actions[i])
	}
	d.batch()
	d.events()

	doc := object{{"openapi", "3.1.1"}, {"info", d.info()}, {"jsonSchemaDialect", dialect}, {"servers", d.servers()}}
	doc.add("paths", d.paths.object())
	doc.add("components", d.components())
	if tags := d.tags(); len(tags) > 0 {
		doc.add("tags", tags)
	}
	out, err := text(doc)
	if err != nil {
		return nil, fmt.Errorf("openapi: the document of %s cannot be written: %w", a.Title, err)
	}
	return out, nil
}

// document is a document in the making.
type document struct {
	api     api.API
	actions []api.Action // by name
	paths   *paths

	names     names
	types     map[string]string // names of types -> of components
	problem   string            // the component of any problem
	invalid   string            // of one that lists fields
	fieldType string            // of an entry of that list
	errors    map[string]string // declared errors, as their JSON -> component
	problems  object            // components of declared errors, by first use
	typed     names             // names that types of the API have
	used      map[string]bool   // shared components that something refers to: "responses/NotFound"
	schemes   map[string]string // names of schemes -> of components
	untagged  bool              // there are operations of no service
}

func newDocument(a api.API) *document {
	d := &document{api: a, paths: newPaths(a.Prefix), names: names{}, types: map[string]string{}, errors: map[string]string{},
		used: map[string]bool{}, schemes: map[string]string{}}
	d.actions = slices.Clone(a.Actions)
	slices.SortStableFunc(d.actions, func(x, y api.Action) int { return strings.Compare(x.Name, y.Name) })
	for _, name := range slices.Sorted(maps.Keys(a.Types)) {
		d.types[name] = d.names.take(name)
	}
	d.typed = maps.Clone(d.names)
	d.problem = d.names.take("Problem", "Sabir.Problem")
	d.invalid = d.names.take("ValidationProblem", "Sabir.ValidationProblem")
	d.fieldType = d.names.take("FieldError", "Sabir.FieldError")
	schemes := names{}
	for _, name := range slices.Sorted(maps.Keys(a.Schemes)) {
		d.schemes[name] = schemes.take(name)
	}
	return d
}

func (d *document) info() object {
	info := object{{"title", cmp.Or(d.api.Title, "API")}}
	info.addText("description", d.api.Description)
	info.add("version", cmp.Or(d.api.Version, "0"))
	return info
}

// servers returns the servers that the API names, or the one that the document came from.
func (d *document) servers() []any {
	var list []any
	for _, url := range d.api.Servers {
		list = append(list, object{{"url", strings.TrimSuffix(url, "/")}})
	}
	if list == nil {
		list = append(list, object{{"url", "/"}})
	}
	return list
}

// otherTag groups the operations that belong to no service.
const otherTag = "HTTP"

func (d *document) tags() []any {
	var list []any
	last := ""
	var services []string
	for i := range d.actions {
		if s := d.actions[i].Service; s != last {
			last, services = s, append(services, s)
		}
	}
	slices.Sort(services)
	for _, s := range slices.Compact(services) {
		list = append(list, object{{"name", s}, {"description", "The actions of " + s + "."}})
	}
	if d.untagged && !slices.Contains(services, otherTag) {
		list = append(list, object{{"name", otherTag}, {"description", "What is common to all services."}})
	}
	return list
}

// schema is a schema as it is inside the document.
func (d *document) schema(s *schema.Schema) any {
	return known(copied(s, func(name string) string {
		if component, ok := d.types[name]; ok {
			return "#/components/schemas/" + component
		}
		return "#/components/schemas/" + componentName(name)
	}))
}

// shared refers to a component that all operations share, and sees to it that it is there.
func (d *document) shared(kind, name string) object {
	d.used[kind+"/"+name] = true
	return ref(kind, d.sharedName(name))
}

// sharedName is the name of such a component. It is no type's, since generators make one type of a schema and a response of the same name.
func (d *document) sharedName(name string) string {
	if d.typed[name] {
		return "Sabir." + name
	}
	return name
}

// usedOf are those of the components of a kind that something refers to, by their names.
func (d *document) usedOf(kind string, all object) (used object) {
	for _, m := range all {
		if d.used[kind+"/"+m.key] {
			used.add(d.sharedName(m.key), m.value)
		}
	}
	return used
}

// components are the types, the problems, and what operations share.
func (d *document) components() object {
	var schemas object
	for _, name := range slices.Sorted(maps.Keys(d.types)) {
		schemas.add(d.types[name], d.schema(d.api.Types[name]))
	}
	responses := d.sharedResponses() // they refer to problems
	schemas = append(schemas, d.problemSchemas()...)
	schemas = append(schemas, d.problems...)

	c := object{{"schemas", schemas}}
	if len(responses) > 0 {
		c.add("responses", responses)
	}
	if p := d.sharedParameters(); len(p) > 0 {
		c.add("parameters", p)
	}
	if h := d.sharedHeaders(); len(h) > 0 {
		c.add("headers", h)
	}
	var schemes object
	for _, name := range slices.Sorted(maps.Keys(d.schemes)) {
		schemes.add(d.schemes[name], securityScheme(d.api.Schemes[name]))
	}
	if len(schemes) > 0 {
		c.add("securitySchemes", schemes)
	}
	return c
}

// sortedSchemes are the components of all schemes.
func (d *document) sortedSchemes() []string { return slices.Sorted(maps.Values(d.schemes)) }
