package typescript

import (
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/schema"
	"github.com/sabir-go/sabir/introspect"
)

// writeErrors writes an interface for every declared error.
func (m *module) writeErrors() {
	for _, e := range m.errors {
		if e.data != "" {
			m.writeType(e.data, e.Data, output)
		}
		m.printf("\n")
		m.comment("", e.Description)
		m.printf("export interface %s extends ApiError {\n", e.name)
		m.printf("  readonly type: %s;\n", quote(typeURN(e.Name)))
		m.printf("  readonly name: %s;\n", quote(e.Name))
		m.printf("  readonly code: %s;\n", quote(e.Code))
		if t := m.dataType(e); t != "" {
			m.printf("  readonly data: %s;\n", t)
		}
		m.printf("}\n")
	}
}

// dataType is the type of an error's data; "" for none.
func (m *module) dataType(e *declared) string {
	if e.data != "" || e.Data == nil {
		return e.data
	}
	return m.typeOf(e.Data, output, "")
}

// typeURN is the type of the problem that stands for an error, as the runtime's ApiError makes it.
func typeURN(name string) string { return "urn:sabir:error:" + encodeURIComponent(name) }

// encodeURIComponent is JavaScript's function of that name.
func encodeURIComponent(text string) string {
	const kept = "-_.!~*'()"
	var b strings.Builder
	for _, c := range []byte(text) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(kept, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteString("%" + string("0123456789ABCDEF"[c>>4]) + string("0123456789ABCDEF"[c&15]))
	}
	return b.String()
}

// writeActions writes the types of every action's input, output and errors.
func (m *module) writeActions() {
	for _, a := range m.actions {
		if a.In != nil {
			m.printf("\n")
			m.comment("", "What "+a.Name+" takes.")
			m.alias(a.pascal+"Input", a.In, input)
		}
		if a.Out != nil {
			m.printf("\n")
			m.comment("", "What "+a.Name+" gives.")
			m.alias(a.pascal+"Output", a.Out, output)
		}
		m.printf("\n")
		m.comment("", "What "+a.Name+" can end with.")
		m.printf("export type %sError = ", a.pascal)
		for _, e := range a.errors {
			m.printf("%s | ", e.name)
		}
		m.printf("CallError;\n")
	}
}

// alias gives a type one more name.
func (m *module) alias(name string, s *schema.Schema, by side) {
	if isPlainObject(s) {
		m.printf("export interface %s %s\n", name, m.object(s, by, ""))
		return
	}
	m.printf("export type %s = %s;\n", name, m.typeOf(s, by, ""))
}

// isFile reports whether the values of a stream are the parts of a file.
func isFile(s *schema.Schema) bool {
	return s != nil && s.Ref == "" && s.ContentEncoding == "base64" && slices.Contains(s.Type, "string")
}

func (a *action) inType() string {
	if a.In == nil {
		return "undefined"
	}
	return a.pascal + "Input"
}

func (a *action) outType() string {
	bodies := 0 // of the statuses
	for _, s := range a.Usual() {
		if !api.Empty(s.Status) {
			bodies++
		}
	}
	switch {
	case a.Out == nil || bodies == 0:
		return "void"
	case bodies < len(a.Usual()):
		return a.pascal + "Output | undefined"
	}
	return a.pascal + "Output"
}

// signature is the form of an action in its namespace's interface: what follows its name, or "{" and the signature of a call.
func (m *module) signature(a *action) string {
	fails := a.pascal + "Error"
	switch {
	case a.Stream && isFile(a.In) && isFile(a.Out):
		return ": UploadAction<Response, " + fails + ">"
	case a.Stream && isFile(a.In):
		return ": UploadAction<" + a.outType() + ", " + fails + ">"
	case a.Stream && isFile(a.Out):
		return ": DownloadAction<" + a.inType() + ", " + fails + ">"
	case a.Shape == introspect.ServerStream:
		return ": ServerStreamAction<" + a.inType() + ", " + a.outType() + ", " + fails + ">"
	case a.Shape == introspect.ClientStream:
		return ": ClientStreamAction<" + a.inType() + ", " + a.outType() + ", " + fails + ">"
	case a.Stream:
		return ": StreamAction<" + a.inType() + ", " + a.outType() + ", " + fails + ">"
	}
	call := ": Call<" + a.outType() + ", " + fails + ">"
	switch {
	case a.In == nil:
		return "(options?: CallOptions)" + call
	case m.mayBeLeftOut(a.In):
		return "(input?: " + a.inType() + ", options?: CallOptions)" + call
	}
	return "(input: " + a.inType() + ", options?: CallOptions)" + call
}

// leaf is signature for an action that is no namespace too, which may have members.
func (m *module) leaf(a *action) string {
	if !m.api.Pages(&a.Action) {
		return m.signature(a)
	}
	call := m.signature(a)
	takes := call[:strings.Index(call, ": Call<")]
	return ": {\n    " + call + ";\n    /** The items of this page and of all behind it, each asked for when it is reached. Errors are thrown. */\n    all" +
		takes + ": AsyncIterable<" + a.outType() + `["items"][number]>;` + "\n  }"
}

// mayBeLeftOut reports whether {} will do for an input.
func (m *module) mayBeLeftOut(s *schema.Schema) bool {
	s = m.resolve(s)
	return s != nil && slices.Contains(s.Type, "object") && len(s.Required) == 0
}

// function is one of the functions that call an action.
type function struct {
	member string // its name as a member of the client's: "all", "from", "open"; "" for the action itself
	params params // behind the client
	result string
	calls  string // the function of the runtime; "" for pages
	more   string // what that takes behind the action's description
}

func (f *function) suffix() string {
	if f.member == "" {
		return ""
	}
	return strings.ToUpper(f.member[:1]) + f.member[1:]
}

// functionsOf are the functions that call an action: the first is the action itself.
func (m *module) functionsOf(a *action) []function {
	options := func(t string) param { return param{"options?", t} }
	values := param{"values", "Iterable<" + a.inType() + "> | AsyncIterable<" + a.inType() + ">"}
	types := "<" + a.outType() + ", " + a.pascal + "Error>"
	in := param{"input", a.inType()}
	if a.In == nil || m.mayBeLeftOut(a.In) || a.Stream && a.Shape != introspect.ServerStream {
		in.name = "input?"
	}
	body := params{{"body", "UploadBody"}, options("UploadOptions")}
	switch {
	case a.Stream && isFile(a.In) && isFile(a.Out):
		return []function{{params: body, result: "Call<Response, " + a.pascal + "Error>", calls: "upload", more: `"file", body, options`}}
	case a.Stream && isFile(a.In):
		return []function{{params: body, result: "Call" + types, calls: "upload", more: `"value", body, options`}}
	case a.Stream && isFile(a.Out):
		return []function{{params: params{in, options("CallOptions")}, result: "Call<Response, " + a.pascal + "Error>", calls: "download", more: "input, options"}}
	case a.Shape == introspect.ClientStream:
		return []function{{params: params{values, options("CallOptions")}, result: "Call" + types, calls: "clientStream", more: "values, options"}}
	case a.Stream:
		one := function{params: params{in, options("StreamOptions")}, result: "Stream" + types, calls: "stream", more: "input, options"}
		if a.Shape == introspect.ServerStream {
			return []function{one}
		}
		duplex := "Duplex<" + a.inType() + ", " + strings.TrimPrefix(types, "<")
		return []function{one,
			{member: "from", params: params{values, options(`Omit<StreamOptions, "reconnect">`)}, result: "Stream" + types, calls: "streamFrom", more: "values, options"},
			{member: "open", params: params{options(`Pick<CallOptions, "signal" | "timeout">`)}, result: duplex, calls: "new Socket", more: "options"}}
	}
	one := function{params: params{in, options("CallOptions")}, result: "Call" + types, calls: "call", more: "input, options"}
	switch {
	case a.In == nil:
		one.params, one.more = one.params[1:], "undefined, options"
	case m.api.Pages(&a.Action):
		return []function{one, {member: "all", params: one.params, result: "AsyncIterable<" + a.outType() + `["items"][number]>`}}
	}
	return []function{one}
}

// writeFunctions writes the functions that call the actions, each of which a bundler can leave out.
func (m *module) writeFunctions() {
	for _, a := range m.actions {
		all := m.functionsOf(a)
		description := m.described(a)
		if len(all) > 1 && all[1].calls != "" {
			m.printf("\n")
			m.function(a.camel+"Action", nil, "Action", "return "+description+";")
			description = a.camel + "Action()"
		}
		for _, f := range all {
			m.printf("\n")
			body := "return " + f.calls + "(client, " + description + ", " + f.more + ");"
			switch f.member {
			case "":
				m.comment("", a.Description, m.remarks(a), deprecated(a.Deprecated))
			case "all":
				m.comment("", "The items of this page of "+a.Name+" and of all behind it, each asked for when it is reached. Errors are thrown.")
				body = "return pages((next) => " + a.camel + "(client, next, options), input);"
			case "from":
				m.comment("", "Sends "+a.Name+" many values, then gives what comes back. Browsers read all of them before they send.")
			case "open":
				m.comment("", "Opens "+a.Name+" with values both ways at once.")
			}
			m.function("export "+a.camel+f.suffix(), append(params{{"client", "ClientOptions"}}, f.params...), f.result, body)
		}
	}
}

// described is the expression that describes an action to the runtime.
func (m *module) described(a *action) string {
	var parts []string
	add := func(name, value string) { parts = append(parts, name+": "+value) }
	add("name", quote(a.Name))
	add("path", quote(m.api.Prefix+a.Path))
	if a.get != nil {
		var params []string
		for _, p := range a.get.Params {
			name := p.Name
			if p.In == "path" && strings.Contains(a.get.Pattern, "{"+p.Name+"...}") {
				name += "..."
			}
			params = append(params, "{ field: "+quote(p.Field)+", name: "+quote(name)+", in: "+quote(string(p.In))+" }")
		}
		list := "[]"
		if len(params) > 0 {
			list = "[" + strings.Join(params, ", ") + "]"
		}
		add("get", "getOf("+quote(m.api.Prefix+a.get.Pattern)+", "+list+")")
	}
	if a.Idempotent {
		add("idempotent", "true")
	}
	switch {
	case m.any(a.In, isRich):
		add("write", "exact")
	case m.any(a.In, isWhole):
		add("write", "whole")
	}
	roundable := m.any(a.Out, isRounded)
	for _, e := range a.errors {
		roundable = roundable || m.any(e.Data, isRounded)
	}
	if roundable {
		add("parse", "parseJSON")
	}
	if a.Out != nil && !(a.Stream && isFile(a.Out)) {
		read := m.reader(a.Out)
		if read == "" {
			read = "same"
		}
		add("read", read)
	}
	if len(a.errors) > 0 {
		var errors []string
		for _, e := range a.errors {
			read := m.reader(e.Data)
			if read == "" {
				read = "same"
			}
			errors = appendNew(errors, key(e.Name)+": "+read)
		}
		add("errors", "{ "+strings.Join(errors, ", ")+" }")
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// any reports whether a schema, or a part of it, or a type that it refers to, has a property.
func (m *module) any(s *schema.Schema, has func(*schema.Schema) bool) bool {
	seen := map[string]bool{}
	var in func(s *schema.Schema) bool
	in = func(s *schema.Schema) bool {
		if s == nil {
			return false
		}
		if s.Ref != "" {
			if seen[s.Ref] {
				return false
			}
			seen[s.Ref] = true
			t, err := m.lookup(s.Ref)
			return err == nil && in(t.schema)
		}
		return has(s) || slices.ContainsFunc(parts(s), in)
	}
	return in(s)
}

// isAnything reports whether a schema says nothing of its values' types, so that they may be of all.
func isAnything(s *schema.Schema) bool {
	return len(s.Type)+len(s.AnyOf)+len(s.AllOf)+len(s.Enum) == 0 && s.Const == nil || s.Items == nil && slices.Contains(s.Type, "array")
}

// isRounded reports whether JSON.parse rounds values of a schema that have to be exact.
func isRounded(s *schema.Schema) bool {
	return isAnything(s) || slices.Contains(s.Type, "integer") && isBig(s)
}

// isRich reports whether JSON.stringify writes values of a schema otherwise than the server reads them, or not at all.
func isRich(s *schema.Schema) bool {
	return isRounded(s) || s.ContentEncoding == "base64" || s.Format == "date-time" || slices.Contains(s.Type, "number")
}

func isWhole(s *schema.Schema) bool { return slices.Contains(s.Type, "integer") }
