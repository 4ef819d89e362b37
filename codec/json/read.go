package json

import (
	"encoding/base64"
	"reflect"
	"sync"
	"time"
	"unsafe"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/sabir-go/sabir/codec/layout"
)

// reader reads one text. Its methods return false for whatever is wrong, without a word: the library then reads the text
// once more and says what it is. They also return false for what is rare and right.
type reader struct {
	codec   *jsonCodec
	data    []byte
	pos     int
	strings layout.Strings
	scratch []byte // of a string with escapes
	other   []otherName
	inside  int // how many lists and maps the value is in
	room    int // bytes that foresee has made
}

// otherName is a member that the target does not have, of the object that begins at owner.
type otherName struct {
	owner int
	name  string
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// release keeps nothing of the text in the pool but room for escapes.
func (r *reader) release() {
	scratch := r.scratch[:0]
	if cap(scratch) > maxPooled {
		scratch = nil
	}
	*r = reader{scratch: scratch}
	readers.Put(r)
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
	r.space()
	if r.pos < len(r.data) {
		return r.data[r.pos]
	}
	return 0
}

// take takes b, if that is the next byte that is no white space.
func (r *reader) take(b byte) bool {
	if r.peek() != b || b == 0 {
		return false
	}
	r.pos++
	return true
}

// word takes a literal whose first byte has been seen.
func (r *reader) word(literal string) bool {
	end := r.pos + len(literal)
	if end > len(r.data) || string(r.data[r.pos:end]) != literal {
		return false
	}
	r.pos = end
	return true
}

func (r *reader) value(p *plan, at unsafe.Pointer, left int) bool {
	next := r.peek()
	if next == 'n' && p.Kind != layout.Custom {
		if !r.word("null") {
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
		if !r.word(word) {
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
		var t time.Time
		if !strictTime(raw) || t.UnmarshalText(raw) != nil {
			return false
		}
		store(at, t)
		return true
	}
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(raw)))
	n, err := base64.StdEncoding.Strict().Decode(decoded, raw)
	store(at, decoded[:n:n])
	return err == nil
}

// strictTime checks what time.Time.UnmarshalText lets pass though RFC 3339 does not: an hour of one digit, a comma before the
// fraction, and offsets of a day and more.
func strictTime(raw []byte) bool {
	n := len(raw)
	if n < len("2006-01-02T15:04:05Z") || raw[len("2006-01-02T15")] != ':' || raw[len("2006-01-02T15:04:05")] == ',' {
		return false
	}
	return raw[n-1] == 'Z' || string(raw[n-5:n-3]) <= "23" && string(raw[n-2:]) <= "59"
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

// A list of elements of up to smallElement bytes begins with room for firstRoom of them.
const (
	smallElement = 32
	firstRoom    = 4
)

// Room is made ahead where longList bytes of text or more are left, and roomPerByte bytes at most for each byte of text.
const (
	longList    = 2048
	roomPerByte = 16
)

func (r *reader) slice(p *plan, at unsafe.Pointer, left int) bool {
	more, ok := r.first('[', ']')
	if left < 0 {
		return false
	}
	made := p.MakeSlice(0)
	if more && p.elem.Size <= smallElement {
		made = p.MakeSlice(firstRoom)
		made.Len = 0
	}
	start := r.pos
	r.inside++
	for more && ok {
		if !r.value(p.elem, p.GrowSlice(unsafe.Pointer(&made)), left) {
			return false
		}
		if more, ok = r.another(']'); more && made.Len == 1 {
			r.foresee(p, &made, r.pos-start)
		}
	}
	r.inside--
	if ok {
		store(at, made)
	}
	return ok
}

// foresee makes room for the elements that may follow the first one, which took length bytes: as many as would fill the
// rest of the text. Only lists that are in no other list or map get it, since of those there are few.
func (r *reader) foresee(p *plan, made *layout.SliceHeader, length int) {
	left := len(r.data) - r.pos
	if r.inside > 1 || left < longList {
		return
	}
	n := min(left/length+1, (roomPerByte*len(r.data)-r.room)/max(int(p.elem.Size), 1))
	if n <= 0 {
		return
	}
	r.room += n * int(p.elem.Size)
	reflect.NewAt(p.Go, unsafe.Pointer(made)).Elem().Grow(n)
}

func (r *reader) array(p *plan, at unsafe.Pointer, left int) bool {
	more, ok := r.first('[', ']')
	if left < 0 {
		return false
	}
	i := 0
	for more && ok {
		if i == p.Len {
			return false
		}
		element := unsafe.Add(at, uintptr(i)*p.elem.Size)
		p.elem.Zero(element)
		if !r.value(p.elem, element, left) {
			return false
		}
		i++
		more, ok = r.another(']')
	}
	return ok && i == p.Len
}

func (r *reader) structure(p *plan, at unsafe.Pointer, left int) bool {
	owner := r.pos
	more, ok := r.first('{', '}')
	if left < 0 {
		return false
	}
	var few [4]uint64
	seen := few[:]
	if len(p.fields) > 64*len(few) {
		seen = make([]uint64, len(p.fields)/64+1)
	}
	others := len(r.other)
	expected := 0 // writers keep to one order, so the next field is most often the next one
	for more && ok {
		name, known := r.name()
		if !known || !r.take(':') {
			return false
		}
		i := p.find(name, expected)
		if i < 0 {
			if !r.unknown(owner, name, left) {
				return false
			}
			more, ok = r.another('}')
			continue
		}
		if seen[i/64]&(1<<(i%64)) != 0 {
			return false
		}
		seen[i/64] |= 1 << (i % 64)
		expected = i + 1
		f := &p.fields[i]
		if !r.value(f.plan, unsafe.Add(at, f.off), left) {
			return false
		}
		more, ok = r.another('}')
	}
	r.other = r.other[:others]
	return ok
}

// find returns which field has the name, or -1.
func (p *plan) find(name []byte, expected int) int {
	if expected < len(p.fields) && p.fields[expected].name == string(name) {
		return expected
	}
	if at, ok := p.index[string(name)]; ok {
		return at
	}
	return -1
}

// maxOthers is how many unknown members of an object are told apart one by one. More than that are the library's business.
const maxOthers = 32

// unknown skips a member that the target does not have, after its colon.
func (r *reader) unknown(owner int, name []byte, left int) bool {
	return !r.codec.strict && r.distinct(owner, name) && r.skip(left)
}

// distinct notes the name of a member of the object that begins at owner, and tells whether it is new.
func (r *reader) distinct(owner int, name []byte) bool {
	count := 0
	for i := len(r.other) - 1; i >= 0 && r.other[i].owner == owner; i-- {
		if count++; count > maxOthers || r.other[i].name == string(name) {
			return false
		}
	}
	r.other = append(r.other, otherName{owner, r.strings.Copy(name, len(r.data)-r.pos)})
	return true
}

func (r *reader) mapping(p *plan, at unsafe.Pointer, left int) bool {
	if to := load[unsafe.Pointer](at); to != nil && reflect.NewAt(p.Go, at).Elem().Len() > 0 {
		return false // the library adds to what is there
	}
	more, ok := r.first('{', '}')
	if left < 0 || !ok {
		return false
	}
	entries := p.MakeMap(0)
	defer entries.Release()
	r.inside++
	defer func() { r.inside-- }()
	for more && ok {
		name, known := r.name()
		if !known || !r.take(':') {
			return false
		}
		entries.Clear()
		store(entries.Key, r.strings.Copy(name, len(r.data)-r.pos))
		if !r.value(p.elem, entries.Elem, left) || !entries.Put() {
			return false
		}
		more, ok = r.another('}')
	}
	if ok {
		entries.Store(at)
	}
	return ok
}

// foreign lets the library read a part.
func (r *reader) foreign(p *plan, at unsafe.Pointer, left int) bool {
	r.space()
	start := r.pos
	if !r.skip(left) {
		return false
	}
	return jsonv2.Unmarshal(r.data[start:r.pos], reflect.NewAt(p.Go, at).Interface(), r.codec.library) == nil
}
