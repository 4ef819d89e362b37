package native

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// edges are the numbers around which varints change their length.
func edges() []uint64 {
	list := []uint64{0, 1<<64 - 1}
	for shift := range 64 {
		list = append(list, 1<<shift-1, 1<<shift, 1<<shift+1)
	}
	return list
}

func TestNumbersAreWrittenAsVarintsWhateverTheCapacity(t *testing.T) {
	for _, v := range edges() {
		want := binary.AppendUvarint([]byte("before"), v)
		for room := range 20 {
			got := appendUvarint(append(make([]byte, 0, len("before")+room), "before"...), v)
			if !bytes.Equal(got, want) {
				t.Fatalf("%d with room for %d bytes is % x, not % x", v, room, got, want)
			}
		}
	}
}

func TestNumbersAreReadWhateverComesAfterThem(t *testing.T) {
	for _, v := range edges() {
		for behind := range 20 {
			for _, filler := range []byte{0, 0x7f, 0x80, 0xff} {
				data := binary.AppendUvarint(nil, v)
				size := len(data)
				d := decoder{data: append(data, bytes.Repeat([]byte{filler}, behind)...)}
				if got := d.uvarint(); got != v || d.pos != size || d.fault != nil {
					t.Fatalf("%d before %d bytes of %x reads as %d of %d bytes, %v", v, behind, filler, got, d.pos, d.fault)
				}
			}
		}
	}
}

// FuzzUvarint holds the fast ways against the slow one.
func FuzzUvarint(f *testing.F) {
	for _, v := range edges() {
		f.Add(binary.AppendUvarint(nil, v))
		f.Add(append(binary.AppendUvarint(nil, v|1<<63), 0, 0, 0))
	}
	f.Add([]byte{0x80, 0, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Add([]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 1})
	f.Add(bytes.Repeat([]byte{0xff}, 12))
	f.Fuzz(func(t *testing.T, data []byte) {
		want, size, wrong := readLong(data)
		d := decoder{data: data}
		got := d.uvarint()
		if (wrong != "") != (d.fault != nil) || got != want || d.pos != size {
			t.Errorf("% x reads as %d of %d bytes, %v; and slowly as %d of %d, %q", data, got, d.pos, d.fault, want, size, wrong)
		}
	})
}
