package native

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"sort"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sabir-go/sabir/codec"
)

// Names of fields are not on the wire, so text is longer than data, and a foreign schema decides by how much: it may give a value
// without bytes any number of fields. Text ends at jsonFree bytes and jsonPerByte more for each byte of data. Names have at
// most 255 bytes, so values that take bytes stay far below that.
const (
	jsonFree    = 256 << 10
	jsonPerByte = 512
)

// AppendJSON reads the value in data, all of it, which was written with schema s, and appends it to dst as JSON. It needs
// no Go type of the value, so it serves receivers that know none: gateways, command lines, handlers of raw messages.
//
// The JSON equals that of package codec/json for the same Go value, as far as the schema describes it:
//
//   - structs are objects with the names in the schema, in its order; maps are objects sorted by name;
//   - a nil slice is [], a nil map {}, nil bytes "", a nil pointer or interface null;
//   - bytes and what a MarshalBinary wrote are strings in base64 (RFC 4648, section 4), arrays of uint8 are arrays;
//   - a time is a string in RFC 3339 with nanoseconds, a duration a number of nanoseconds;
//   - what a MarshalText wrote is a string; numbers have all their digits;
//   - keys of maps are strings, numbers, times, or what a MarshalText or MarshalBinary wrote.
//
// A schema knows nothing of MarshalJSON, of the tag options omitempty and string, nor of MarshalText in a type that also has
// MarshalBinary: there the two texts differ.
//
// The value in an interface has the schema that its hash names: that of the type registered here under its name, or
// one given to [AddSchema], for which no type need be registered.
//
// data may come from anywhere, and s from [ParseSchema]. What [Type.Decode] refuses is refused here, except that no method of a
// type checks its bytes. Refused are also what JSON cannot hold (complex numbers, NaN and the infinities, strings that are
// not UTF-8, years beyond 9999, keys of other kinds, two keys with the same text), more than 128 objects and arrays inside
// each other, and text of more than 256 KiB and 512 bytes for each byte of data.
//
// data must not overlap dst and is not kept. On error, a [*codec.Error], AppendJSON returns dst as it was given.
func (s *Schema) AppendJSON(dst, data []byte) ([]byte, error) {
	if s == nil {
		return dst, fault(-1, "a nil schema cannot be read")
	}
	j := jsonWriter{
		decoder: decoder{data: data, share: shareAll}, text: dst, start: len(dst), open: maxDepth,
		limit: jsonFree + jsonPerByte*int64(len(data)),
	}
	if j.value(s, s.root, maxDepth) && j.pos != len(data) {
		j.fail(fmt.Sprintf("%d bytes after the end of the value", len(data)-j.pos))
	}
	if j.fault != nil {
		return dst, j.fault
	}
	if j.unsorted {
		return j.appendSorted(j.text[:j.start], bytes.Clone(j.text[j.start:]), 0, j.length(), 0), nil
	}
	return j.text, nil
}

// jsonWriter is one call of AppendJSON. Its methods return false where there is a fault.
//
// Members of maps are written in the order of the data. Where that is not the order of their names, the text is put in
// order once, at the end: so the time is in proportion to the text, however deep maps are inside each other.
type jsonWriter struct {
	decoder
	text     []byte
	start    int       // where the value begins in text
	limit    int64     // of the length of the value's text
	open     int       // how many objects and arrays may still be opened inside this one
	maps     []jsonMap // that were begun, in the order of text
	unsorted bool      // a map has members out of order
}

// jsonMap is a map in the text. Places are counted from the start of the value's text.
type jsonMap struct {
	from, to int          // the text between the braces
	after    int          // the first map behind this one, in the list of maps
	members  []jsonMember // in order; nil if the text has them in order
}

// jsonMember is one entry of a map.
type jsonMember struct {
	name     []byte // before quoting
	key      int    // its place in the data
	from, to int    // its text, name and value
	inner    int    // the first map in it or behind it, in the list of maps
}

func (j *jsonWriter) length() int { return len(j.text) - j.start }

// appendSorted appends text[from:to] with all members in order. m is the first map that begins there or behind.
func (j *jsonWriter) appendSorted(dst, text []byte, from, to, m int) []byte {
	for m < len(j.maps) && j.maps[m].from < to {
		o := &j.maps[m]
		if o.members == nil {
			m++
			continue
		}
		dst = append(dst, text[from:o.from]...)
		for i, member := range o.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = j.appendSorted(dst, text, member.from, member.to, member.inner)
		}
		from, m = o.to, o.after
	}
	return append(dst, text[from:to]...)
}

// value writes the value of type r, with the checks of decoding it. left is the number of levels that may follow.
func (j *jsonWriter) value(s *Schema, r ref, left int) bool {
	if int64(j.length()) > j.limit {
		return j.fail(fmt.Sprintf("JSON that is too long for its data: more than %d bytes for each byte", jsonPerByte))
	}
	kind := s.kindAt(r)
	if kind < pointerKind && kind != interfaceKind {
		return j.scalar(kind)
	}
	if kind == interfaceKind {
		return j.level(left) && j.dynamic(left-1)
	}
	def := &s.defs[r-firstDef]
	switch kind {
	case structKind:
		return j.object(s, def, left)
	case arrayKind:
		if def.elem == ref(uint8Kind) { // no level of its own, as in decoding
			return j.array(s, def, left)
		}
		return j.level(left) && j.array(s, def, left-1)
	case sliceKind:
		return j.level(left) && j.slice(s, def, left-1)
	case mapKind:
		return j.level(left) && j.mapping(s, def, left-1)
	}
	if !j.level(left) {
		return false
	}
	if j.presence() {
		return j.value(s, def.elem, left-1)
	}
	j.text = append(j.text, "null"...)
	return j.fault == nil
}

func (j *jsonWriter) level(left int) bool {
	return left > 0 || j.fail("more than 128 pointers, slices, arrays, maps and interfaces inside each other")
}

// begin opens an object or array; end closes it.
func (j *jsonWriter) begin(bracket byte) bool {
	if j.open == 0 {
		return j.fail("more than 128 objects and arrays of JSON inside each other")
	}
	j.open--
	j.text = append(j.text, bracket)
	return true
}

func (j *jsonWriter) end(bracket byte) bool {
	j.open++
	j.text = append(j.text, bracket)
	return true
}

// comma separates the member or element at place i from the one before.
func (j *jsonWriter) comma(i int) {
	if i > 0 {
		j.text = append(j.text, ',')
	}
}

func (j *jsonWriter) object(s *Schema, def *definition, left int) bool {
	if !j.begin('{') {
		return false
	}
	for i := range def.fields {
		f := &def.fields[i]
		j.comma(i)
		if !quote(j, f.name, j.pos) {
			return false
		}
		j.text = append(j.text, ':')
		if !j.value(s, f.typ, left) {
			under(j.fault, "/"+escapePointer(f.name))
			return false
		}
	}
	return j.end('}')
}

func (j *jsonWriter) array(s *Schema, def *definition, left int) bool {
	if def.min > uint64(len(j.data)-j.pos) {
		return j.fail(endsEarly)
	}
	return j.elements(s, def.elem, int(def.length), left)
}

func (j *jsonWriter) slice(s *Schema, def *definition, left int) bool {
	least := s.minAt(def.elem)
	n, ok := j.count(least)
	if !ok || n > 0 && least == 0 && !j.padding(n) {
		return false
	}
	return j.elements(s, def.elem, n, left)
}

func (j *jsonWriter) elements(s *Schema, elem ref, n, left int) bool {
	if !j.begin('[') {
		return false
	}
	for i := range n { // none if n is -1, which stands for nil
		j.comma(i)
		if !j.value(s, elem, left) {
			j.underIndex(i)
			return false
		}
	}
	return j.end(']')
}

func (j *jsonWriter) mapping(s *Schema, def *definition, left int) bool {
	n, ok := j.count(addMin(s.minAt(def.key), s.minAt(def.elem)))
	if !ok || !j.begin('{') {
		return false
	}
	own, from := len(j.maps), j.length()
	j.maps = append(j.maps, jsonMap{})
	members := make([]jsonMember, 0, max(0, min(n, 8))) // n is only a claim
	for i := range n {
		j.comma(i)
		m := jsonMember{key: j.pos, from: j.length(), inner: len(j.maps)}
		if m.name, ok = j.key(s.kindAt(def.key)); !ok {
			j.underIndex(i)
			return false
		}
		j.text = append(j.text, ':')
		if !j.value(s, def.elem, left) {
			under(j.fault, "/"+escapePointer(string(m.name)))
			return false
		}
		m.to = j.length()
		members = append(members, m)
	}
	made := jsonMap{from: from, to: j.length(), after: len(j.maps)}
	if !sort.IsSorted(byName(members)) {
		sort.Sort(byName(members)) // slices.SortFunc takes 20 KB of the program for each struct
		made.members, j.unsorted = members, true
	}
	j.maps[own] = made
	return j.distinct(members) && j.end('}')
}

// byName is the members of a map, sorted by their names.
type byName []jsonMember

func (m byName) Len() int           { return len(m) }
func (m byName) Less(i, j int) bool { return bytes.Compare(m[i].name, m[j].name) < 0 }
func (m byName) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }

// distinct checks that no two members, which are in order, have one name.
func (j *jsonWriter) distinct(members []jsonMember) bool {
	for i := 1; i < len(members); i++ {
		if bytes.Equal(members[i].name, members[i-1].name) {
			j.pos = members[i].key
			return j.fail(duplicateKey)
		}
	}
	return true
}

// key writes the key of a map as the name of a member, and returns it before quoting.
func (j *jsonWriter) key(kind valueKind) (name []byte, ok bool) {
	switch kind {
	case stringKind, textKind:
		name = j.take(j.uvarint())
		return name, j.fault == nil && quote(j, name, j.pos-len(name))
	case int8Kind, int16Kind, int32Kind, int64Kind, uint8Kind, uint16Kind, uint32Kind, uint64Kind, float32Kind, float64Kind, timeKind, binaryKind:
		start := len(j.text) + 1
		j.text, ok = j.plain(append(j.text, '"'), kind)
		name = j.text[start:]
		j.text = append(j.text, '"')
		return name, ok
	}
	return nil, j.fail(fmt.Sprintf("a map with keys of kind %s, so JSON cannot hold it", kind))
}

func (j *jsonWriter) scalar(kind valueKind) (ok bool) {
	switch kind {
	case stringKind, textKind:
		b := j.take(j.uvarint())
		return j.fault == nil && quote(j, b, j.pos-len(b))
	case bytesKind, binaryKind, timeKind:
		j.text, ok = j.plain(append(j.text, '"'), kind)
		j.text = append(j.text, '"')
		return ok
	}
	j.text, ok = j.plain(j.text, kind)
	return ok
}

// quote writes the string s, whose place in the data is at.
func quote[T string | []byte](j *jsonWriter, s T, at int) bool {
	text, err := jsontext.AppendQuote(j.text, s)
	if err != nil {
		j.pos = at
		return j.fail("a string that is not valid UTF-8, so JSON cannot hold it")
	}
	j.text = text
	return true
}

// plain reads a value whose text has nothing to escape, and appends the text to dst without quotes.
func (j *jsonWriter) plain(dst []byte, kind valueKind) ([]byte, bool) {
	start := j.pos
	switch kind {
	case boolKind:
		b := j.byte()
		if b > 1 {
			j.fail(fmt.Sprintf("a bool of %d, want 0 or 1", b))
		}
		dst = strconv.AppendBool(dst, b == 1)
	case int8Kind:
		dst = strconv.AppendInt(dst, int64(int8(j.byte())), 10)
	case int16Kind, int32Kind, int64Kind:
		v, unused := unzigzag(j.uvarint()), unusedBits(kind)
		if v != v<<unused>>unused {
			j.outOfRange(kind.String())
		}
		dst = strconv.AppendInt(dst, v, 10)
	case uint8Kind:
		dst = strconv.AppendUint(dst, uint64(j.byte()), 10)
	case uint16Kind, uint32Kind, uint64Kind:
		v, unused := j.uvarint(), unusedBits(kind)
		if v != v<<unused>>unused {
			j.outOfRange(kind.String())
		}
		dst = strconv.AppendUint(dst, v, 10)
	case float32Kind:
		return j.float(dst, float64(math.Float32frombits(j.uint32())), 32, start)
	case float64Kind:
		return j.float(dst, math.Float64frombits(j.uint64()), 64, start)
	case timeKind:
		return j.instant(dst, start)
	case bytesKind:
		dst = base64.StdEncoding.AppendEncode(dst, j.take(max(j.uvarint(), 1)-1))
	case binaryKind:
		dst = base64.StdEncoding.AppendEncode(dst, j.take(j.uvarint()))
	default:
		j.fail(fmt.Sprintf("a %s, so JSON cannot hold it", kind))
	}
	return dst, j.fault == nil
}

// unusedBits returns the number of 64 bits that an integer of kind does not have.
func unusedBits(kind valueKind) int {
	switch kind {
	case int16Kind, uint16Kind:
		return 48
	case int32Kind, uint32Kind:
		return 32
	}
	return 0
}

// float appends the shortest number that is v, in the form of ECMAScript as RFC 8785 (section 3.2.2.3) has it, but for -0.
func (j *jsonWriter) float(dst []byte, v float64, bits, start int) ([]byte, bool) {
	if j.fault != nil {
		return dst, false
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		j.pos = start
		return dst, j.fail("a NaN or an infinity, so JSON cannot hold it")
	}
	low, high := 1e-6, 1e21
	if bits == 32 {
		low, high = float64(float32(low)), float64(float32(high))
	}
	abs := math.Abs(v)
	if abs == 0 || abs >= low && abs < high {
		return strconv.AppendFloat(dst, v, 'f', -1, bits), true
	}
	dst = strconv.AppendFloat(dst, v, 'e', -1, bits)
	if n := len(dst); dst[n-2] == '0' && dst[n-3] == '-' { // Go has two digits in an exponent at least
		dst = append(dst[:n-2], dst[n-1])
	}
	return dst, true
}

func (j *jsonWriter) instant(dst []byte, start int) ([]byte, bool) {
	t := j.time()
	if j.fault != nil {
		return dst, false
	}
	text, err := t.AppendText(dst)
	if err != nil {
		j.pos = start
		j.fail("a time that RFC 3339 cannot hold: its year is not 0 to 9999, or its offset from UTC 24 hours and more")
		j.fault.Err = err
		return dst, false
	}
	return text, true
}

// dynamic writes the value in an interface.
func (j *jsonWriter) dynamic(left int) bool {
	start := j.pos
	name := j.take(j.uvarint())
	if j.fault == nil && len(name) == 0 {
		j.text = append(j.text, "null"...)
		return true
	}
	hash := j.take(uint64(headerBytes))
	size := j.uvarint()
	if j.fault == nil && size > uint64(len(j.data)-j.pos) {
		j.fail(endsEarly)
	}
	if j.fault != nil {
		return false
	}
	s := knownSchema(name, Hash(hash))
	if s == nil {
		j.fault = &codec.Error{
			Codec: Name, Offset: int64(start), Want: "an interface with a known type", Got: "schema " + Hash(hash).String(),
			Message: "register the type with native.Register, or make its schema known with native.AddSchema",
		}
		return false
	}
	whole := j.data
	j.data = whole[:j.pos+int(size)]
	ok := j.value(s, s.root, left)
	if ok && j.pos != len(j.data) {
		ok = j.fail(fmt.Sprintf("%d bytes after the end of an interface's value", len(j.data)-j.pos))
	}
	j.data = whole
	return ok
}

// knownSchema returns the schema h of the type registered as name, else the one given to AddSchema, else nil.
func knownSchema(name []byte, h Hash) *Schema {
	if r, ok := registeredTypes().byName[string(name)]; ok && r.hash == h {
		return r.plan.schema()
	}
	foreign.RLock()
	defer foreign.RUnlock()
	return foreign.schemas[h]
}
