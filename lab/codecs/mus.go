package main

import (
	"slices"

	"github.com/mus-format/mus-go"
	"github.com/mus-format/mus-go/ord"
	"github.com/mus-format/mus-go/raw"
	"github.com/mus-format/mus-go/varint"

	"github.com/sabir-go/sabir/lab/codecs/shape"
)

func musCodecs() []codec {
	items := ord.NewMapSer[string, shape.Item](ord.String, musItem)
	return []codec{{name: "mus-go", entries: []entry{
		musEntry(shape.Text, ord.String), musEntry(shape.NewPID(), musPID), musEntry(shape.NewProcessID(), musProcessID),
		musEntry(shape.NewSimple(), musSimple), musEntry(shape.NewComplex(), musComplex), musEntry(shape.NewNested(), musNested),
		musEntry(map[string]shape.Item(shape.NewItems()), items),
		musEntry(musGroups(), ord.NewMapSer[string, map[string]shape.Item](ord.String, items)),
	}}}
}

func musGroups() map[string]map[string]shape.Item {
	all := make(map[string]map[string]shape.Item)
	for key, value := range shape.NewGroups() {
		all[key] = value
	}
	return all
}

func musEntry[T any, S mus.Serializer[T]](v T, s S) entry {
	return entry{
		encode: func(dst []byte) ([]byte, error) {
			size := s.Size(v)
			dst = slices.Grow(dst, size)
			dst = dst[:len(dst)+size]
			s.Marshal(v, dst[len(dst)-size:])
			return dst, nil
		},
		decode: func(data []byte) error {
			_, _, err := s.Unmarshal(data)
			return err
		},
		verify: func(data []byte) error {
			back, _, err := s.Unmarshal(data)
			if err != nil {
				return err
			}
			return same(v, back)
		},
	}
}

// The serializers, one for each struct, as the library's guide has them written: integers as varints, floats raw.
var (
	musPID       = serPID{}
	musProcessID = serProcessID{}
	musSimple    = serSimple{}
	musComplex   = serComplex{}
	musNested    = serNested{}
	musItem      = serItem{}

	musStrings   = ord.NewSliceSer(ord.String)
	musTexts     = ord.NewMapSer(ord.String, ord.String)
	musComplexes = ord.NewMapSer[string, shape.Complex](ord.String, musComplex)
)

type serPID struct{}

func (serPID) Marshal(v shape.PID, bs []byte) int {
	n := ord.String.Marshal(v.Node, bs)
	n += varint.Uint64.Marshal(v.ID, bs[n:])
	return n + varint.Uint64.Marshal(v.Creation, bs[n:])
}

func (serPID) Unmarshal(bs []byte) (v shape.PID, n int, err error) {
	if v.Node, n, err = ord.String.Unmarshal(bs); err != nil {
		return
	}
	var m int
	v.ID, m, err = varint.Uint64.Unmarshal(bs[n:])
	if n += m; err != nil {
		return
	}
	v.Creation, m, err = varint.Uint64.Unmarshal(bs[n:])
	return v, n + m, err
}

func (serPID) Size(v shape.PID) int {
	return ord.String.Size(v.Node) + varint.Uint64.Size(v.ID) + varint.Uint64.Size(v.Creation)
}

func (s serPID) Skip(bs []byte) (int, error) {
	_, n, err := s.Unmarshal(bs)
	return n, err
}

type serProcessID struct{}

func (serProcessID) Marshal(v shape.ProcessID, bs []byte) int {
	n := ord.String.Marshal(v.Name, bs)
	return n + ord.String.Marshal(v.Node, bs[n:])
}

func (serProcessID) Unmarshal(bs []byte) (v shape.ProcessID, n int, err error) {
	if v.Name, n, err = ord.String.Unmarshal(bs); err != nil {
		return
	}
	var m int
	v.Node, m, err = ord.String.Unmarshal(bs[n:])
	return v, n + m, err
}

func (serProcessID) Size(v shape.ProcessID) int {
	return ord.String.Size(v.Name) + ord.String.Size(v.Node)
}

func (s serProcessID) Skip(bs []byte) (int, error) {
	_, n, err := s.Unmarshal(bs)
	return n, err
}

type serSimple struct{}

func (serSimple) Marshal(v shape.Simple, bs []byte) int {
	n := raw.Float32.Marshal(v.A, bs)
	n += raw.Float64.Marshal(v.B, bs[n:])
	return n + ord.String.Marshal(v.C, bs[n:])
}

func (serSimple) Unmarshal(bs []byte) (v shape.Simple, n int, err error) {
	if v.A, n, err = raw.Float32.Unmarshal(bs); err != nil {
		return
	}
	var m int
	v.B, m, err = raw.Float64.Unmarshal(bs[n:])
	if n += m; err != nil {
		return
	}
	v.C, m, err = ord.String.Unmarshal(bs[n:])
	return v, n + m, err
}

func (serSimple) Size(v shape.Simple) int {
	return raw.Float32.Size(v.A) + raw.Float64.Size(v.B) + ord.String.Size(v.C)
}

func (s serSimple) Skip(bs []byte) (int, error) {
	_, n, err := s.Unmarshal(bs)
	return n, err
}

type serComplex struct{}

func (serComplex) Marshal(v shape.Complex, bs []byte) int {
	n := ord.String.Marshal(v.Name, bs)
	n += varint.Int32.Marshal(v.ID, bs[n:])
	n += musStrings.Marshal(v.Tags, bs[n:])
	n += musTexts.Marshal(v.Metadata, bs[n:])
	n += musPID.Marshal(v.PID, bs[n:])
	return n + musProcessID.Marshal(v.ProcessID, bs[n:])
}

func (serComplex) Unmarshal(bs []byte) (v shape.Complex, n int, err error) {
	if v.Name, n, err = ord.String.Unmarshal(bs); err != nil {
		return
	}
	var m int
	v.ID, m, err = varint.Int32.Unmarshal(bs[n:])
	if n += m; err != nil {
		return
	}
	v.Tags, m, err = musStrings.Unmarshal(bs[n:])
	if n += m; err != nil {
		return
	}
	v.Metadata, m, err = musTexts.Unmarshal(bs[n:])
	if n += m; err != nil {
		return
	}
	v.PID, m, err = musPID.Unmarshal(bs[n:])
	if n += m; err != nil {
		return
	}
	v.ProcessID, m, err = musProcessID.Unmarshal(bs[n:])
	return v, n + m, err
}

func (serComplex) Size(v shape.Complex) int {
	return ord.String.Size(v.Name) + varint.Int32.Size(v.ID) + musStrings.Size(v.Tags) + musTexts.Size(v.Metadata) + musPID.Size(v.PID) + musProcessID.Size(v.ProcessID)
}

func (s serComplex) Skip(bs []byte) (int, error) {
	_, n, err := s.Unmarshal(bs)
	return n, err
}

type serNested struct{}

func (serNested) Marshal(v shape.Nested, bs []byte) int {
	n := ord.String.Marshal(v.Name, bs)
	n += varint.Int32.Marshal(v.ID, bs[n:])
	n += musComplex.Marshal(v.Complex, bs[n:])
	n += musComplexes.Marshal(v.ComplexMap, bs[n:])
	return n + musTexts.Marshal(v.NestedMap, bs[n:])
}

func (serNested) Unmarshal(bs []byte) (v shape.Nested, n int, err error) {
	if v.Name, n, err = ord.String.Unmarshal(bs); err != nil {
		return
	}
	var m int
	v.ID, m, err = varint.Int32.Unmarshal(bs[n:])
	if n += m; err != nil {
		return
	}
	v.Complex, m, err = musComplex.Unmarshal(bs[n:])
	if n += m; err != nil {
		return
	}
	v.ComplexMap, m, err = musComplexes.Unmarshal(bs[n:])
	if n += m; err != nil {
		return
	}
	v.NestedMap, m, err = musTexts.Unmarshal(bs[n:])
	return v, n + m, err
}

func (serNested) Size(v shape.Nested) int {
	return ord.String.Size(v.Name) + varint.Int32.Size(v.ID) + musComplex.Size(v.Complex) + musComplexes.Size(v.ComplexMap) + musTexts.Size(v.NestedMap)
}

func (s serNested) Skip(bs []byte) (int, error) {
	_, n, err := s.Unmarshal(bs)
	return n, err
}

type serItem struct{}

func (serItem) Marshal(v shape.Item, bs []byte) int {
	n := ord.String.Marshal(v.Name, bs)
	return n + varint.Int32.Marshal(v.ID, bs[n:])
}

func (serItem) Unmarshal(bs []byte) (v shape.Item, n int, err error) {
	if v.Name, n, err = ord.String.Unmarshal(bs); err != nil {
		return
	}
	var m int
	v.ID, m, err = varint.Int32.Unmarshal(bs[n:])
	return v, n + m, err
}

func (serItem) Size(v shape.Item) int {
	return ord.String.Size(v.Name) + varint.Int32.Size(v.ID)
}

func (s serItem) Skip(bs []byte) (int, error) {
	_, n, err := s.Unmarshal(bs)
	return n, err
}
