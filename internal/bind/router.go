package bind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/route"
)

// Router finds the value that was added for a method and a path. Its zero value is empty and ready. Fill it first; after that
// any number of goroutines may read it at once.
//
// A segment of a pattern that is text goes before a parameter, and a parameter before one that takes the rest; what decides
// is the first segment in which two patterns differ, and where the better one leads nowhere the other is tried. Text is
// compared as it is: case counts, and a path with an escape where the pattern has text is another path (patterns have
// nothing that needs one). Empty segments, also behind a slash at the end, and the segments "." and ".." belong to no
// pattern.
//
// The value of a parameter is decoded (RFC 3986, section 2.1); an encoded slash becomes part of it and separates nothing.
// A path has no match where a value has a bad escape, a NUL, or "." or ".." between its slashes or backslashes, encoded or
// not. So the value of "{path...}" never leads out of a folder.
type Router[T any] struct {
	methods []method[T]
}

// method is the patterns of one method.
type method[T any] struct {
	name    string
	static  map[string]T // patterns without parameters, by the whole path
	lengths [4]uint64    // a bit for each length of these; the last one also for all that are longer
	tree    *node[T]     // the others
}

// node is a place in the tree of patterns, behind some segments.
type node[T any] struct {
	list  []step[T]           // by text, while there are not many
	many  map[string]*node[T] // else
	param *node[T]
	end   *leaf[T] // the pattern that ends here
	rest  *leaf[T] // the pattern that goes on with "{name...}"
}

// step is the part of the tree behind a segment of text.
type step[T any] struct {
	text string
	next *node[T]
}

// fewSteps is up to how many steps a list of them is looked through faster than a map.
const fewSteps = 6

type leaf[T any] struct {
	pattern string
	value   T
	rest    bool // the last parameter takes the rest of the path
}

// Add adds a pattern as [route.Segments] has it. It is an error if there is one of the same method already that is the same
// but for the names of its parameters.
func (r *Router[T]) Add(name, pattern string, value T) error {
	segments, err := route.Segments(pattern)
	if err != nil {
		return err
	}
	m := r.method(name)
	if !slices.ContainsFunc(segments, func(s route.Segment) bool { return s.Param }) {
		if _, taken := m.static[pattern]; taken {
			return conflict(name, pattern, pattern)
		}
		m.static[pattern] = value
		word, bit := lengthBit(pattern)
		m.lengths[word] |= bit
		return nil
	}
	if m.tree == nil {
		m.tree = new(node[T])
	}
	at := m.tree.place(segments)
	if *at != nil {
		return conflict(name, pattern, (*at).pattern)
	}
	*at = &leaf[T]{pattern, value, segments[len(segments)-1].Rest}
	return nil
}

// Methods returns the methods that have patterns.
func (r *Router[T]) Methods() (names []string) {
	for i := range r.methods {
		names = append(names, r.methods[i].name)
	}
	return names
}

func conflict(method, pattern, other string) error {
	if pattern == other {
		return fmt.Errorf("there is a route %s %s already; remove one", method, pattern)
	}
	return fmt.Errorf("the routes %s %s and %s %s are for the same paths; remove one, or add a segment that differs", method, other, method, pattern)
}

// method adds an entry for a method's patterns.
func (r *Router[T]) method(name string) *method[T] {
	for i := range r.methods {
		if r.methods[i].name == name {
			return &r.methods[i]
		}
	}
	r.methods = append(r.methods, method[T]{name: name, static: make(map[string]T)})
	return &r.methods[len(r.methods)-1]
}

// place returns the address of the leaf of a pattern; it adds the nodes on the path to it.
func (n *node[T]) place(segments []route.Segment) **leaf[T] {
	for _, s := range segments {
		switch {
		case s.Rest:
			return &n.rest
		case s.Param:
			if n.param == nil {
				n.param = new(node[T])
			}
			n = n.param
		default:
			next := n.behind(s.Text)
			if next == nil {
				next = new(node[T])
				n.step(s.Text, next)
			}
			n = next
		}
	}
	return &n.end
}

// behind is the node behind a segment of text; nil for none.
func (n *node[T]) behind(text string) *node[T] {
	if n.many != nil {
		return n.many[text]
	}
	for i := range n.list {
		if n.list[i].text == text {
			return n.list[i].next
		}
	}
	return nil
}

// step adds the node behind a segment of text.
func (n *node[T]) step(text string, next *node[T]) {
	if n.many == nil && len(n.list) < fewSteps {
		n.list = append(n.list, step[T]{text, next})
		return
	}
	if n.many == nil {
		n.many = make(map[string]*node[T])
		for _, s := range n.list {
			n.many[s.text] = s.next
		}
		n.list = nil
	}
	n.many[text] = next
}

// Find returns the value for a method and a path, which is without a query and not decoded. The values of the pattern's
// parameters, in its order, are appended to params; they are parts of path unless they had escapes. HEAD finds the value
// for GET where none was added for HEAD itself.
func (r *Router[T]) Find(method, path string, params []string) (value T, filled []string, ok bool) {
	for i := range r.methods {
		if m := &r.methods[i]; m.name == method {
			if value, filled, ok = m.find(path, params); ok {
				return value, filled, true
			}
		}
	}
	if method == "HEAD" {
		return r.Find("GET", path, params)
	}
	return value, params, false
}

func (m *method[T]) find(path string, params []string) (value T, filled []string, ok bool) {
	if word, bit := lengthBit(path); m.lengths[word]&bit != 0 {
		if value, ok = m.static[path]; ok {
			return value, params, true
		}
	}
	if m.tree == nil || path == "" || path[0] != '/' {
		return value, params, false
	}
	found, filled := m.tree.find(path[1:], params)
	if found == nil {
		return value, params, false
	}
	values := filled[len(params):]
	for i, raw := range values {
		if values[i], ok = decodePath(raw, found.rest && i == len(values)-1); !ok {
			return value, params, false
		}
	}
	return found.value, filled, true
}

// lengthBit is the bit of method.lengths for a path.
func lengthBit(path string) (word int, bit uint64) {
	n := min(len(path), 255)
	return n / 64, 1 << (n % 64)
}

// find goes down the tree by the first segment of path, which has no slash before it. Each node of the tree is visited at
// most once, since only one way leads to it.
func (n *node[T]) find(path string, params []string) (*leaf[T], []string) {
	segment, behind, more := strings.Cut(path, "/")
	if segment == "" {
		return nil, nil
	}
	if next := n.behind(segment); next != nil {
		if !more {
			if next.end != nil {
				return next.end, params
			}
		} else if found, filled := next.find(behind, params); found != nil {
			return found, filled
		}
	}
	if next := n.param; next != nil {
		if !more {
			if next.end != nil {
				return next.end, append(params, segment)
			}
		} else if found, filled := next.find(behind, append(params, segment)); found != nil {
			return found, filled
		}
	}
	if n.rest != nil {
		return n.rest, append(params, path)
	}
	return nil, nil
}

// Allowed is the methods that have something at the path, sorted, for the Allow header of a 405 or of an answer to OPTIONS,
// which it does not list itself; HEAD is listed where GET is. It is empty for a path without routes.
func (r *Router[T]) Allowed(path string) []string {
	var allowed []string
	var buffer [route.MaxParams]string
	for i := range r.methods {
		if _, _, ok := r.methods[i].find(path, buffer[:0]); ok {
			allowed = append(allowed, r.methods[i].name)
		}
	}
	if slices.Contains(allowed, "GET") && !slices.Contains(allowed, "HEAD") {
		allowed = append(allowed, "HEAD")
	}
	slices.Sort(allowed)
	return allowed
}
