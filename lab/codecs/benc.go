package main

import (
	"slices"

	bstd "github.com/deneonet/benc/std"

	"github.com/sabir-go/sabir/lab/codecs/shape"
)

func bencCodecs() []codec {
	return []codec{{name: "benc", entries: []entry{
		bencEntry(shape.Text, bstd.SizeString, bstd.MarshalString, bstd.UnmarshalString),
		bencEntry(shape.NewPID(), bencSizePID, bencMarshalPID, bencUnmarshalPID),
		bencEntry(shape.NewProcessID(), bencSizeProcessID, bencMarshalProcessID, bencUnmarshalProcessID),
		bencEntry(shape.NewSimple(), bencSizeSimple, bencMarshalSimple, bencUnmarshalSimple),
		bencEntry(shape.NewComplex(), bencSizeComplex, bencMarshalComplex, bencUnmarshalComplex),
		bencEntry(shape.NewNested(), bencSizeNested, bencMarshalNested, bencUnmarshalNested),
		bencEntry(shape.NewItems(), bencSizeItems, bencMarshalItems, bencUnmarshalItems),
		bencEntry(shape.NewGroups(), bencSizeGroups, bencMarshalGroups, bencUnmarshalGroups),
	}}}
}

func bencEntry[T any](v T, size func(T) int, marshal func(int, []byte, T) int, unmarshal func(int, []byte) (int, T, error)) entry {
	return entry{
		encode: func(dst []byte) ([]byte, error) {
			n := size(v)
			dst = slices.Grow(dst, n)
			dst = dst[:len(dst)+n]
			marshal(len(dst)-n, dst, v)
			return dst, nil
		},
		decode: func(data []byte) error {
			_, _, err := unmarshal(0, data)
			return err
		},
		verify: func(data []byte) error {
			_, back, err := unmarshal(0, data)
			if err != nil {
				return err
			}
			return same(v, back)
		},
	}
}

func bencSizeStrings(v []string) int { return bstd.SizeSlice(v, bstd.SizeString) }

func bencMarshalStrings(n int, b []byte, v []string) int {
	return bstd.MarshalSlice(n, b, v, bstd.MarshalString)
}

func bencUnmarshalStrings(n int, b []byte) (int, []string, error) {
	return bstd.UnmarshalSlice[string](n, b, bstd.UnmarshalString)
}

func bencSizeTexts(v map[string]string) int { return bstd.SizeMap(v, bstd.SizeString, bstd.SizeString) }

func bencMarshalTexts(n int, b []byte, v map[string]string) int {
	return bstd.MarshalMap(n, b, v, bstd.MarshalString, bstd.MarshalString)
}

func bencUnmarshalTexts(n int, b []byte) (int, map[string]string, error) {
	return bstd.UnmarshalMap[string, string](n, b, bstd.UnmarshalString, bstd.UnmarshalString)
}

func bencSizeComplexes(v map[string]shape.Complex) int {
	return bstd.SizeMap(v, bstd.SizeString, bencSizeComplex)
}

func bencMarshalComplexes(n int, b []byte, v map[string]shape.Complex) int {
	return bstd.MarshalMap(n, b, v, bstd.MarshalString, bencMarshalComplex)
}

func bencUnmarshalComplexes(n int, b []byte) (int, map[string]shape.Complex, error) {
	return bstd.UnmarshalMap[string, shape.Complex](n, b, bstd.UnmarshalString, bencUnmarshalComplex)
}

func bencSizeItems(v shape.Items) int { return bstd.SizeMap(v, bstd.SizeString, bencSizeItem) }

func bencMarshalItems(n int, b []byte, v shape.Items) int {
	return bstd.MarshalMap(n, b, v, bstd.MarshalString, bencMarshalItem)
}

func bencUnmarshalItems(n int, b []byte) (int, shape.Items, error) {
	return bstd.UnmarshalMap[string, shape.Item](n, b, bstd.UnmarshalString, bencUnmarshalItem)
}

func bencSizeGroups(v shape.Groups) int { return bstd.SizeMap(v, bstd.SizeString, bencSizeItems) }

func bencMarshalGroups(n int, b []byte, v shape.Groups) int {
	return bstd.MarshalMap(n, b, v, bstd.MarshalString, bencMarshalItems)
}

func bencUnmarshalGroups(n int, b []byte) (int, shape.Groups, error) {
	return bstd.UnmarshalMap[string, shape.Items](n, b, bstd.UnmarshalString, bencUnmarshalItems)
}

func bencSizePID(v shape.PID) int {
	return bstd.SizeString(v.Node) + bstd.SizeUint64() + bstd.SizeUint64()
}

func bencMarshalPID(n int, b []byte, v shape.PID) int {
	n = bstd.MarshalString(n, b, v.Node)
	n = bstd.MarshalUint64(n, b, v.ID)
	return bstd.MarshalUint64(n, b, v.Creation)
}

func bencUnmarshalPID(n int, b []byte) (int, shape.PID, error) {
	var v shape.PID
	var err error
	if n, v.Node, err = bstd.UnmarshalString(n, b); err != nil {
		return 0, v, err
	}
	if n, v.ID, err = bstd.UnmarshalUint64(n, b); err != nil {
		return 0, v, err
	}
	n, v.Creation, err = bstd.UnmarshalUint64(n, b)
	return n, v, err
}

func bencSizeProcessID(v shape.ProcessID) int {
	return bstd.SizeString(v.Name) + bstd.SizeString(v.Node)
}

func bencMarshalProcessID(n int, b []byte, v shape.ProcessID) int {
	n = bstd.MarshalString(n, b, v.Name)
	return bstd.MarshalString(n, b, v.Node)
}

func bencUnmarshalProcessID(n int, b []byte) (int, shape.ProcessID, error) {
	var v shape.ProcessID
	var err error
	if n, v.Name, err = bstd.UnmarshalString(n, b); err != nil {
		return 0, v, err
	}
	n, v.Node, err = bstd.UnmarshalString(n, b)
	return n, v, err
}

func bencSizeSimple(v shape.Simple) int {
	return bstd.SizeFloat32() + bstd.SizeFloat64() + bstd.SizeString(v.C)
}

func bencMarshalSimple(n int, b []byte, v shape.Simple) int {
	n = bstd.MarshalFloat32(n, b, v.A)
	n = bstd.MarshalFloat64(n, b, v.B)
	return bstd.MarshalString(n, b, v.C)
}

func bencUnmarshalSimple(n int, b []byte) (int, shape.Simple, error) {
	var v shape.Simple
	var err error
	if n, v.A, err = bstd.UnmarshalFloat32(n, b); err != nil {
		return 0, v, err
	}
	if n, v.B, err = bstd.UnmarshalFloat64(n, b); err != nil {
		return 0, v, err
	}
	n, v.C, err = bstd.UnmarshalString(n, b)
	return n, v, err
}

func bencSizeComplex(v shape.Complex) int {
	return bstd.SizeString(v.Name) + bstd.SizeInt32() + bencSizeStrings(v.Tags) + bencSizeTexts(v.Metadata) + bencSizePID(v.PID) + bencSizeProcessID(v.ProcessID)
}

func bencMarshalComplex(n int, b []byte, v shape.Complex) int {
	n = bstd.MarshalString(n, b, v.Name)
	n = bstd.MarshalInt32(n, b, v.ID)
	n = bencMarshalStrings(n, b, v.Tags)
	n = bencMarshalTexts(n, b, v.Metadata)
	n = bencMarshalPID(n, b, v.PID)
	return bencMarshalProcessID(n, b, v.ProcessID)
}

func bencUnmarshalComplex(n int, b []byte) (int, shape.Complex, error) {
	var v shape.Complex
	var err error
	if n, v.Name, err = bstd.UnmarshalString(n, b); err != nil {
		return 0, v, err
	}
	if n, v.ID, err = bstd.UnmarshalInt32(n, b); err != nil {
		return 0, v, err
	}
	if n, v.Tags, err = bencUnmarshalStrings(n, b); err != nil {
		return 0, v, err
	}
	if n, v.Metadata, err = bencUnmarshalTexts(n, b); err != nil {
		return 0, v, err
	}
	if n, v.PID, err = bencUnmarshalPID(n, b); err != nil {
		return 0, v, err
	}
	n, v.ProcessID, err = bencUnmarshalProcessID(n, b)
	return n, v, err
}

func bencSizeNested(v shape.Nested) int {
	return bstd.SizeString(v.Name) + bstd.SizeInt32() + bencSizeComplex(v.Complex) + bencSizeComplexes(v.ComplexMap) + bencSizeTexts(v.NestedMap)
}

func bencMarshalNested(n int, b []byte, v shape.Nested) int {
	n = bstd.MarshalString(n, b, v.Name)
	n = bstd.MarshalInt32(n, b, v.ID)
	n = bencMarshalComplex(n, b, v.Complex)
	n = bencMarshalComplexes(n, b, v.ComplexMap)
	return bencMarshalTexts(n, b, v.NestedMap)
}

func bencUnmarshalNested(n int, b []byte) (int, shape.Nested, error) {
	var v shape.Nested
	var err error
	if n, v.Name, err = bstd.UnmarshalString(n, b); err != nil {
		return 0, v, err
	}
	if n, v.ID, err = bstd.UnmarshalInt32(n, b); err != nil {
		return 0, v, err
	}
	if n, v.Complex, err = bencUnmarshalComplex(n, b); err != nil {
		return 0, v, err
	}
	if n, v.ComplexMap, err = bencUnmarshalComplexes(n, b); err != nil {
		return 0, v, err
	}
	n, v.NestedMap, err = bencUnmarshalTexts(n, b)
	return n, v, err
}

func bencSizeItem(v shape.Item) int {
	return bstd.SizeString(v.Name) + bstd.SizeInt32()
}

func bencMarshalItem(n int, b []byte, v shape.Item) int {
	n = bstd.MarshalString(n, b, v.Name)
	return bstd.MarshalInt32(n, b, v.ID)
}

func bencUnmarshalItem(n int, b []byte) (int, shape.Item, error) {
	var v shape.Item
	var err error
	if n, v.Name, err = bstd.UnmarshalString(n, b); err != nil {
		return 0, v, err
	}
	n, v.ID, err = bstd.UnmarshalInt32(n, b)
	return n, v, err
}
