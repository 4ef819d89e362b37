package json

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"
	"reflect"
	"sync"
	"unsafe"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/sabir-go/sabir/internal/layout"
)

// reader reads one text. Its methods return false for whatever is wrong, without an error: the library then reads the text
// once more and returns the error. They also return false for unusual valid forms.
type reader struct {
	codec    *jsonCodec
	data     []byte
	pos      int
	strings  layout.Strings
	boxes    boxes
	other    []otherName
	inside   int // how many lists and maps the value is in
	foreseen int // bytes that foresee has made

	// The rest stays for the next text.
	scratch []byte // of a string with escapes
	names   names
	target  reflect.Type // of the last text, which is often the next one's too
	plan    *plan
}

// otherName is a member that the target does not have, of the object that begins at owner.
type otherName struct {
	owner int
	name  string
}

var readers = sync.Pool{New: func() any { return new(reader) }}

func (r *reader) release() {
	r.reset()
	readers.Put(r)
}

// reset keeps nothing of the text for the next one but names and buffers.
func (r *reader) reset() {
	if cap(r.scratch) > maxPooled {
		r.scratch = nil
	}
	r.codec, r.data, r.pos, r.strings, r.boxes, r.other, r.inside, r.foreseen = nil, nil, 0, layout.Strings{}, boxes{}, nil, 0, 0
}

// planFor returns the plan of what v points to, or nil where that is the library's business.
func (r *reader) planFor(v any) *plan {
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil
	}
	if t != r.target {
		r.target, r.plan = t, planOf(t.Elem())
	}
	return r.plan
}

// whole reads the text, which is one value and nothing else.
func (r *reader) whole(p *plan, at unsafe.Pointer) bool {
	if !r.value(p, at, r.codec.maxDepth) {
		return false
	}
	r.space()
	return r.pos == len(r.data)
}

func (r *reader) space() {
	for r.pos < len(r.data) {
		switch r.data[r.pos] {
		case ' ', '\t', '\r', '\n':
			r.pos++
		default:
			return
		}
	}
}

// peek returns the next byte that is no white space, or 0.
func (r *reader) peek() byte {
	if r.pos < len(r.data) && r.data[r.pos] > ' ' {
		return r.data[r.pos]
	}
	return r.peekBehindSpace()
}

func (r *reader) peekBehindSpace() byte {
	r.space()
	if r.pos < len(r.data) {
		return r.data[r.pos]
	}
	return 0
}

// take takes b, if that is the next byte that is no white space.
func (r *reader) take(b byte) bool {
	if r.pos < len(r.data) && r.data[r.pos] == b {
		r.pos++
		return true
	}
	return r.takeBehindSpace(b)
}

func (r *reader) takeBehindSpace(b byte) bool {
	if r.peek() != b || b == 0 {
		return false
	}
	r.pos++
	return true
}

// literal takes s, if that is next.
func (r *reader) literal(s string) bool {
	end := r.pos + len(s)
	if end > len(r.data) || string(r.data[r.pos:end]) != s {
		return false
	}
	r.pos = end
	return true
}

func (r *reader) value(p *plan, at unsafe.Pointer, left int) bool {
	next := r.peek()
	if next == 'n' && p.Kind != layout.Custom {
		if !r.literal("null") {
			return false
		}
		p.Zero(at)
		return true
	}
	switch p.Kind {
	case layout.String:
		s, ok := r.text()
		if ok {
			store(at, s)
		}
		return ok
	case layout.Struct:
		return r.structure(p, at, left-1)
	case layout.Slice:
		return r.slice(p, at, left-1)
	case layout.Map:
		return r.mapping(p, at, left-1)
	case layout.Pointer:
		if p.elem.Kind == layout.Pointer {
			left--
		}
		to := load[unsafe.Pointer](at)
		if to == nil {
			to = p.New()
		}
		if left < 0 || !r.value(p.elem, to, left) {
			return false
		}
		store(at, to)
		return true
	case layout.Any:
		if load[any](at) != nil {
			return false // the library reads into what is there
		}
		v, ok := r.dynamic(left)
		if ok {
			store(at, v)
		}
		return ok
	case layout.Array:
		return r.array(p, at, left-1)
	case layout.Custom:
		return r.foreign(p, at, left)
	case layout.Bool:
		word := "true"
		if next == 'f' {
			word = "false"
		}
		if !r.literal(word) {
			return false
		}
		store(at, next == 't')
		return true
	}
	if p.Kind <= layout.Float64 {
		return r.number(p, at)
	}
	return r.special(p, at)
}

// special reads bytes and times.
func (r *reader) special(p *plan, at unsafe.Pointer) bool {
	if p.Kind != layout.Bytes && p.Kind != layout.Time {
		return false
	}
	raw, ok := r.raw()
	if !ok {
		return false
	}
	if p.Kind == layout.Time {
		t, ok := readTime(raw)
		if ok {
			store(at, t)
		}
		return ok
	}
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(raw)))
	n, err := base64.StdEncoding.Strict().Decode(decoded, raw)
	store(at, decoded[:n:n])
	return err == nil
}

// first takes the opening bracket. more is false where the closing one follows.
func (r *reader) first(open, end byte) (more, ok bool) {
	if !r.take(open) {
		return false, false
	}
	return !r.take(end), true
}

// another takes a comma or the closing bracket.
func (r *reader) another(end byte) (more, ok bool) {
	if r.take(',') {
		return true, true
	}
	return false, r.take(end)
}

var rawType = reflect.TypeFor[stdjson.RawMessage]()

// foreign lets the library read a part.
func (r *reader) foreign(p *plan, at unsafe.Pointer, left int) bool {
	r.space()
	start := r.pos
	if !r.skip(left) {
		return false
	}
	part := r.data[start:r.pos]
	if p.Go == rawType { // skip has checked all that the library would
		store(at, stdjson.RawMessage(bytes.Clone(part)))
		return true
	}
	target := reflect.NewAt(p.Go, at).Interface()
	return readable(target) == nil && jsonv2.Unmarshal(part, target, r.codec.library) == nil && misnamed(part, p.Go) == nil
}
