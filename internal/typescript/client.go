package typescript

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// space is a namespace: the actions and namespaces under the first parts of their names. One name may be both: "users" of
// service "a" and "get" of service "a.users".
type space struct {
	name   string // of its interface
	path   string // "v2.users"; "" for the client
	action *action
	inner  map[string]*space
}

// spaces puts the actions into their namespaces.
func (m *module) spaces() *space {
	root := &space{inner: map[string]*space{}}
	for _, a := range m.actions {
		at := root
		for part := range strings.SplitSeq(a.Name, ".") {
			next := at.inner[part]
			if next == nil {
				next = &space{path: strings.TrimPrefix(at.path+"."+part, "."), inner: map[string]*space{}}
				at.inner[part] = next
			}
			at = next
		}
		at.action = a
	}
	return root
}

func (s *space) members() []string { return slices.Sorted(maps.Keys(s.inner)) }

// writeNamespaces writes the interface of the client, and one for each namespace.
func (m *module) writeNamespaces() {
	root := m.spaces()
	root.name = "Api"
	m.printf("\n")
	m.comment("", "The client for "+oneLine(m.title())+": createClient makes it.")
	m.writeNamespace(root)
}

func (m *module) writeNamespace(s *space) {
	m.printf("export interface %s {\n", s.name)
	if s.action != nil {
		m.printf("  %s;\n", strings.TrimPrefix(m.signature(s.action), ": "))
	}
	var nested []*space
	for _, part := range s.members() {
		one := s.inner[part]
		if len(one.inner) == 0 {
			m.comment("  ", one.action.Description, m.remarks(one.action), deprecated(one.action.Deprecated))
			m.printf("  %s%s;\n", key(part), m.leaf(one.action))
			continue
		}
		one.name = m.names.unique(pascal(one.path) + "Api")
		nested = append(nested, one)
		m.printf("  %s: %s;\n", key(part), one.name)
	}
	if s.path == "" {
		if m.api.Batch != "" {
			m.printf("  /** Calls made on what this gives are sent together when its $send is called. Those with headers of their own go alone. */\n")
			m.printf("  $batch(): Batch;\n")
		}
		if m.api.Events != nil {
			m.comment("  ", "Listens to events of these topics, such as "+strings.Join(m.api.Events.Patterns, ", ")+".")
			m.printf("  $events(topics: readonly string[], options?: StreamOptions): Stream<ApiEvent>;\n")
		}
	}
	m.printf("}\n")
	if s.path == "" && m.api.Batch != "" {
		m.printf("\n/** Calls that go together. */\nexport interface Batch extends Api {\n")
		m.printf("  /** Sends the calls made since the last time, and waits for their answers, which the calls themselves give. */\n")
		m.printf("  $send(): Promise<void>;\n}\n")
	}
	for _, one := range nested {
		m.printf("\n")
		m.writeNamespace(one)
	}
}

// remarks returns the text that follows the description in an action's comment: its routes, and the conditions for a call.
func (m *module) remarks(a *action) string {
	var list []string
	for _, r := range a.Routes {
		list = append(list, r.Method+" "+m.api.Prefix+r.Pattern)
	}
	if len(a.Scopes) > 0 {
		list = append(list, "needs "+strings.Join(a.Scopes, " or "))
	}
	if a.Idempotent {
		list = append(list, "may be repeated")
	}
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, "; ") + ")"
}

// writeClient writes createClient, which binds the functions of all actions to one client.
func (m *module) writeClient() {
	if m.api.Batch == "" {
		m.printf("\n")
		m.comment("", "Makes a client of all actions. It holds no connection and need not be closed.")
		m.function("export createClient", params{{"options", "ClientOptions"}}, "Api", "return bind(options);")
	} else {
		if m.form != scriptForm {
			m.printf(apiOptions)
		}
		m.printf("\n")
		m.comment("", "Makes a client of all actions. It holds no connection and need not be closed.")
		queue := "new Queue(%s, " + quote(m.api.Prefix+m.api.Batch) + ", %v)"
		m.function("export createClient", params{{"options", "ApiOptions"}}, "Api",
			"return bind({ ...options, queue: options.batch ? "+fmt.Sprintf(queue, "options", true)+" : undefined });")
		m.printf("\n")
		m.function("batchOf", params{{"c", "Connection"}}, "any", "const queue = "+fmt.Sprintf(queue, "c", false)+";",
			"return { ...bind({ ...c, queue }), $send: () => queue.send() };")
	}
	if m.api.Events != nil {
		m.printf("\n")
		m.function("eventsOf", params{{"c", "ClientOptions"}, {"topics", "readonly string[]"}, {"options?", "StreamOptions"}}, "any",
			"return listen(c, "+quote(m.api.Prefix+m.api.Events.Path)+", topics, options);")
	}
	m.printf("\n")
	var b strings.Builder
	m.members(&b, m.spaces(), "  ")
	m.function("bind", params{{"c", "Connection"}}, "any", "return "+b.String()+";")
}

const apiOptions = `
/** What createClient takes. */
export interface ApiOptions extends ClientOptions {
  /**
   * Sends calls that are made in the same microtask as one request. A call with headers of its own goes alone. Cookies are set as
   * if the calls had been made one after the other; a call that may be tried again goes alone then.
   */
  batch?: boolean;
}
`

// members writes the object of a namespace.
func (m *module) members(b *strings.Builder, s *space, indent string) {
	inner := indent + "  "
	b.WriteString("{\n")
	for _, part := range s.members() {
		one := s.inner[part]
		b.WriteString(inner + key(part) + ": ")
		switch {
		case len(one.inner) == 0:
			b.WriteString(m.bound(one.action))
		case one.action != nil:
			b.WriteString("members(" + m.bound(one.action) + ", ")
			m.members(b, one, inner)
			b.WriteString(")")
		default:
			m.members(b, one, inner)
		}
		b.WriteString(",\n")
	}
	if s.path == "" {
		if m.api.Batch != "" {
			b.WriteString(inner + "$batch: () => batchOf(c),\n")
		}
		if m.api.Events != nil {
			b.WriteString(inner + "$events: withClient(c, eventsOf),\n")
		}
	}
	b.WriteString(indent + "}")
}

// bound is the expression for an action's function with the client that it calls.
func (m *module) bound(a *action) string {
	var more []string
	for _, f := range m.functionsOf(a)[1:] {
		more = append(more, f.member+": withClient(c, "+a.camel+f.suffix()+")")
	}
	if len(more) == 0 {
		return "withClient(c, " + a.camel + ")"
	}
	return "members(withClient(c, " + a.camel + "), { " + strings.Join(more, ", ") + " })"
}
