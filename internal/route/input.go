package route

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// maxFields bounds the parameters of a route, those of the path included.
const maxFields = 256

// New works out where the fields of an input come from, for a method and a pattern as [Segments] has them.
//
//   - A parameter of the path is the field with the tag `path:"id"`, else the one of that JSON name.
//   - Fields with a tag `query:"page"`, `header:"X-Tenant"` or `cookie:"session"` come from there.
//   - Fields with a tag `form:"name"` come from a form where the body of POST, PUT and PATCH is one, and from JSON as all others do; with
//     GET, HEAD and DELETE they come from the query under that name, where browsers put a form.
//   - All other fields come from the query by their JSON names with GET, HEAD and DELETE, and from a JSON body with POST, PUT
//     and PATCH. There are no other methods.
//
// A parameter is text, a number or a bool, or a pointer to one; in the query and in headers also a list of them. Text is
// whatever is a string in JSON: also times, []byte (base64), types with UnmarshalText, and numbers whose json tag has the
// option "string". For a type with UnmarshalJSON it is decided by how its zero value is written. A field whose validate tag
// has "required" is a required parameter; those of the path always are. The fields of embedded structs count as fields of
// the outer one, as in encoding/json.
//
// An input whose fields are not known, any, json.RawMessage or a map[string]any or map[string]string, takes parameters of the
// path as text; with GET, HEAD and DELETE it takes every parameter of the query as text (Open). Any other type that is no
// struct can only be a whole body. in is nil for an action without input.
//
// Errors name the field and its type and give the remedy.
func New(method, pattern string, in reflect.Type) (Route, error) {
	r, segments, body, err := begin(method, pattern)
	if err != nil {
		return r, err
	}
	if in == nil {
		in = reflect.TypeFor[struct{}]()
	}
	in = pointed(in)
	switch {
	case untyped(in):
		r.Params = textParams(segments)
		r.Body, r.Open = body, !body
		return r, nil
	case in.Kind() != reflect.Struct || ownForm(in):
		return wholeBody(r, segments, in, body)
	}
	known, err := readInput(in)
	if err != nil {
		return r, err
	}
	b := builder{input: known, body: body, pattern: pattern, taken: make([]bool, len(known.fields))}
	if err := b.path(segments); err != nil {
		return r, err
	}
	if err := b.others(); err != nil {
		return r, err
	}
	r.Params, r.Body, r.Form = b.params, b.left, b.form
	return r, nil
}

// NewUpload returns the route of a stream whose inputs are the bytes of the body. Its path's parameters are text, and become metadata
// of the call.
func NewUpload(method, pattern string) (Route, error) {
	r, segments, body, err := begin(method, pattern)
	if err != nil {
		return r, err
	}
	if !body {
		return r, errors.New("an upload needs a body; use PUT, POST or PATCH")
	}
	r.Params, r.Body = textParams(segments), true
	return r, nil
}

// begin reads what is said of the request alone: the segments of its path, and whether it has a body.
func begin(method, pattern string) (r Route, segments []Segment, body bool, err error) {
	r = Route{Method: method, Pattern: pattern}
	if body, err = takesBody(method); err == nil {
		segments, err = Segments(pattern)
	}
	return r, segments, body, err
}

func takesBody(method string) (bool, error) {
	switch method {
	case "GET", "HEAD", "DELETE":
		return false, nil
	case "POST", "PUT", "PATCH":
		return true, nil
	}
	return false, fmt.Errorf("the method %q is none of GET, HEAD, DELETE, POST, PUT and PATCH", method)
}

func textParams(segments []Segment) (params []Param) {
	for _, s := range segments {
		if s.Param {
			params = append(params, Param{Name: s.Text, In: Path, Field: s.Text, Kind: Text, Required: true})
		}
	}
	return params
}

// wholeBody returns the route for an input without fields to assign to parameters: the body is the whole input.
func wholeBody(r Route, segments []Segment, in reflect.Type, body bool) (Route, error) {
	why := "is no struct"
	if in.Kind() == reflect.Struct {
		why = "reads JSON by a method of its own"
	}
	if i := slices.IndexFunc(segments, func(s Segment) bool { return s.Param }); i >= 0 {
		return r, fmt.Errorf("the input %v %s, so it has no field for {%s}; make it a struct with a field tagged `path:%q`", in, why, segments[i].Text, segments[i].Text)
	}
	if !body {
		return r, fmt.Errorf("the input %v %s, so it cannot come from a query; use POST, or make it a struct", in, why)
	}
	r.Body = true
	return r, nil
}

// builder works out the parameters of one route.
type builder struct {
	*input
	pattern string
	body    bool   // the method has one
	left    bool   // fields are left for it
	taken   []bool // fields that are parameters of the path
	params  []Param
	form    []Param
}

// path finds the fields of the pattern's parameters.
func (b *builder) path(segments []Segment) error {
	for _, s := range segments {
		if !s.Param {
			continue
		}
		i := b.fieldOf(s.Text)
		if i < 0 {
			return fmt.Errorf("the pattern %q has {%s}, but %v has no field with the tag `path:%q` or the JSON name %q that the path may set; add one",
				b.pattern, s.Text, b.typ, s.Text, s.Text)
		}
		b.taken[i] = true
		p, err := b.param(b.fields[i], origin{Path, s.Text})
		if err != nil {
			return err
		}
		if s.Rest && p.Kind != Text {
			return wrong(b.fields[i], "is %s, but {%s...} takes text; make it a string", p.Kind, s.Text)
		}
		p.Required = true
		b.params = append(b.params, p)
	}
	for i, from := range b.from {
		if from.in == Path && !b.taken[i] {
			return wrong(b.fields[i], "has the tag path:%q, but the pattern %q has no {%s}; add it, or remove the tag", from.name, b.pattern, from.name)
		}
	}
	return nil
}

// fieldOf finds the field of a path's parameter: -1 for none.
func (b *builder) fieldOf(name string) int {
	if i := slices.Index(b.from, origin{Path, name}); i >= 0 {
		return i
	}
	for i, f := range b.fields {
		if f.Name == name && b.from[i].in == "" {
			return i
		}
	}
	return -1
}

// others are the fields that are not in the path.
func (b *builder) others() error {
	for i, f := range b.fields {
		from := b.from[i]
		switch {
		case f.Name == "" || b.taken[i]:
			continue
		case from.in == "" && b.body:
			b.left = true
			continue
		case from.in == Form && b.body:
			p, err := b.param(f, from)
			if err != nil {
				return err
			}
			b.form, b.left = append(b.form, p), true
			continue
		case from.in == Form:
			from.in = Query
		case from.in == "":
			from = origin{Query, f.Name}
			if err := checkName(f, Query, f.Name); err != nil {
				return err
			}
		}
		p, err := b.param(f, from)
		if err != nil {
			return err
		}
		b.params = append(b.params, p)
	}
	if n := max(len(b.params), len(b.form)); n > maxFields {
		return fmt.Errorf("%v has %d fields that do not come from JSON; at most %d can; use POST", b.typ, n, maxFields)
	}
	return b.unique()
}

// param is the parameter for a field, if its type can be one.
func (b *builder) param(f field, from origin) (Param, error) {
	p := Param{Name: from.name, In: from.in, Field: f.Name, Required: f.required, Secret: f.secret}
	form, bad := formOf(f.Type), ""
	for option := range strings.SplitSeq(f.Options, ",") {
		switch {
		case option == "" || option == "omitempty" || option == "omitzero":
		case option == "string" && !form.list:
			form.kind = quoted(f.Type, form.kind)
		default:
			bad = option
		}
	}
	p.Kind, p.List = form.kind, form.list
	advice := "use POST, where it comes from the body"
	if b.body {
		advice = "let it come from the body"
	}
	switch {
	case bad != "":
		return p, wrong(f, "has the option %q in its json tag, which a %s parameter cannot follow; remove it, or %s", bad, from.in, advice)
	case p.Kind == "":
		return p, wrong(f, "is of type %v, which has no form as a %s parameter (text, a number or a bool, or a list of these); %s, or take it apart", f.Type, from.in, advice)
	case p.List && (from.in == Path || from.in == Cookie):
		return p, wrong(f, "is a list, which a %s parameter cannot be; take it from the query, or make it one value", from.in)
	}
	return p, nil
}

// quoted is the kind of a field with the json option "string", which puts numbers and bools into quotes and changes no text.
func quoted(t reflect.Type, kind Kind) Kind {
	if t = pointed(t); ownForm(t) {
		return kind
	}
	if t.Kind() == reflect.String {
		return "" // a string in a string
	}
	return Text
}

func (b *builder) unique() error {
	seen := make(map[origin]string, len(b.params)+len(b.form))
	for _, p := range slices.Concat(b.params, b.form) {
		key := origin{p.In, p.Name}
		if p.In == Header {
			key.name = strings.ToLower(p.Name)
		}
		if other, twice := seen[key]; twice {
			return fmt.Errorf("the fields %s and %s of %v both come from the %s parameter %s; give one of them another name", other, p.Field, b.typ, p.In, p.Name)
		}
		seen[key] = p.Field
	}
	return nil
}
