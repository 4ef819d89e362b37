package protobuf

import (
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

func appendMap(dst []byte, f *field, at unsafe.Pointer, left int) ([]byte, *codec.Error) {
	if *(*unsafe.Pointer)(at) == nil {
		return dst, nil
	}
	if f.typ.Texts {
		return appendTexts(dst, f.tag, *(*map[string]string)(at))
	}
	key, elem := &f.value.msg.fields[0], &f.value.msg.fields[1]
	entries, _ := f.typ.Entries(at)
	// A panic in a method of the caller's leaves the buffer to the garbage collector.
	for i := 0; entries.Next(); i++ {
		dst = appendVarint(dst, f.tag)
		start := len(dst) + 1
		var err *codec.Error
		if dst, err = appendField(append(dst, 0), key, entries.Key, left); err == nil {
			dst, err = appendField(dst, elem, entries.Elem, left)
		}
		if err != nil {
			err = layout.Under(err, entries.Step(i))
			entries.Release()
			return dst, err
		}
		dst = closeLength(dst, start)
	}
	entries.Release()
	return dst, nil
}

// appendTexts is appendMap for the most common map.
func appendTexts(dst []byte, tag uint64, m map[string]string) ([]byte, *codec.Error) {
	for key, elem := range m {
		if !utf8.ValidString(key) || !utf8.ValidString(elem) {
			return dst, layout.Under(fault(-1, notUTF8), "/"+layout.Escape(key))
		}
		dst = append(appendVarint(dst, tag), 0, keyTag)
		start := len(dst) - 1
		dst = append(appendString(dst, key), elemTag)
		dst = closeLength(appendString(dst, elem), start)
	}
	return dst, nil
}

// The tags of the parts of a map's entry where these are strings.
const (
	keyTag  = 1<<3 | byte(protowire.BytesType)
	elemTag = 2<<3 | byte(protowire.BytesType)
)

// entry decodes the entries of the map at at that data begins with: one and all with the same tag behind it. As everywhere
// in Protocol Buffers the last of two with the same key counts.
func (d *decoder) entry(f *field, data []byte, at unsafe.Pointer, left int) (used int, err *codec.Error) {
	if f.typ.Texts {
		return d.texts(data, (*map[string]string)(at))
	}
	var entries *layout.Entries
	if *(*unsafe.Pointer)(at) == nil {
		entries = f.typ.MakeMap(repeats(f.tag, data))
	} else {
		entries = f.typ.ContinueMap(at)
	}
	defer entries.Release()
	for i := 0; ; i++ {
		entries.Clear()
		b, size := protowire.ConsumeBytes(data[used:])
		if size < 0 {
			return 0, d.fault(data[used:], badLength)
		}
		if err := d.entryFields(f.value.msg, b, entries, left); err != nil {
			return 0, layout.Under(err, entries.Step(i))
		}
		entries.Put()
		used += size
		if used == len(data) {
			break
		}
		following, size := consumeTag(data[used:])
		if following != f.tag || size < 0 {
			break
		}
		used += size
	}
	entries.Store(at)
	return used, nil
}

// texts is entry for one entry of the most common map.
func (d *decoder) texts(data []byte, at *map[string]string) (int, *codec.Error) {
	b, used := protowire.ConsumeBytes(data)
	if used < 0 {
		return 0, d.fault(data, badLength)
	}
	var parts [2]string
	rest := len(data) - used
	err := d.each(b, func(number protowire.Number, wire protowire.Type, text []byte, _ uint64) *codec.Error {
		switch {
		case number > 2:
		case wire != protowire.BytesType:
			return d.otherWire(b, protowire.BytesType, wire)
		case !utf8.Valid(text):
			return d.fault(text, badUTF8)
		default:
			parts[number-1] = d.strings.Copy(text, rest)
		}
		return nil
	})
	if err != nil {
		return 0, layout.Under(err, "/"+layout.Escape(parts[0]))
	}
	if *at == nil {
		*at = make(map[string]string)
	}
	(*at)[parts[0]] = parts[1]
	return used, nil
}

func (d *decoder) entryFields(m *message, data []byte, entries *layout.Entries, left int) *codec.Error {
	var elem bool
	for len(data) > 0 {
		tag, size := consumeTag(data)
		if size < 0 {
			return d.fault(data, brokenTag)
		}
		known, ok := m.byNumber[protowire.Number(tag>>3)]
		if !ok {
			skipped := protowire.ConsumeFieldValue(protowire.Number(tag>>3), protowire.Type(tag&7), data[size:])
			if skipped < 0 {
				return d.fault(data, brokenField)
			}
			data = data[size+skipped:]
			continue
		}
		at := entries.Key
		if known == 1 {
			at, elem = entries.Elem, true
		}
		f := &m.fields[known]
		if wire := protowire.Type(tag & 7); wire != f.value.wire {
			return d.otherWire(data, f.value.wire, wire)
		}
		used, err := d.value(&f.value, data[size:], at, left)
		if err != nil {
			return err
		}
		data = data[size+used:]
	}
	// A message that is not mentioned is an empty one.
	if f := &m.fields[1]; !elem && f.value.kind == layout.Pointer {
		*(*unsafe.Pointer)(entries.Elem) = f.value.typ.New()
	}
	return nil
}
