package exchange

import "iter"

// Header is the headers of a request or an answer, in their order. Names are compared without their case. The zero value is
// empty and ready.
type Header struct {
	fields []Field
	// marks has a bit for each name that was ever added, by its length and its ends: most look-ups are for headers that are
	// not there, and one bit shows it. Names that share a bit only cost the search.
	marks uint64
}

// Field is one header line.
type Field struct{ Name, Value string }

// Add adds a line. It keeps the strings as they are.
func (h *Header) Add(name, value string) {
	h.marks |= mark(name)
	h.fields = append(h.fields, Field{name, value})
}

// Set replaces all lines of the name by one.
func (h *Header) Set(name, value string) {
	h.Delete(name)
	h.Add(name, value)
}

// Delete removes all lines of the name.
func (h *Header) Delete(name string) {
	if h.marks&mark(name) == 0 {
		return
	}
	kept := h.fields[:0]
	for _, f := range h.fields {
		if !equal(f.Name, name) {
			kept = append(kept, f)
		}
	}
	clear(h.fields[len(kept):])
	h.fields = kept
}

// Get is the value of the first line of the name; "" where there is none.
func (h *Header) Get(name string) string {
	if i := h.find(name); i >= 0 {
		return h.fields[i].Value
	}
	return ""
}

// Has reports whether there is a line of the name.
func (h *Header) Has(name string) bool { return h.find(name) >= 0 }

// find returns the index of the first line with the name; -1 if there is none.
func (h *Header) find(name string) int {
	if h.marks&mark(name) == 0 {
		return -1
	}
	for i := range h.fields {
		if equal(h.fields[i].Name, name) {
			return i
		}
	}
	return -1
}

// All yields the values of all lines of the name.
func (h *Header) All(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if h.marks&mark(name) == 0 {
			return
		}
		for _, f := range h.fields {
			if equal(f.Name, name) && !yield(f.Value) {
				return
			}
		}
	}
}

// Fields returns all lines. The caller must not change them.
func (h *Header) Fields() []Field { return h.fields }

// empty removes all lines and keeps their capacity.
func (h *Header) empty() {
	clear(h.fields) // a pooled header keeps no buffer alive
	h.fields, h.marks = h.fields[:0], 0
}

// mark is the bit of a name, the same in either case.
func mark(name string) uint64 {
	if name == "" {
		return 1
	}
	return 1 << ((uint(len(name))*5 + uint(name[0]|0x20)*3 + uint(name[len(name)-1]|0x20)) & 63)
}

// equal compares names without the case of ASCII letters, which are all that a name has (RFC 9110, section 5.1).
func equal(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	if a == b {
		return true
	}
	for i := range len(a) {
		if a[i] != b[i] && lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}
