package typescript

import (
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/schema"
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

// making is the expression that makes an action's function.
func (m *module) making(a *action) string {
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
		add("get", "{ pattern: "+quote(m.api.Prefix+a.get.Pattern)+", params: "+list+" }")
	}
	if a.Idempotent {
		add("idempotent", "true")
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
	described := "{ " + strings.Join(parts, ", ") + " }"
	switch {
	case a.Stream && isFile(a.In) && isFile(a.Out):
		return "upload(c, " + described + `, "file")`
	case a.Stream && isFile(a.In):
		return "upload(c, " + described + `, "value")`
	case a.Stream && isFile(a.Out):
		return "download(c, " + described + ")"
	case a.Stream:
		return "stream(c, " + described + ")"
	case a.In == nil:
		return "bare(c, " + described + ")"
	case m.api.Pages(&a.Action):
		return "paged(c, " + described + ")"
	}
	return "unary(c, " + described + ")"
}
