package typescript

import (
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

// writeClient writes createClient and the table of all actions.
func (m *module) writeClient() {
	m.printf("\n/** Makes a client. It holds no connection and need not be closed. */\n")
	m.printf("export function createClient(options: ClientOptions): Api {\n")
	if m.api.Batch != "" {
		m.printf("  return bind(options.batch ? { options, queue: new Queue(options, %s, true) } : { options });\n}\n", quote(m.api.Prefix+m.api.Batch))
	} else {
		m.printf("  return bind({ options });\n}\n")
	}
	m.printf("\nfunction bind(c: Connection): any {\n  return ")
	m.writeMembers(m.spaces(), "  ")
	m.printf(";\n}\n")
	if m.api.Batch != "" {
		m.printf("\nfunction batchOf(c: Connection): any {\n  const queue = new Queue(c.options, %s, false);\n", quote(m.api.Prefix+m.api.Batch))
		m.printf("  return { ...bind({ ...c, queue }), $send: () => queue.send() };\n}\n")
	}
}

func (m *module) writeMembers(s *space, indent string) {
	inner := indent + "  "
	m.printf("{\n")
	for _, part := range s.members() {
		one := s.inner[part]
		m.printf("%s%s: ", inner, key(part))
		switch {
		case len(one.inner) == 0:
			m.printf("%s", m.making(one.action))
		case one.action != nil:
			m.printf("members(%s, ", m.making(one.action))
			m.writeMembers(one, inner)
			m.printf(")")
		default:
			m.writeMembers(one, inner)
		}
		m.printf(",\n")
	}
	if s.path == "" {
		if m.api.Batch != "" {
			m.printf("%s$batch: () => batchOf(c),\n", inner)
		}
		if m.api.Events != nil {
			m.printf("%s$events: (topics: readonly string[], options?: StreamOptions) => listen(c, %s, topics, options),\n", inner, quote(m.api.Prefix+m.api.Events.Path))
		}
	}
	m.printf("%s}", indent)
}
