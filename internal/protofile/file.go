package protofile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/protoname"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
	"github.com/sabir-go/sabir/introspect"
)

// Options of Write. The zero value is usable.
type Options struct {
	// Package names the package of the file, such as "shop.v1". Where the API's server answers gRPC, one of its services must be in it; left empty,
	// all must be in one, which is taken. Else it may be any; left empty, its name is made of the API's title.
	Package   string
	GoPackage string // the option go_package; left out where it is empty
	Lock      Lock   // holds the numbers of fields, see Lock; nil compares them with none
}

// Write writes the file. The same API, options and lock give the same bytes. It adds new fields to o.Lock, so that two calls
// must not share one at the same time. An error is the writer's, or reports an invalid package name, or each field that has another number
// than the lock says.
func Write(w io.Writer, a api.API, o Options) error {
	all := len(a.Actions)
	var err error
	if a.Actions, o.Package, err = inPackage(a.Actions, o.Package); err != nil {
		return err
	}
	if len(a.Actions) < all {
		a.Types = reached(a)
	}
	o.Package = cmp.Or(o.Package, strings.Join(mapped(protoname.Words(a.Title), strings.ToLower), "_"), "api")
	if !packageName.MatchString(o.Package) {
		return fmt.Errorf("protofile: %q is no package name; want identifiers with dots between them", o.Package)
	}
	if o.Lock == nil {
		o.Lock = Lock{}
	}
	f := &file{api: a, options: o, taken: names{}, types: map[string]string{}, imports: map[string]bool{}, messages: map[string]string{}, begun: map[*schema.Schema]string{}}
	f.nameTypes()
	services := f.services()
	for _, name := range slices.Sorted(maps.Keys(f.types)) {
		if f.sharedBy(name) == "" {
			f.message(f.types[name], a.Types[name])
		}
	}
	if err := errors.Join(f.problems...); err != nil {
		return err
	}
	f.head()
	f.out.WriteString(services)
	for _, name := range slices.Sorted(maps.Keys(f.messages)) {
		f.out.WriteString(f.messages[name])
	}
	_, err = io.WriteString(w, strings.TrimSuffix(f.out.String(), "\n")) // which parts what follows
	return err
}

var packageName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// inPackage returns the actions of a package, and its name. Where no action has a package, as where the server answers no gRPC, those are all
// actions. A file in another package than the server's would have names that the server does not know, and so would one with a second
// action of a method's name.
func inPackage(actions []api.Action, pkg string) (own []api.Action, _ string, err error) {
	packages, taken := map[string][]api.Action{}, map[string]bool{}
	for i := range actions {
		m, ok := protoname.ParseMethod(actions[i].RPC)
		if !ok || taken[m.Path()] {
			continue
		}
		taken[m.Path()] = true
		packages[m.Package] = append(packages[m.Package], actions[i])
	}
	served := slices.Sorted(maps.Keys(packages))
	switch {
	case len(served) == 0:
		return actions, pkg, nil
	case pkg == "" && len(served) == 1:
		pkg = served[0]
	case pkg == "":
		return nil, "", fmt.Errorf("protofile: the services are in %d packages, and a file is of one: choose it with --package, %s", len(served), oneOf(served))
	case packages[pkg] == nil:
		return nil, "", fmt.Errorf("protofile: no service is in the package %q: choose another with --package, %s", pkg, oneOf(served))
	}
	return packages[pkg], pkg, nil
}

// oneOf lists names, at least one.
func oneOf(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// reached returns the types of the inputs and outputs of the actions, with those within them.
func reached(a api.API) map[string]*schema.Schema {
	types := map[string]*schema.Schema{}
	var add func(s *schema.Schema)
	add = func(s *schema.Schema) {
		if s == nil {
			return
		}
		for one := range s.All() {
			name, named := typeName(one.Ref)
			if t := a.Types[name]; named && t != nil && types[name] == nil {
				types[name] = t
				add(t)
			}
		}
	}
	for i := range a.Actions {
		add(a.Actions[i].In)
		add(a.Actions[i].Out)
	}
	return types
}

// serviceName is the name of an action's service: that under which package rpc serves it, where the file is of its package.
func (f *file) serviceName(a *api.Action) string {
	if m, ok := protoname.ParseMethod(a.RPC); ok && m.Package == f.options.Package {
		return m.Service
	}
	return protoname.Message(a.Service) + "Service"
}

// file is a file in the making.
type file struct {
	api      api.API
	options  Options
	out      strings.Builder
	taken    names             // of messages and services
	types    map[string]string // named types with members -> messages
	imports  map[string]bool
	messages map[string]string         // name -> text
	begun    map[*schema.Schema]string // the messages of what is being described, which may have itself inside
	problems []error                   // of the lock
}

// nameTypes gives each named type with members its message, the services' names being kept free.
func (f *file) nameTypes() {
	for _, service := range f.serviceNames() {
		f.taken[service] = true
	}
	for _, name := range slices.Sorted(maps.Keys(f.api.Types)) {
		if t := f.api.Types[name]; t != nil && t.ProtoType == "" && len(t.Fields()) > 0 {
			f.types[name] = f.taken.take(protoname.Message(name))
		}
	}
	for name := range f.types {
		if output := f.sharedBy(name); output != "" {
			f.types[name] = f.types[output]
		}
	}
}

func (f *file) serviceNames() []string {
	var list []string
	for i := range f.api.Actions {
		list = append(list, f.serviceName(&f.api.Actions[i]))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (f *file) head() {
	b := &f.out
	comment(b, "", f.api.Heading())
	comment(b, "", f.api.Description)
	b.WriteString("//\n")
	comment(b, "", "Made from Go types; changes here are lost. Fields have the numbers of their protobuf tags, or those after that of the "+
		"field before, so that only fields added at the end leave the numbers of the others as they are.")
	b.WriteString("\nsyntax = \"proto3\";\n\npackage " + f.options.Package + ";\n\n")
	for _, path := range slices.Sorted(maps.Keys(f.imports)) {
		b.WriteString("import " + quote(path) + ";\n")
	}
	if len(f.imports) > 0 {
		b.WriteByte('\n')
	}
	if f.options.GoPackage != "" {
		b.WriteString("option go_package = " + quote(f.options.GoPackage) + ";\n\n")
	}
}

// services are all services and their rpcs, in the order of names.
func (f *file) services() string {
	actions := slices.Clone(f.api.Actions)
	slices.SortStableFunc(actions, func(x, y api.Action) int { return strings.Compare(x.Name, y.Name) })
	used := names{}
	var b strings.Builder
	for _, service := range f.serviceNames() {
		b.WriteString("service " + used.take(service) + " {\n")
		methods := names{}
		var rpcs []rpc
		for i := range actions {
			if a := &actions[i]; f.serviceName(a) == service {
				rpcs = append(rpcs, rpc{a, methods.take(protoname.Message(strings.TrimPrefix(a.Name, a.Service+".")))})
			}
		}
		for i, r := range rpcs {
			if i > 0 {
				b.WriteByte('\n')
			}
			f.rpc(&b, r, methods)
		}
		b.WriteString("}\n\n")
	}
	return b.String()
}

// rpc is an action under the name that its method has.
type rpc struct {
	*api.Action
	method string
}

func (f *file) rpc(b *strings.Builder, a rpc, methods names) {
	place := protoname.Message(a.Service) + a.method
	in, out := f.seenFrom(methods, f.side(a.In, place+"Input")), f.seenFrom(methods, f.side(a.Out, place+"Output"))
	if a.Stream && a.Shape != introspect.ServerStream {
		in = "stream " + in
	}
	if a.Stream && a.Shape != introspect.ClientStream {
		out = "stream " + out
	}
	comment(b, "  ", a.Description)
	comment(b, "  ", a.Name+": POST "+strings.TrimSuffix(f.api.Prefix, "/")+a.Path)
	if a.Deprecated && a.Instead != "" {
		comment(b, "  ", "Deprecated: "+a.Instead)
	}
	for _, e := range a.Errors {
		comment(b, "  ", strings.TrimSuffix("Fails with "+e.Name+" ("+e.Code+"): "+e.Description, ": "))
	}
	b.WriteString("  rpc " + a.method + "(" + in + ") returns (" + out + ")")
	var options []string
	if a.Deprecated {
		options = append(options, "    option deprecated = true;\n")
	}
	switch {
	case a.Stream:
	case readsOnly(a.Action):
		options = append(options, "    option idempotency_level = NO_SIDE_EFFECTS;\n")
	case a.Idempotent:
		options = append(options, "    option idempotency_level = IDEMPOTENT;\n")
	}
	if len(options) == 0 {
		b.WriteString(";\n")
		return
	}
	b.WriteString(" {\n" + strings.Join(options, "") + "  }\n")
}

// readsOnly reports whether package rpc takes GET for the action, which clients of Connect send where the file says so.
func readsOnly(a *api.Action) bool {
	return a.NoEffects || a.CacheFor > 0 || slices.ContainsFunc(a.Routes, func(r route.Route) bool {
		return r.Method == http.MethodGet || r.Method == http.MethodHead
	})
}

// seenFrom is the name by which a service with these methods refers to a message. Compilers look a name up among the service's methods
// first, so that `rpc Get(Get)` would take the method for its own input.
func (f *file) seenFrom(methods names, message string) string {
	if methods[message] {
		return "." + f.options.Package + "." + message
	}
	return message
}

// side is the message of an input or an output: rpcs take nothing else.
func (f *file) side(s *schema.Schema, place string) string {
	if s == nil {
		f.imports[imports[emptyType]] = true
		return emptyType
	}
	got := f.shape(s, place)
	if _, known := imports[got.name]; got.single() && got.message && (!known || got.name == structType) {
		return got.name
	}
	return f.wrap(place, got) // times, durations and values too, which Go knows as no struct
}

// wrap is a message around a value that is none.
func (f *file) wrap(place string, s shape) string {
	name := f.taken.take(protoname.Message(place))
	f.fields(name, "", []row{{json: "value", shape: s}}, []int32{1})
	return name
}

// row is a field of a message.
type row struct {
	json  string
	shape shape
	says  []string
}

// message adds the message of an object.
func (f *file) message(name string, s *schema.Schema) {
	var rows []row
	for _, p := range s.Fields() {
		r := row{json: p.Name, shape: f.shape(p.Schema, name+"_"+p.Name)}
		if p.Schema.Description != "" {
			r.says = append(r.says, p.Schema.Description)
		}
		if r.shape.note != "" {
			r.says = append(r.says, r.shape.note)
		}
		rows = append(rows, r)
	}
	f.fields(name, s.Description, rows, s.Fields().Numbers())
}

func (f *file) fields(name, says string, rows []row, numbers []int32) {
	var keys []string
	for _, r := range rows {
		keys = append(keys, r.json)
	}
	gone, err := f.options.Lock.take(name, keys, numbers)
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		f.problems = append(f.problems, several.Unwrap()...)
	}
	var b strings.Builder
	comment(&b, "", says)
	b.WriteString("message " + name + " {\n")
	used := names{}
	var fields strings.Builder
	for i, r := range rows {
		for _, said := range r.says {
			comment(&fields, "  ", said)
		}
		fields.WriteString("  " + r.shape.label() + " " + used.takeField(protoname.Field(r.json)) + " = " + strconv.Itoa(int(numbers[i])) + ";\n")
	}
	reserve(&b, gone, used)
	b.WriteString(fields.String())
	b.WriteString("}\n\n")
	f.messages[name] = b.String()
}

// reserve keeps the numbers and names of fields that went from being used again. A name that another field has now cannot be reserved.
func reserve(b *strings.Builder, gone map[string]int32, used names) {
	byNumber := slices.SortedFunc(maps.Keys(gone), func(x, y string) int { return int(gone[x]) - int(gone[y]) })
	for _, name := range byNumber {
		b.WriteString("  reserved " + strconv.Itoa(int(gone[name])) + ";")
		comment(b, " ", "was "+name)
		if field := protoname.Field(name); used.takeField(field) == field {
			b.WriteString("  reserved " + quote(field) + ";\n")
		}
	}
}

// comment writes text as a comment, a line for each of its lines.
func comment(b *strings.Builder, indent, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	for line := range strings.Lines(text) {
		b.WriteString(indent + strings.TrimRight("// "+strings.Map(printable, strings.TrimRight(line, "\r\n")), " ") + "\n")
	}
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f || r == 0xfffd {
		return ' '
	}
	return r
}

func enumNote(s *schema.Schema) string {
	if len(s.Enum) == 0 {
		return ""
	}
	var list []string
	for _, v := range s.Enum {
		text, err := json.Marshal(v)
		if err == nil {
			list = append(list, string(text))
		}
	}
	return "One of " + strings.Join(list, ", ") + "."
}

// quote is text as a string of Protocol Buffers.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if c := s[i]; c == '"' || c == '\\' || c < ' ' || c >= 0x7f {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func mapped(list []string, f func(string) string) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = f(list[i])
	}
	return out
}
