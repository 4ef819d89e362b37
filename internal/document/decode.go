package document

import (
	"fmt"
	"sync"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// roomPerByte bounds the memory, in bytes, that is made for elements before they have been read, for each byte of data.
// Beyond it lists grow as their elements come.
const (
	roomPerByte = 16
	minRoom     = 256
)

// decoder reads one message.
type decoder struct {
	engine   *engine
	format   Format
	data     []byte
	pos      int
	start    int // of the token in hand
	foreseen int // bytes that may still be made ahead
	strings  layout.Strings
	token    Token
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// release keeps nothing of the message in the pool.
func (d *decoder) release() {
	*d = decoder{}
	decoders.Put(d)
}

func (d *decoder) fail(at int, message string) *codec.Error {
	return &codec.Error{Codec: d.engine.name, Offset: int64(at), Message: message}
}

func (d *decoder) mismatch(want string) *codec.Error {
	return &codec.Error{Codec: d.engine.name, Offset: int64(d.start), Want: want, Got: d.token.Kind.String()}
}

func (d *decoder) outOfRange(p *plan) *codec.Error {
	return &codec.Error{Codec: d.engine.name, Offset: int64(d.start), Want: p.Go.Kind().String(), Got: "a number that it cannot hold"}
}

func (d *decoder) next() *codec.Error {
	d.start = d.pos
	next, fault := d.format.Next(d.data, d.pos, &d.token)
	if fault != "" {
		return d.fail(d.start, fault)
	}
	d.pos = next
	return nil
}

func (d *decoder) value(p *plan, at unsafe.Pointer, left int) *codec.Error {
	if fault := d.next(); fault != nil {
		return fault
	}
	return d.taken(p, at, left)
}

// taken decodes the value whose first token is in hand.
func (d *decoder) taken(p *plan, at unsafe.Pointer, left int) *codec.Error {
	if d.token.Kind == Nil {
		p.Zero(at)
		return nil
	}
	switch p.Kind {
	case layout.String:
		text, fault := d.text()
		if fault == nil {
			store(at, text)
		}
		return fault
	case layout.Struct:
		return d.structure(p, at, left)
	case layout.Slice:
		return d.slice(p, at, left)
	case layout.Array:
		return d.array(p, at, left)
	case layout.Map:
		return d.mapping(p, at, left)
	case layout.Pointer:
		if p.elem.Kind == layout.Pointer {
			if left--; left < 0 {
				return d.fail(d.start, tooDeep)
			}
		}
		to := p.New()
		if fault := d.taken(p.elem, to, left); fault != nil {
			return fault
		}
		store(at, to)
		return nil
	case layout.Any:
		v, fault := d.dynamic(left)
		if fault == nil {
			store(at, v)
		}
		return fault
	}
	if p.Kind <= layout.Float64 {
		return d.number(p, at)
	}
	return d.special(p, at)
}

func (d *decoder) text() (string, *codec.Error) {
	if d.token.Kind != Text {
		return "", d.mismatch("text")
	}
	if !utf8.Valid(d.token.Data) {
		return "", d.fail(d.start, "text that is not valid UTF-8")
	}
	return d.strings.Copy(d.token.Data, len(d.data)-d.pos), nil
}

// special decodes bytes, times and types with methods of their own.
func (d *decoder) special(p *plan, at unsafe.Pointer) *codec.Error {
	switch p.Kind {
	case layout.Bytes:
		if d.token.Kind != Bytes {
			return d.mismatch("bytes")
		}
		store(at, append(make([]byte, 0, len(d.token.Data)), d.token.Data...))
		return nil
	case layout.ByteArray:
		if d.token.Kind != Bytes || len(d.token.Data) != p.Len {
			return d.mismatch(fmt.Sprintf("%d bytes", p.Len))
		}
		copy(unsafe.Slice((*byte)(at), p.Len), d.token.Data)
		return nil
	case layout.Time:
		return d.time(at)
	case layout.Text:
		if d.token.Kind != Text {
			return d.mismatch("text")
		}
		if !utf8.Valid(d.token.Data) {
			return d.fail(d.start, "text that is not valid UTF-8")
		}
	default:
		if d.token.Kind != Bytes {
			return d.mismatch("bytes")
		}
	}
	start := d.start
	if err := p.Unmarshal(at, d.token.Data); err != nil {
		return &codec.Error{Codec: d.engine.name, Offset: int64(start), Message: err.Error(), Err: err}
	}
	return nil
}

// time also takes the text that JSON has for a time.
func (d *decoder) time(at unsafe.Pointer) *codec.Error {
	if d.token.Kind == Text {
		t, err := time.Parse(time.RFC3339Nano, string(d.token.Data))
		if err != nil {
			return d.fail(d.start, "text that is no time such as 2006-01-02T15:04:05Z (RFC 3339)")
		}
		d.token = Token{Kind: Time, At: t}
	}
	if d.token.Kind != Time {
		return d.mismatch("time")
	}
	store(at, d.token.At)
	return nil
}

// count returns how many elements or entries follow and checks that so many can: each takes at least one byte.
func (d *decoder) count(kind Kind, bytesEach int) (int, *codec.Error) {
	if d.token.Kind != kind {
		return 0, d.mismatch(kind.String())
	}
	if d.token.N > (len(d.data)-d.pos)/bytesEach {
		return 0, d.fail(d.start, fmt.Sprintf("a %s of %d, but only %d bytes are left", kind, d.token.N, len(d.data)-d.pos))
	}
	return d.token.N, nil
}

// more reads the next token and reports whether it belongs to a list or map of n of which i have been read.
func (d *decoder) more(i, n int) (bool, *codec.Error) {
	if i == n {
		return false, nil
	}
	if fault := d.next(); fault != nil {
		return false, fault
	}
	return n != Indefinite || d.token.Kind != Break, nil
}

// ahead returns for how many of n elements of size bytes memory is allocated before they are read.
func (d *decoder) ahead(n, size int) int {
	n = min(max(n, 0), d.foreseen/max(size, 1))
	d.foreseen -= n * size
	return n
}

func (d *decoder) slice(p *plan, at unsafe.Pointer, left int) *codec.Error {
	n, fault := d.count(List, 1)
	if fault != nil {
		return fault
	}
	if left--; left < 0 {
		return d.fail(d.start, tooDeep)
	}
	made := p.MakeSlice(d.ahead(n, int(p.elem.Size)))
	made.Len = 0
	for i := 0; ; i++ {
		more, fault := d.more(i, n)
		if fault != nil {
			return layout.UnderIndex(fault, i)
		}
		if !more {
			store(at, made)
			return nil
		}
		var element unsafe.Pointer
		if made.Len < made.Cap {
			element = unsafe.Add(made.Data, uintptr(made.Len)*p.elem.Size)
			made.Len++
		} else {
			element = p.GrowSlice(unsafe.Pointer(&made))
		}
		if fault := d.taken(p.elem, element, left); fault != nil {
			return layout.UnderIndex(fault, i)
		}
	}
}

func (d *decoder) array(p *plan, at unsafe.Pointer, left int) *codec.Error {
	n, fault := d.count(List, 1)
	if fault != nil {
		return fault
	}
	if left--; left < 0 {
		return d.fail(d.start, tooDeep)
	}
	start := d.start
	for i := 0; ; i++ {
		more, fault := d.more(i, n)
		switch {
		case fault != nil:
			return layout.UnderIndex(fault, i)
		case more == (i == p.Len):
			return d.fail(start, fmt.Sprintf("a list of another length than the array's %d elements", p.Len))
		case !more:
			return nil
		}
		if fault := d.taken(p.elem, unsafe.Add(at, uintptr(i)*p.elem.Size), left); fault != nil {
			return layout.UnderIndex(fault, i)
		}
	}
}
